/**
 * Image-dataset manifests: the files of a dataset, their origins and splits.
 *
 * Rules beyond the schema: a sample id is unique; a split names existing samples; a sample is in at most one split.
 * Samples that share a group, a source or an ancestor are in the same split, so that no training image recurs in a
 * test. Samples without a split are allowed and unused. `path` stays inside `root`, which is relative to the manifest.
 * Digests: `sha256` of the file, `source_sha256` of the untransformed original, `post_transform_sha256` of the decoded
 * 8-bit samples in C order, `transform_fingerprint_sha256` of the canonical JSON of `transform`.
 */
import { type Code, type Diagnostic, diagnostic } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { Suggestions } from "../contract/nearest.ts";
import { digest, documentCheck, mapping, publishedSchema } from "../contract/document.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";

const text = z.string().min(1);

const sample = z.strictObject({
  sample_id: text,
  path: text,
  sha256: digest,
  source_id: text,
  group_id: text,
  source_sha256: digest,
  ancestry_ids: z.array(text).min(1).meta({ uniqueItems: true }),
  transform: z.object({ name: text }) as unknown as z.ZodType<JsonObject>,
  transform_fingerprint_sha256: digest,
  post_transform_sha256: digest.optional(),
});
export type ImageSample = z.infer<typeof sample>;

/** Sample ids by the name of their split. */
export const splits = z.record(z.string(), z.array(text).min(1).meta({ uniqueItems: true }));
/** Of a manifest. */
export const version = z.union([z.string(), z.int()]) as unknown as z.ZodType<string | number | bigint>;
const manifest = z.strictObject({
  schema_version: z.literal(1),
  kind: z.literal("svc.image_dataset_manifest"),
  id: text,
  version,
  root: text,
  source_page: z.string().optional(),
  license: mapping.optional(),
  publication_ready: z.boolean().optional(),
  publication_blocker: z.string().optional(),
  splits: splits.meta({ minProperties: 1 }),
  samples: z.array(sample).min(1),
});
export type ImageManifest = z.infer<typeof manifest>;
const checkForm = documentCheck(manifest, "manifest_schema_invalid");

/** What `svc schema image-manifest` prints. */
export const imageManifestSchema = (): JsonObject => publishedSchema("svc image-dataset manifest", manifest);

/**
 * Checks a manifest against its schema and rules without reading files.
 * @returns all problems: `manifest_schema_invalid`; for a valid schema, `manifest_sample_duplicate`,
 *   `manifest_split_sample_unknown`, `manifest_split_overlap`, `manifest_split_leak`, `manifest_path_unsafe`,
 *   `fingerprint_foreign` (a warning)
 */
export function checkImageManifest(document: Value): Diagnostic[] {
  const problems = checkForm(document);
  return problems.length > 0 ? problems : checkRules(document as unknown as ImageManifest);
}

function checkRules(manifest: ImageManifest): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const report = (code: Code, place: (string | number)[], message: string, hint: string | null = null) =>
    problems.push(diagnostic(code, place, message, { hint }));

  const samples = new Map<string, ImageSample>();
  manifest.samples.forEach((sample, index) => {
    const place = ["samples", index];
    const { sample_id: id, path, transform } = sample;
    if (samples.has(id)) report("manifest_sample_duplicate", [...place, "sample_id"], `Cannot name two samples ${id}`);
    samples.set(id, sample);
    if (!isPlainPath(path)) {
      report("manifest_path_unsafe", [...place, "path"], `Cannot use the path ${path}: it must stay inside the root`);
    }
    if (sha256Json(transform) !== sample.transform_fingerprint_sha256) {
      // Other programs have fingerprints of their own: the specification does not say how one is made.
      problems.push(diagnostic(
        "fingerprint_foreign",
        [...place, "transform_fingerprint_sha256"],
        `The fingerprint of sample ${id} is not the digest of its transform`,
        { severity: "warning", hint: `The SHA-256 of its canonical JSON is ${sha256Json(transform)}` },
      ));
    }
  });

  const splitOf = new Map<string, string>(), suggestions = new Suggestions();
  // Kind and id of an origin, with its first split and sample.
  const origins = new Map<string, { split: string; sample: string }>();
  for (const [split, ids] of Object.entries(manifest.splits)) {
    ids.forEach((id, index) => {
      const place = ["splits", split, index];
      const sample = samples.get(id);
      if (sample === undefined) {
        const hint = suggestions.for(id, [...samples.keys()]);
        return report("manifest_split_sample_unknown", place, `Cannot find the sample ${id}`, hint);
      }
      const earlier = splitOf.get(id);
      if (earlier !== undefined) {
        return report("manifest_split_overlap", place, `Cannot put the sample ${id} in ${split}: it is in ${earlier}`);
      }
      splitOf.set(id, split);
      for (const origin of originsOf(sample)) {
        const first = origins.get(origin);
        if (first === undefined) origins.set(origin, { split, sample: id });
        else if (first.split !== split) {
          const shared = origin.replace(":", " ");
          report(
            "manifest_split_leak",
            place,
            `Cannot put the sample ${id} in ${split}: it shares the ${shared} with ${first.sample} in ${first.split}`,
            "Put both in the same split",
          );
          break;
        }
      }
    });
  }
  return problems;
}

function originsOf(sample: ImageSample): string[] {
  return [
    `group:${sample.group_id}`,
    `source:${sample.source_id}`,
    ...sample.ancestry_ids.map((ancestor) => `ancestor:${ancestor}`),
  ];
}

/** Relative, with `/` between parts, without empty, `.` and `..` parts, schemes and control characters. */
export function isPlainPath(path: string): boolean {
  // deno-lint-ignore no-control-regex -- the pattern refuses control characters
  if (/[\\\u0000-\u001f]/.test(path) || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path)) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/** The first problem, and the number of further ones. */
export function summary(problems: readonly Diagnostic[]): string {
  const [{ path, message }] = problems, more = problems.length - 1;
  return `${path}: ${message}${more > 0 ? ` (and ${more} more)` : ""}`;
}
