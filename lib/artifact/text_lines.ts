/**
 * Manifests of the lines of one file: its digest, and the ranges of lines in each split, in place of every text. For corpora of any
 * size, such as Europarl.
 *
 * Lines end with LF or CR LF, are counted from 1 and have the ids line_1, line_2, …; the last one may lack its end. A text is its line
 * without white space around it. Ranges are inclusive, ascend and leave out what is no text. Two files of translations have equal
 * ranges, so that an id or a draw names the same line of both.
 *
 * Memory of a reader: one block of the file, and the texts that it takes, at most 100,000 of 64 MiB together.
 */
import { digest, documentCheck, publishedSchema } from "../contract/document.ts";
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { sha256Stream } from "../contract/hash.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { isPlainPath, summary, version } from "./dataset_manifest_rules.ts";
import { joinBytes } from "./join_bytes.ts";
import {
  checkText,
  checkTextManifest,
  invalidTextManifest,
  MAX_TEXT_BYTES,
  textDocument,
  type TextManifest,
} from "./text_manifest.ts";

export const LINES_MANIFEST_KIND = "svc.text_lines_manifest";

/** Ranges of all splits, and the texts of one batch with their bytes. */
export const MAX_RANGES = 100_000;
const MAX_BATCH = 100_000, MAX_BATCH_BYTES = 2 ** 26;

const name = z.string().min(1);
const manifest = z.strictObject({
  schema_version: z.literal(1),
  kind: z.literal(LINES_MANIFEST_KIND),
  id: name,
  version,
  path: name,
  sha256: digest,
  size_bytes: z.int().min(1),
  line_count: z.int().min(1).max(2 ** 31 - 1),
  language: name.optional(),
  splits: z.record(z.string(), z.array(z.array(z.int().min(1)).min(2).max(2)).min(1)),
});
export type TextLinesManifest = z.infer<typeof manifest>;
const checkForm = documentCheck(manifest, "text_manifest_invalid");

/** What `svc schema text-lines-manifest` prints. */
export const textLinesSchema = (): JsonObject => publishedSchema("svc manifest of lines of a text file", manifest);

export const isLines = (manifest: TextManifest | TextLinesManifest): manifest is TextLinesManifest =>
  manifest.kind === LINES_MANIFEST_KIND;

/**
 * Reads a manifest of texts, or of lines.
 *
 * @param bytes UTF-8 JSON
 * @returns the manifest, valid by all rules
 * @throws SvcError `text_manifest_invalid` with all problems
 */
export function parseTexts(bytes: Uint8Array): TextManifest | TextLinesManifest {
  const document = textDocument(bytes);
  if (!isObject(document) || document.kind !== LINES_MANIFEST_KIND) return checkTextManifest(document);
  const problems = checkForm(document);
  if (problems.length === 0) problems.push(...checkRules(document as unknown as TextLinesManifest));
  if (problems.length > 0) throw invalidTextManifest(summary(problems), problems);
  return document as unknown as TextLinesManifest;
}

function checkRules({ path, splits, line_count }: TextLinesManifest): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const report = (place: (string | number)[], message: string) =>
    problems.push(diagnostic("text_manifest_invalid", place, message));
  if (!isPlainPath(path)) {
    report(["path"], `Cannot use the path ${path}: it must stay inside the folder of the manifest`);
  }
  let count = 0;
  for (const [split, ranges] of Object.entries(splits)) {
    let before = 0;
    count += ranges.length;
    for (const [index, [first, last]] of ranges.entries()) {
      if (first <= before || last < first || last > line_count) {
        report(["splits", split, index], `Cannot use the lines ${first} to ${last}: ranges ascend up to ${line_count}`);
      }
      before = last;
    }
  }
  if (count > MAX_RANGES) report(["splits"], `Cannot use ${count} ranges of lines: at most ${MAX_RANGES}`);
  return problems;
}

/** Lines by their place in a list of ranges. */
class Ranges {
  /** Number of lines before each range, and of all. */
  readonly #before: Float64Array;
  readonly count: number;

  constructor(readonly ranges: readonly (readonly number[])[]) {
    this.#before = new Float64Array(ranges.length);
    let count = 0;
    for (const [index, [first, last]] of ranges.entries()) {
      this.#before[index] = count;
      count += last - first + 1;
    }
    this.count = count;
  }

  /** The line at a place, from 0. */
  at(place: number): number {
    let low = 0, high = this.ranges.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#before[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return this.ranges[low][0] + place - this.#before[low];
  }

  has(line: number): boolean {
    let low = 0, high = this.ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[middle][1] < line) low = middle + 1;
      else high = middle;
    }
    return low < this.ranges.length && this.ranges[low][0] <= line;
  }
}

/** The lines of a split, or of all splits, each once. @throws SvcError `dataset_split_unknown` */
function rangesOf({ id, splits }: TextLinesManifest, split: string): Ranges {
  if (split !== "") {
    if (!Object.hasOwn(splits, split)) {
      throw new SvcError("dataset_split_unknown", `Cannot find the split ${JSON.stringify(split)} of ${id}`, {
        hint: `Its splits are ${Object.keys(splits).join(", ") || "none"}`,
      });
    }
    return new Ranges(splits[split]);
  }
  const merged: number[][] = [];
  for (const [first, last] of Object.values(splits).flat().sort(([a], [b]) => a - b)) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return new Ranges(merged);
}

