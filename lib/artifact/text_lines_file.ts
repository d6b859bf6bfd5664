/** Makes a manifest of the lines of a text file of any size, read in blocks. */
import { basename, join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { sha256Stream } from "../contract/hash.ts";
import { type ByteSource, fileSource } from "./byte_source.ts";
import { isPlainPath } from "./dataset_manifest_rules.ts";
import { exists } from "./path_kind.ts";
import { joinBytes } from "./join_bytes.ts";
import { LINES_MANIFEST_KIND, MAX_RANGES, type TextLinesManifest } from "./text_lines.ts";
import { invalidTextManifest, languageOf, MAX_TEXT_BYTES } from "./text_manifest.ts";

export interface MakeLinesOptions {
  /** Default the name of the file. */
  id?: string;
  /** Default "1". */
  version?: string | number;
  /** Name of the split of all lines, without `splits`; default "test". */
  split?: string;
  /** Lines of each split, such as `train:1-1900000,test:1900001-`. */
  splits?: string;
  /** File of translations: a line that is empty on either side is no text. */
  parallel?: string;
}

const BLOCK_BYTES = 2 ** 20, MAX_FILE_BYTES = 2 ** 40;

/**
 * Describes the lines of a file that have text, and with `parallel` text in both files.
 *
 * @throws SvcError `text_manifest_invalid` for invalid UTF-8, a line above 1 MiB, more than 100,000 ranges, or files of different
 *   numbers of lines; `file_not_found`, `path_refused`
 */
export function makeLinesManifest(path: string, options: MakeLinesOptions = {}): TextLinesManifest {
  const { id = basename(path).replace(/\.txt$/i, ""), version = "1", split = "test", parallel } = options;
  const file = basename(path), language = languageOf(path), hash = sha256Stream();
  if (!isPlainPath(file)) throw invalidTextManifest(`the name of ${path} is unsafe`);
  using opened = new DisposableStack();
  const source = opened.use(sourceOf(path));
  const others = parallel === undefined ? null : texts(opened.use(sourceOf(parallel)), parallel);
  const wanted = options.splits === undefined ? [{ name: split, first: 1, last: Infinity }] : splitsOf(options.splits);
  const splits: Record<string, number[][]> = Object.create(null);
  let line = 0, otherLines = 0, ranges = 0;
  for (const hasText of texts(source, path, hash.update)) {
    line++;
    const other = others?.next();
    if (other?.done === true) break;
    otherLines++;
    if (!hasText || other?.value === false) continue;
    for (const { name, first, last } of wanted) {
      if (line < first || line > last) continue;
      const own = splits[name] ??= [], before = own.at(-1);
      if (before?.[1] === line - 1) before[1] = line;
      else {
        own.push([line, line]);
        if (++ranges > MAX_RANGES) {
          throw invalidTextManifest(`the texts of ${path} are more than ${MAX_RANGES} ranges of lines`);
        }
      }
    }
  }
  if (others !== null && (otherLines < line || others.next().done !== true)) {
    throw invalidTextManifest(
      `${path} and ${parallel} have different numbers of lines: they are no translations line by line`,
    );
  }
  if (ranges === 0) throw invalidTextManifest(`${path} holds no text`);
  for (const { name } of wanted) {
    if (splits[name] === undefined) {
      throw invalidTextManifest(`the lines of the split ${name} hold no text: ${path} has ${line} lines`);
    }
  }
  return {
    schema_version: 1,
    kind: LINES_MANIFEST_KIND,
    id,
    version,
    path: file,
    sha256: hash.digest(),
    size_bytes: source.size,
    line_count: line,
    ...language === undefined ? {} : { language },
    splits: { ...splits },
  };
}

/** Checks that a file has the recorded bytes, lines, and texts in its ranges. @throws SvcError as {@link makeLinesManifest}, `boundary_hash_mismatch` */
export function checkLinesFile(manifest: TextLinesManifest, folder: string): void {
  const path = join(folder, manifest.path), hash = sha256Stream();
  using source = sourceOf(path);
  const places = Object.entries(manifest.splits).map(([split, ranges]) => ({ split, ranges, at: 0 }));
  let line = 0, empty: string | null = null;
  for (const hasText of texts(source, path, hash.update)) {
    line++;
    for (const place of hasText ? [] : places) {
      while (place.at < place.ranges.length && place.ranges[place.at][1] < line) place.at++;
      if ((place.ranges[place.at]?.[0] ?? Infinity) <= line) {
        empty ??= `line ${line} of the split ${place.split} has no text`;
      }
    }
  }
  const found = hash.digest();
  if (found !== manifest.sha256) {
    throw new SvcError(
      "boundary_hash_mismatch",
      `Cannot use the texts of ${path}: its SHA-256 is not the recorded one`,
      {
        hint: `Recorded ${manifest.sha256}, found ${found}`,
      },
    );
  }
  if (line !== manifest.line_count) empty ??= `${path} has ${line} lines, not ${manifest.line_count}`;
  if (empty !== null) throw invalidTextManifest(empty);
}

function sourceOf(path: string): ByteSource & Disposable {
  if (!exists(path)) throw new SvcError("file_not_found", `Cannot find the file ${path}`, { hint: "Check the path" });
  return fileSource(path, MAX_FILE_BYTES);
}

/** The lines of each split, as `name:first-last,…`; without `last` up to the end. */
function splitsOf(given: string): { name: string; first: number; last: number }[] {
  const found = given.split(",").map((part) => {
    const [, name, first, last] = /^\s*([^\s:]+):([1-9]\d{0,9})-([1-9]\d{0,9})?\s*$/.exec(part) ?? [];
    const bounds = { name, first: Number(first), last: last === undefined ? Infinity : Number(last) };
    if (name !== undefined && bounds.first <= bounds.last) return bounds;
    throw new SvcError("usage_invalid", `Cannot use ${JSON.stringify(part.trim())} as a split of lines`, {
      hint: "Write train:1-1900000,test:1900001-",
    });
  }).sort((a, b) => a.first - b.first);
  const repeated = found.find(({ name, first }, at) =>
    found.slice(0, at).some((one) => one.name === name && one.last >= first)
  );
  if (repeated === undefined) return found;
  throw new SvcError("usage_invalid", `Cannot use lines twice in the split ${repeated.name}`);
}

/** Whether each line of a file has text. @param tell receives every block */
function* texts(source: ByteSource, file: string, tell?: (block: Uint8Array) => void): Generator<boolean> {
  let rest: Uint8Array<ArrayBuffer> = new Uint8Array(), line = 1;
  const hasText = (text: string) => text.trim() !== "";
  const decode = (bytes: Uint8Array): string[] => {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: line > 1 }).decode(bytes).split("\n");
    } catch {
      throw invalidTextManifest(`${file}:${line + faultyLine(bytes)} is no valid UTF-8`);
    }
  };
  for (let at = 0; at < source.size; at += BLOCK_BYTES) {
    const block = source.at(at, BLOCK_BYTES), end = block.lastIndexOf(10) + 1;
    tell?.(block);
    if (rest.length + (end === 0 ? block.length : block.indexOf(10)) > MAX_TEXT_BYTES) {
      throw invalidTextManifest(`${file}:${line} has more than ${MAX_TEXT_BYTES} bytes`);
    }
    if (end > 0) {
      const lines = decode(joinBytes([rest, block.subarray(0, end)]));
      lines.pop();
      for (const each of lines) yield hasText(each);
      line += lines.length;
      rest = new Uint8Array();
    }
    rest = joinBytes([rest, block.subarray(end)]);
  }
  if (rest.length > 0) yield hasText(decode(rest)[0]);
}

/** The place of the first line that is no UTF-8. */
function faultyLine(bytes: Uint8Array): number {
  let line = 0;
  for (let at = 0; at < bytes.length; line++) {
    const end = bytes.indexOf(10, at), stop = end < 0 ? bytes.length : end;
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.slice(at, stop));
    } catch {
      break;
    }
    at = stop + 1;
  }
  return line;
}
