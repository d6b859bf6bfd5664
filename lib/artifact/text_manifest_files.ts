/** Makes a text-dataset manifest of .txt files, lines, JSON Lines or CSV. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { compareCodePoints, parseJson } from "../contract/json.ts";
import { isInteger, isObject, type Value } from "../contract/value.ts";
import { CsvFault, csvRecords } from "./csv.ts";
import { inside, readFile } from "./inside.ts";
import { isPlainPath } from "./dataset_manifest_rules.ts";
import {
  checkText,
  invalidTextManifest,
  languageOf,
  TEXT_MANIFEST_KIND,
  type TextManifest,
  type TextSample,
} from "./text_manifest.ts";

export interface MakeTextOptions {
  /** Id of the dataset; default the name of the file or folder. */
  id?: string;
  /** Default "1". */
  version?: string | number;
  /** Name of the split of samples whose row names none; default "test". */
  split?: string;
  /** Whether each sentence is a text, cut by the rules of Unicode (UAX 29). */
  sentences?: boolean;
  /** Whether each line that is not empty is a text; default one text a file. */
  lines?: boolean;
  /** Whether texts of .txt files stand in the manifest, for a manifest in another folder; default false. */
  inline?: boolean;
  /**
   * File whose lines are translations of those of the file, as in Europarl: each line is a text, and a line that is empty on either
   * side is left out. The manifest of the other file then has the same ids. The suffix of the file is its language.
   */
  parallel?: string;
  /** Column of a CSV file, or field of JSON Lines, that holds the text; default `text`. */
  column?: string;
}

/** A text before it has an id of its own. */
type Found =
  & ({ id: string; text: string; language?: string } | { id: string; path: string; sha256: string })
  & { split?: string };

/** Bytes of one file of texts, and number of all texts: each takes about 500 bytes in the manifest besides its own. */
const MAX_TEXTS_BYTES = 64 * 2 ** 20, MAX_TEXTS = 100_000;

const IMAGE_FILE = /\.(png|jpe?g)$/i;
/** Files that hold texts. */
const TEXT_FILE = /\.(txt|jsonl|ndjson|csv)$/i;

/** Whether texts are made of a path: a text file, or a folder with .txt files and without images. */
export function holdsTexts(path: string): boolean {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info?.isDirectory()) {
    const names = readdirSync(path);
    return names.some((name) => /^[^.].*\.txt$/i.test(name)) && !names.some((name) => IMAGE_FILE.test(name));
  }
  return info?.isFile() === true && TEXT_FILE.test(path);
}

/**
 * Describes texts: a .txt file or the .txt files of a folder and its subfolders, a JSON Lines file of texts or of objects,
 * or a CSV file with a header. `id` or `sample_id`, `language` and `split` of a row are kept.
 *
 * @returns the manifest; .txt files that are one text are named by path, all other texts stand in it
 * @throws SvcError `text_manifest_invalid`
 */
export function makeTextManifest(path: string, options: MakeTextOptions = {}): TextManifest {
  const { split = "test", version = "1" } = options;
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const found: Found[] = [];
  const add = (more: readonly Found[]) => {
    if (found.length + more.length > MAX_TEXTS) {
      throw tooMany(path);
    }
    // One by one: a call takes a limited number of arguments.
    for (const one of more) found.push(one);
  };
  if (options.parallel !== undefined) add(parallelLines(path, options.parallel));
  else if (folder) {
    for (const file of textFiles(path).sort(compareCodePoints)) add(readText(join(path, file), file, options));
  } else add(/\.txt$/i.test(path) ? readText(path, basename(path), options) : readRows(path, options));
  if (found.length === 0) throw invalidTextManifest(`${path} holds no text`);
  const taken = new Map<string, number>();
  const splits: Record<string, string[]> = Object.create(null);
  const samples = found.map(({ id, split: own = split, ...rest }): TextSample => {
    const sample_id = uniqueId(id, taken);
    (splits[own] ??= []).push(sample_id);
    return { sample_id, ..."text" in rest ? { sha256: sha256Hex(rest.text), ...rest } : rest };
  });
  return {
    schema_version: 1,
    kind: TEXT_MANIFEST_KIND,
    id: options.id ?? basename(resolve(path), folder || options.parallel !== undefined ? "" : extname(path)),
    version,
    splits: { ...splits },
    samples,
  };
}