/** Number of lines in ranges. */
export const linesIn = (ranges: readonly (readonly number[])[]): number => new Ranges(ranges).count;

/** Number of lines in any split. */
export const lineCount = (manifest: TextLinesManifest): number => rangesOf(manifest, "").count;

/** What to take of a manifest. */
export interface LineSelection {
  /** `line_<number>`, in the order of the texts; empty takes the split. */
  ids: readonly string[];
  /** Empty takes all splits. */
  split: string;
  /** Ascending places among n lines; null takes all. */
  draw: ((n: number) => Iterable<number>) | null;
}

/**
 * The numbers of the chosen lines: of ids in their order, else ascending.
 * @throws SvcError `dataset_sample_unknown`, `dataset_split_unknown`, `text_manifest_invalid` for more than a batch holds
 */
export function chosenLines(manifest: TextLinesManifest, { ids, split, draw }: LineSelection): number[] {
  const ranges = rangesOf(manifest, split);
  const tooMany = (count: number) =>
    invalidTextManifest(`${count} texts are chosen, and a batch has at most ${MAX_BATCH}; set draw_count`);
  if (ids.length > 0) {
    if (ids.length > MAX_BATCH) throw tooMany(ids.length);
    const lines = ids.map((id) => {
      const number = Number(/^line_([1-9]\d*)$/.exec(id)?.[1] ?? NaN);
      if (ranges.has(number)) return number;
      throw new SvcError("dataset_sample_unknown", `Cannot find the sample ${id} of ${manifest.id}`, {
        hint: `Its samples are line_<number> of lines with text, up to line_${manifest.line_count}`,
      });
    });
    return draw === null ? lines : Array.from(draw(lines.length), (at) => lines[at]);
  }
  const places = draw === null ? null : [...draw(ranges.count)];
  const count = places?.length ?? ranges.count;
  if (count > MAX_BATCH) throw tooMany(count);
  return Array.from(places ?? Array(count).keys(), (place) => ranges.at(place));
}

/**
 * Reads lines of the file, which passes by once.
 *
 * @param lines numbers of lines, in any order
 * @param blocks the file from its start
 * @returns the text of each line
 * @throws SvcError `boundary_hash_mismatch` for another file, `text_manifest_invalid` for a line that is no text
 */
export async function readLines(
  { path, sha256, size_bytes, line_count }: TextLinesManifest,
  lines: readonly number[],
  blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Map<number, string>> {
  const hash = sha256Stream(), wanted = [...new Set(lines)].sort((a, b) => a - b);
  const texts = new Map<number, string>();
  const changed = (why: string) =>
    new SvcError("boundary_hash_mismatch", `Cannot use the texts of ${path}: ${why}`, {
      hint: "The manifest names another file; write it again with svc data make-manifest",
    });
  let size = 0, number = 1, next = 0, taken = 0, parts: Uint8Array[] = [], length = 0;
  // The first fault of a line; a file that is another one is reported in its place.
  let fault: SvcError | null = null;
  const keep = (part: Uint8Array) => {
    // One byte more than a text has, for its refusal.
    const room = part.subarray(0, Math.max(0, MAX_TEXT_BYTES + 1 - length));
    length += room.length;
    parts.push(room.slice());
  };
  const finish = () => {
    try {
      const text = lineText(joinBytes(parts), `${path}:${number}`);
      taken += length;
      if (taken > MAX_BATCH_BYTES) {
        throw invalidTextManifest(`the chosen texts have more than ${MAX_BATCH_BYTES} bytes`);
      }
      texts.set(number, text);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      fault ??= error;
      next = wanted.length;
    }
    parts = [];
    length = 0;
    next++;
  };
  for await (const block of blocks) {
    hash.update(block);
    size += block.length;
    if (size > size_bytes) throw changed(`the file has more than its recorded ${size_bytes} bytes`);
    for (let at = 0; next < wanted.length && at < block.length;) {
      const end = block.indexOf(10, at), stop = end < 0 ? block.length : end;
      if (wanted[next] === number) {
        keep(block.subarray(at, stop));
        if (end >= 0) finish();
      }
      if (end >= 0) number++;
      at = stop + 1;
    }
  }
  if (next < wanted.length && wanted[next] === number && length > 0) finish();
  const found = hash.digest();
  if (found !== sha256) throw changed(`its SHA-256 is ${found}, not the recorded one`);
  if (fault !== null) throw fault;
  if (texts.size < wanted.length) {
    throw invalidTextManifest(`${path} has fewer lines than the ${line_count} that the manifest names`);
  }
  return texts;
}

/** @throws SvcError `text_manifest_invalid` for a long line, invalid UTF-8, or a line without text */
function lineText(bytes: Uint8Array, place: string): string {
  const text = checkText(bytes, place).trim();
  if (text === "") throw invalidTextManifest(`${place} has no text`);
  return text;
}
