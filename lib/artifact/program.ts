/** Location of the program's own files: recipes, packs, models and sample images that ship with it. */
import { filePath } from "../contract/node_builtins.ts";

/** URL of the program's folder, with a trailing slash. */
export const PROGRAM_ROOT = new URL("../../", import.meta.url).href;

/** The name by which operations of one's own import the program: that of its configuration, which resolves it. */
export const PROGRAM_NAME = "@svc/svc";

let fetched: string | null = null;

/** Absolute path of the program's folder; for a program that was imported by URL that of its fetched files, else null. */
export function programFolder(): string | null {
  return PROGRAM_ROOT.startsWith("file:") ? filePath(PROGRAM_ROOT) : fetched;
}

/** Names the folder with the fetched files of a program that was imported by URL, in this thread. */
export function setProgramFolder(folder: string | null): void {
  fetched = folder;
}

/** How the program was installed. */
export type ProgramForm = "folder" | "npm" | "compiled" | "url";

let form: ProgramForm | undefined;

/** The form of this program. A packaged one has a file `packaged.json`, which names it. */
export function programForm(): ProgramForm {
  return form ??= PROGRAM_ROOT.startsWith("file:") ? packagedForm() ?? "folder" : "url";
}

function packagedForm(): ProgramForm | null {
  try {
    return JSON.parse(Deno.readTextFileSync(new URL("packaged.json", PROGRAM_ROOT))).form;
  } catch {
    return null;
  }
}

/** The flag that allows this program to start its own executable. */
export const RUN_FLAG = "--allow-run=deno";

/** The executable of this program in a spelling that it may run, its path or its name; null without the right. */
export function ownExecutable(): string | null {
  const names = Deno.build.standalone ? [Deno.execPath()] : [Deno.execPath(), "deno"];
  return names.find((command) => Deno.permissions.querySync({ name: "run", command }).state === "granted") ?? null;
}