/** The .txt files of a folder and its subfolders. */
function textFiles(folder: string): string[] {
  const found: string[] = [];
  const visit = (prefix: string): void => {
    for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
      const path = prefix + entry.name;
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) visit(`${path}/`);
      else if (/\.txt$/i.test(entry.name)) {
        if (!entry.isFile() || !isPlainPath(path)) {
          throw invalidTextManifest(`${path} is not a regular file or has an unsafe name`);
        }
        if (found.length === MAX_TEXTS) throw invalidTextManifest(`${folder} holds more than ${MAX_TEXTS} files`);
        found.push(path);
      }
    }
  };
  visit("");
  return found;
}

/** The bytes of a file of the user, which may be a link. @throws SvcError as `readFile` */
function bytesOf(file: string): Uint8Array<ArrayBuffer> {
  let place: string;
  try {
    place = realpathSync(file);
  } catch (error) {
    throw new SvcError("file_not_found", `Cannot read ${file}: ${messageOf(error)}`);
  }
  return readFile(inside(dirname(place), basename(place)), MAX_TEXTS_BYTES);
}

function readText(file: string, path: string, { lines, inline, sentences }: MakeTextOptions): Found[] {
  const bytes = bytesOf(file), stem = basename(path, extname(path));
  if (!lines) {
    const text = checkText(bytes, path);
    if (sentences) return sentencesOf(text, stem, file);
    return [inline ? { id: stem, text } : { id: stem, path, sha256: sha256Hex(bytes) }];
  }
  return linesOf(bytes, file).flatMap(({ line, number }) => {
    const found = { id: `${stem}_${number}`, text: limited(line, file, number) };
    return sentences ? sentencesOf(found.text, found.id, file) : [found];
  });
}

/** The lines of a file that are not empty in it nor in the file of their translations, with equal ids in both. */
function parallelLines(file: string, other: string): Found[] {
  const [lines, translations] = [file, other].map((each) => decode(bytesOf(each), each).replace(/\n$/, "").split("\n"));
  if (lines.length !== translations.length) {
    throw invalidTextManifest(
      `${file} has ${lines.length} lines, and ${other} has ${translations.length}: they are no translations line by line`,
    );
  }
  const language = languageOf(file);
  const found = lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === "" || translations[index].trim() === "") return [];
    const id = `line_${index + 1}`, about = language === undefined ? {} : { language };
    return [{ id, text: limited(text, file, index + 1), ...about }];
  });
  if (found.length > MAX_TEXTS) throw tooMany(file);
  return found;
}

/** The sentences of a text, without white space around them; line breaks within one become spaces. */
function sentencesOf(text: string, id: string, file: string): Found[] {
  // A single line break is one of layout; a blank line ends a sentence.
  const parts = text.split(/\r?\n[ \t]*(?:\r?\n)+/).flatMap((part) =>
    [...SENTENCES.segment(part.replace(/\s+/g, " "))].map(({ segment }) => segment.trim()).filter((one) => one !== "")
  );
  if (parts.length > MAX_TEXTS) throw tooMany(file);
  return parts.map((sentence, index) => ({ id: `${id}_${index + 1}`, text: sentence }));
}

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });

/** The lines of a file that are not empty, counted from 1. @throws SvcError `text_manifest_invalid` for too many */
function linesOf(bytes: Uint8Array, file: string): { line: string; number: number }[] {
  const text = decode(bytes, file), found: { line: string; number: number }[] = [];
  for (let at = 0, number = 1; at < text.length; number++) {
    const end = text.indexOf("\n", at), next = end < 0 ? text.length : end + 1;
    const line = text.slice(at, end < 0 ? text.length : end).replace(/\r$/, "");
    at = next;
    if (line === "") continue;
    if (found.length === MAX_TEXTS) throw tooMany(file);
    found.push({ line, number });
  }
  return found;
}

const tooMany = (file: string) =>
  invalidTextManifest(
    `${file} holds more than ${MAX_TEXTS} texts; name ranges of its lines with --line-ranges, or make several manifests`,
  );

