/** A new project: recipes to change, a pack that compares two methods, the schemas that editors check them with. */
import { basename, dirname, join, resolve } from "node:path";
import { exists } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";

type Text = Promise<{ default: string }>;

/** Path in the project to its text. */
const FILES: Record<string, () => Text> = {
  "README.md": () => import("./project/README.md", { with: { type: "text" } }),
  "recipes/quickstart.yaml": () => import("../../recipes/quickstart.yaml", { with: { type: "text" } }),
  "recipes/first_link.yaml": () => import("./project/recipes/first_link.yaml", { with: { type: "text" } }),
  // The starters come in one file: a program imported by URL fetches every literal import.
  "recipes/image_codec.yaml": async () => ({
    default: (await import("./source.ts")).PACKAGED_STARTERS["recipe_starters/image_codec_default.yaml"],
  }),
  "benchmarks/first_comparison.yaml": () =>
    import("./project/benchmarks/first_comparison.yaml", { with: { type: "text" } }),
};

const GITIGNORE = "# Runs, results and downloads of svc\n.svc/\n";

/** The written files. */
export interface NewProject {
  /** Absolute. */
  folder: string;
  /** Paths relative to the folder, sorted. */
  files: string[];
}

/**
 * Writes a project to start from.
 * @param folder new, or without recipes of these names; a README stays, and a `.gitignore` gets one line more
 * @param schemas further files by path
 * @throws SvcError `usage_invalid` where one of the other files is there, before anything is written
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { initProject } from "./init.ts";
 *
 * const root = await Deno.makeTempDir();
 * const { files } = await initProject(`${root}/study`, {});
 * assert.ok(files.includes("recipes/quickstart.yaml") && files.includes("benchmarks/first_comparison.yaml"));
 * await Deno.remove(root, { recursive: true });
 * ```
 */
export async function initProject(folder: string, schemas: Readonly<Record<string, string>>): Promise<NewProject> {
  const root = resolve(folder);
  const present = (path: string) => exists(join(root, path));
  const texts = new Map(Object.entries(schemas));
  for (const [path, text] of Object.entries(FILES)) {
    texts.set(path, (await text()).default.replaceAll("$schema=../recipe.schema.json", "$schema=recipe.schema.json"));
  }
  if (present("README.md")) texts.delete("README.md");
  const taken = [...texts.keys()].filter(present).sort();
  if (taken.length > 0) {
    throw new SvcError("usage_invalid", `Cannot make a project in ${folder}: it has ${taken.join(", ")}`, {
      hint: `Name another folder, such as svc init ${basename(root)}_2, or remove these files`,
    });
  }
  for (const [path, text] of texts) {
    await Deno.mkdir(dirname(join(root, path)), { recursive: true });
    await Deno.writeTextFile(join(root, path), text, { createNew: true });
  }
  const ignored = present(".gitignore") ? await Deno.readTextFile(join(root, ".gitignore")) : "";
  if (!/^\.svc\/?$/m.test(ignored)) {
    const ended = ignored === "" || ignored.endsWith("\n") ? ignored : `${ignored}\n`;
    await Deno.writeTextFile(join(root, ".gitignore"), `${ended}${GITIGNORE}`);
    texts.set(".gitignore", GITIGNORE);
  }
  return { folder: root, files: [...texts.keys()].sort() };
}
