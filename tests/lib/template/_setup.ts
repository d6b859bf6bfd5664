/** Shared by the tests of templates: the registry, projects with recipes of their own, and rows by id. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import type { Readiness } from "../../../lib/plan/types.ts";
import { packagedCatalog } from "../../../lib/template/catalog.ts";
import type { InspectionOptions } from "../../../lib/template/inspect.ts";
import { PACKAGED_STARTERS } from "../../../lib/template/source.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { temporaryFolder } from "../../support/temporary.ts";

export const registry = await createRegistry();

export const CODEC = "semantic_comm.image_reconstruction.default";
export const PROTECTED = "semantic_comm.image_reconstruction.protected_digital";
export const TEXTS = "semantic_comm.text_semantic_similarity.default";
export const PLANNED = "semantic_comm.text_semantic_similarity.bart_joint_symbols";
/** The catalogue with one template that is only planned. */
export const WITH_PLANNED = {
  ...packagedCatalog(),
  templates: packagedCatalog().templates.map((entry) =>
    entry.id === PLANNED ? { ...entry, status: "planned" as const } : entry
  ),
};
export const ABSENT = "semantic_comm.image_generation.diffusion_radio";

export const CODEC_PATH = "recipes/image_codec_default.yaml";
export const CODEC_TEXT = PACKAGED_STARTERS["recipe_starters/image_codec_default.yaml"];

export const HAS_ALL: Readiness = { missing: () => null };

/** A project with some files, empty otherwise; it is checked that nothing else came into being. */
export async function inProject(
  files: Record<string, string | Uint8Array>,
  body: (options: InspectionOptions, folder: string) => Promise<void>,
): Promise<void> {
  const folder = temporaryFolder("svc-template-");
  for (const [path, contents] of Object.entries(files)) {
    await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
    if (typeof contents === "string") await Deno.writeTextFile(join(folder, path), contents);
    else await Deno.writeFile(join(folder, path), contents);
  }
  const before = namesUnder(folder);
  await body({ registry, projectRoot: folder, readiness: HAS_ALL }, folder);
  assert.deepEqual(namesUnder(folder), before, "nothing was created");
}

function namesUnder(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => [
    name,
    ...(isDirectory ? namesUnder(join(folder, name)).map((inner) => `${name}/${inner}`) : []),
  ]).sort();
}

/** Replaces a part of a text that must be there. */
export function edited(text: string, ...changes: [string | RegExp, string][]): string {
  return changes.reduce((now, [from, to]) => {
    const next = now.replace(from, to);
    assert.notEqual(next, now, `nothing matches ${from}`);
    return next;
  }, text);
}

/** The error that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<SvcError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof SvcError, String(error));
    return error;
  }
  assert.fail("nothing was refused");
}