/** The text of a file, whose parts have limits of their own. */
function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidTextManifest(`${file} is no valid UTF-8`);
  }
}

const limited = (text: string, file: string, row: number): string =>
  checkText(new TextEncoder().encode(text), `${file}:${row}`);

function readRows(file: string, { column = "text", sentences }: MakeTextOptions): Found[] {
  const bytes = bytesOf(file);
  const rows = /\.csv$/i.test(file) ? csvRows(decode(bytes, file), file, column) : jsonRows(bytes, file, column);
  return rows.flatMap(({ number, row }) => {
    const { id, sample_id = id, language, split } = row,
      text = row[column],
      known = isInteger(sample_id) ? String(sample_id) : sample_id;
    if (typeof text !== "string") {
      throw invalidTextManifest(`row ${number} of ${file} has no text in ${column}; name its column with --column`);
    }
    const given = (name: string, value: unknown) => typeof value === "string" && value !== "" ? { [name]: value } : {};
    const about = { ...given("language", language), ...given("split", split) };
    const found = {
      id: typeof known === "string" && known !== "" ? known : `row_${number}`,
      text: limited(text, file, number),
    };
    return (sentences ? sentencesOf(found.text, found.id, file) : [found]).map((one) => ({ ...one, ...about }));
  });
}

type Row = { number: number; row: Record<string, unknown> };

function jsonRows(bytes: Uint8Array, file: string, column: string): Row[] {
  return linesOf(bytes, file).map(({ line, number }) => {
    let value;
    try {
      value = parseJson(line);
    } catch (error) {
      throw invalidTextManifest(`line ${number} of ${file} is no JSON: ${messageOf(error)}`);
    }
    if (hasRepeatedKey(line, value)) throw invalidTextManifest(`line ${number} of ${file} has a key more than once`);
    if (typeof value === "string") return { number, row: { [column]: value } };
    if (isObject(value)) return { number, row: value };
    throw invalidTextManifest(`line ${number} of ${file} is neither a text nor an object`);
  });
}

/** Whether valid JSON has a key that its value lost: keys are the strings before a colon. */
function hasRepeatedKey(text: string, value: Value): boolean {
  const keys = (part: Value): number =>
    Array.isArray(part)
      ? part.reduce((sum: number, item) => sum + keys(item), 0)
      : isObject(part)
      ? Object.values(part).reduce((sum: number, item) => sum + 1 + keys(item), 0)
      : 0;
  const written = text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g).filter(([, colon]) => colon !== undefined);
  return [...written].length > keys(value);
}

/** Rows of a CSV file (RFC 4180) by the names of its header; what the format does not permit is refused with its line. */
function csvRows(text: string, file: string, column: string): Row[] {
  const [header = [], ...rows] = parseCsv(text, file);
  if (!header.includes(column)) {
    throw invalidTextManifest(
      `${file} has no column ${column}; name one with --column: ${header.join(", ") || "none"}`,
    );
  }
  const repeated = header.find((name, at) => header.indexOf(name) < at);
  if (repeated !== undefined) {
    throw invalidTextManifest(`the header of ${file} has the column ${repeated} more than once`);
  }
  return rows.map((cells, index) => ({
    number: index + 2,
    row: Object.fromEntries(header.map((name, at) => [name, cells[at]])),
  }));
}

function parseCsv(text: string, file: string): string[][] {
  try {
    const rows = csvRecords(text, MAX_TEXTS + 2);
    if (rows.length > MAX_TEXTS + 1) throw tooMany(file);
    return rows;
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    throw invalidTextManifest(`line ${error.line} of ${file} has ${error.message}`);
  }
}

/** An id without characters that id lists reserve, numbered if taken. @param taken ids, with the last number of each */
function uniqueId(wanted: string, taken: Map<string, number>): string {
  const stem = wanted.replace(/[\s,#]+/g, "_") || "text";
  let id = stem, number = taken.get(stem) ?? 1;
  while (taken.has(id)) id = `${stem}_${++number}`;
  taken.set(stem, number).set(id, taken.get(id) ?? 1);
  return id;
}
