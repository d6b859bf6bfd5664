/** Image-dataset manifests: reading, and selection of samples. Rules: dataset_manifest_rules.ts. */
import { posix } from "node:path";
import { type Diagnostic, isWarning, messageOf, SvcError } from "../contract/error.ts";
import { parseJson } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { Value } from "../contract/value.ts";
import { checkImageManifest, type ImageManifest, type ImageSample, summary } from "./dataset_manifest_rules.ts";

export { checkManifestFiles, makeImageManifest, type MakeManifestOptions } from "./dataset_manifest_files.ts";
export type { ImageManifest } from "./dataset_manifest_rules.ts";

/**
 * Reads a manifest.
 * @param contents JSON text or its UTF-8 bytes
 * @returns the manifest, valid by all rules
 * @throws SvcError `dataset_manifest_invalid` with all problems
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseImageManifest } from "./dataset_manifest.ts";
 *
 * const file = new URL("../../recipes/samples/manifest.json", import.meta.url);
 * const { samples } = parseImageManifest(await Deno.readFile(file));
 * assert.ok(samples.some(({ path }) => path === "camera.png"));
 * ```
 */
export function parseImageManifest(contents: Uint8Array | string): ImageManifest {
  const invalid = (why: string, diagnostics: Diagnostic[] = []) =>
    new SvcError("dataset_manifest_invalid", `Cannot use the image-dataset manifest: ${why}`, {
      diagnostics,
      hint: diagnostics[0]?.hint,
    });
  let document: Value;
  let text: string;
  try {
    text = typeof contents === "string" ? contents : new TextDecoder("utf-8", { fatal: true }).decode(contents.slice());
    document = parseJson(text);
  } catch (error) {
    throw invalid(messageOf(error));
  }
  const repeated = repeatedKey(text);
  if (repeated !== null) throw invalid(`the key ${repeated} is repeated in one object`);
  const problems = checkImageManifest(document).filter((one) => !isWarning(one));
  if (problems.length > 0) throw invalid(summary(problems), problems);
  return document as ImageManifest;
}

/**
 * The path of a sample's file as recipes write it, from the path of its manifest.
 * @param manifestPath path of the manifest file, `/` between parts
 */
export function samplePath(manifestPath: string, manifest: ImageManifest, sample: ImageSample): string {
  if (posix.isAbsolute(manifest.root)) return posix.join(manifest.root, sample.path);
  return posix.join(posix.dirname(manifestPath), manifest.root, sample.path);
}

/**
 * The samples of a selection, in its order.
 * @param selection sample ids, or else the name of a split; all samples without both
 * @throws SvcError `dataset_sample_unknown`, `dataset_split_unknown`
 */
export function selectSamples(
  manifest: ImageManifest,
  selection: { ids?: readonly string[]; split?: string },
): ImageSample[] {
  const byId = new Map(manifest.samples.map((sample) => [sample.sample_id, sample]));
  let ids = selection.ids ?? [];
  if (ids.length === 0) {
    const split = selection.split ?? "";
    if (split === "") return [...manifest.samples];
    if (!Object.hasOwn(manifest.splits, split)) {
      throw new SvcError("dataset_split_unknown", `Cannot find the split ${JSON.stringify(split)} of ${manifest.id}`, {
        hint: `Its splits are ${Object.keys(manifest.splits).join(", ")}`,
      });
    }
    ids = manifest.splits[split];
  }
  return ids.map((id) => {
    const sample = byId.get(id);
    if (sample !== undefined) return sample;
    throw new SvcError("dataset_sample_unknown", `Cannot find the sample ${id} of ${manifest.id}`, {
      hint: didYouMean(id, [...byId.keys()]),
    });
  });
}

/** The first repeated key in one object of a JSON text; the JSON reader keeps the last one. Exported for tests. */
export function repeatedKey(text: string): string | null {
  const objects: (Set<string> | null)[] = [];
  for (const [token, string, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (token === "{") objects.push(new Set());
    else if (token === "[") objects.push(null);
    else if (token === "}" || token === "]") objects.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(string) as string, keys = objects.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return null;
}
