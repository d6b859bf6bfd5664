/**
 * Text-dataset manifests: the texts of a dataset with their digests, and named splits.
 *
 * A sample holds its `text`, or the `path` of a UTF-8 file inside the folder of the manifest. `sha256` is the digest of the
 * UTF-8 bytes. A text has at most 1 MiB. Samples may be in several splits or in none.
 */
import { posix } from "node:path";
import { type Diagnostic, diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { parseJson } from "../contract/json.ts";
import { didYouMean, Suggestions } from "../contract/nearest.ts";
import { digest, documentCheck, publishedSchema } from "../contract/document.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { isPlainPath, splits, summary, version } from "./dataset_manifest_rules.ts";
import { z } from "../contract/zod.ts";

export const TEXT_MANIFEST_KIND = "svc.text_dataset_manifest";

/** Largest text in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 1 << 20;

const name = z.string().min(1);
const sample = z.strictObject({
  sample_id: z.string().regex(/^[^\s,#]+$/),
  text: z.string().optional(),
  path: name.optional(),
  sha256: digest,
  language: name.optional(),
});
/** A sample with either `text` or `path`. */
export type TextSample = z.infer<typeof sample>;

const manifest = z.strictObject({
  schema_version: z.literal(1),
  kind: z.literal(TEXT_MANIFEST_KIND),
  id: name,
  version,
  splits,
  samples: z.array(sample).min(1),
});
export type TextManifest = z.infer<typeof manifest>;
const checkForm = documentCheck(manifest, "text_manifest_invalid");

/** What `svc schema text-manifest` prints. */
export const textManifestSchema = (): JsonObject => publishedSchema("svc text-dataset manifest", manifest);

/** The language of a file of translations, its suffix: `en` of `europarl-v7.de-en.en`. */
export function languageOf(file: string): string | undefined {
  const suffix = /\.([a-z]{2,3})$/.exec(file)?.[1];
  return suffix === "txt" ? undefined : suffix;
}

/** The error of a manifest that cannot be used. */
export function invalidTextManifest(why: string, diagnostics: Diagnostic[] = []): SvcError {
  return new SvcError("text_manifest_invalid", `Cannot use the text-dataset manifest: ${why}`, {
    diagnostics,
    hint: diagnostics[0]?.hint,
  });
}

/**
 * Reads a manifest of texts alone. Exported for tests.
 *
 * @param bytes UTF-8 JSON
 * @returns the manifest, valid by all rules; texts in it have their digests
 * @throws SvcError `text_manifest_invalid` with all problems
 */
export const parseTextManifest = (bytes: Uint8Array): TextManifest => checkTextManifest(textDocument(bytes));

/** The JSON of a manifest of texts. @throws SvcError `text_manifest_invalid` */
export function textDocument(bytes: Uint8Array): Value {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes.slice()));
  } catch (error) {
    throw invalidTextManifest(messageOf(error));
  }
}

/** As {@link parseTextManifest}, of its JSON. */
export function checkTextManifest(document: Value): TextManifest {
  const problems = checkForm(document);
  if (problems.length === 0) problems.push(...checkRules(document as unknown as TextManifest));
  if (problems.length > 0) throw invalidTextManifest(summary(problems), problems);
  return document as unknown as TextManifest;
}

function checkRules({ samples, splits }: TextManifest): Diagnostic[] {
  const problems: Diagnostic[] = [], ids = new Set<string>(), suggestions = new Suggestions();
  const report = (place: (string | number)[], message: string, hint: string | null = null) =>
    problems.push(diagnostic("text_manifest_invalid", place, message, { hint }));
  for (const [index, { sample_id, text, path, sha256 }] of samples.entries()) {
    const place = ["samples", index];
    if (ids.has(sample_id)) report([...place, "sample_id"], `Cannot name two samples ${sample_id}`);
    ids.add(sample_id);
    if ((text === undefined) === (path === undefined)) report(place, `Cannot read ${sample_id}: give text or path`);
    else if (path !== undefined && !isPlainPath(path)) {
      report([...place, "path"], `Cannot use the path ${path}: it must stay inside the folder of the manifest`);
    } else if (text !== undefined) {
      try {
        checkText(new TextEncoder().encode(text), sample_id, sha256);
      } catch (error) {
        report([...place, "text"], messageOf(error), (error as SvcError).hint);
      }
    }
  }
  for (const [split, members] of Object.entries(splits)) {
    for (const [index, id] of members.entries()) {
      if (!ids.has(id)) {
        report(["splits", split, index], `Cannot find the sample ${id}`, suggestions.for(id, [...ids]));
      }
    }
  }
  return problems;
}

/**
 * Checks the bytes of a text.
 *
 * @returns the text, without a byte order mark
 * @throws SvcError `text_manifest_invalid` beyond 1 MiB or for invalid UTF-8, `boundary_hash_mismatch`
 */
export function checkText(bytes: Uint8Array, id: string, sha256?: string): string {
  if (bytes.length > MAX_TEXT_BYTES) {
    throw new SvcError("text_manifest_invalid", `Cannot use the text ${id}: it has ${bytes.length} bytes`, {
      hint: `A text has at most ${MAX_TEXT_BYTES} bytes; --lines makes one of each line`,
    });
  }
  const found = sha256Hex(bytes);
  if (sha256 !== undefined && found !== sha256) {
    throw new SvcError("boundary_hash_mismatch", `Cannot use the text ${id}: its SHA-256 is not the recorded one`, {
      hint: `Recorded ${sha256}, found ${found}`,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.slice());
  } catch {
    throw new SvcError("text_manifest_invalid", `Cannot use the text ${id}: it is no valid UTF-8`, {
      hint: "Convert the file, for example: iconv -f latin1 -t utf8",
    });
  }
}

/**
 * The samples of a selection, in its order: ids, else a split, else all.
 *
 * @throws SvcError `dataset_sample_unknown`, `dataset_split_unknown`
 */
export function selectTexts(
  { id, samples, splits }: TextManifest,
  { ids, split }: { ids: readonly string[]; split: string },
): TextSample[] {
  if (ids.length === 0 && split === "") return samples;
  if (ids.length === 0 && !Object.hasOwn(splits, split)) {
    throw new SvcError("dataset_split_unknown", `Cannot find the split ${JSON.stringify(split)} of ${id}`, {
      hint: `Its splits are ${Object.keys(splits).join(", ") || "none"}`,
    });
  }
  const byId = new Map(samples.map((sample) => [sample.sample_id, sample]));
  return (ids.length > 0 ? ids : splits[split]).map((wanted) => {
    const sample = byId.get(wanted);
    if (sample !== undefined) return sample;
    throw new SvcError("dataset_sample_unknown", `Cannot find the sample ${wanted} of ${id}`, {
      hint: didYouMean(wanted, [...byId.keys()]),
    });
  });
}

/** The text of a sample. @param read reads a file by its path relative to the folder of the manifest */
export async function textOfSample(
  { sample_id, sha256, text, path }: TextSample,
  manifestPath: string,
  read: (path: string) => Promise<Uint8Array>,
): Promise<string> {
  if (text !== undefined) return text;
  return checkText(await read(besideManifest(manifestPath, path!)), sample_id, sha256);
}

/** A path of a manifest, as one of the project. */
export const besideManifest = (manifestPath: string, path: string): string =>
  posix.join(posix.dirname(manifestPath), path);
