import { atProcessEnd } from "./process_end.ts";

const made: string[] = [];
atProcessEnd(() => made.forEach((folder) => Deno.removeSync(folder, { recursive: true })));

/** Makes an empty folder, which is removed after all tests of this process. */
export function temporaryFolder(prefix = "svc-"): string {
  const folder = Deno.makeTempDirSync({ prefix });
  made.push(folder);
  return folder;
}
