/**
 * The rows of a result of any size. Up to `INLINE_ROWS` are in `result.json`; more are in `rows/part-00000.jsonl.gz`, …,
 * `INLINE_ROWS` canonical JSON lines each. One part is in memory at a time.
 */
import { inside, makeFolder, moveEntry, readFile, writeFile } from "../../artifact/inside.ts";
import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";
import { messageOf, SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { canonicalJson, parseJson } from "../../contract/json.ts";
import { isObject, type Value } from "../../contract/value.ts";
import { collectGarbage } from "../../execute/memory.ts";
import { readDocument } from "../../run/read.ts";
import { checkRow, PACK_RECORD_FILE } from "../pack/types.ts";
import {
  type BenchmarkResult,
  COLLECTED_PARTS,
  INLINE_ROWS,
  MAX_RESULT_BYTES,
  type ResultRow,
  type RowParts,
  ROWS_FOLDER,
  STORED_ROWS,
} from "../pack/types.ts";

/** Rows of a gzip member: a part is packed in pieces, because the texts of all its rows take megabytes. */
const MEMBER_ROWS = 100;
/** Of an unpacked part. */
const MAX_PART_BYTES = 512 * 2 ** 20;

/** All rows of a result: replicate by replicate, each in the order of the pack. */
export function allRows(result: BenchmarkResult): Iterable<ResultRow> {
  return result[STORED_ROWS]?.() ?? result.recipes;
}

/** The first rows of results that do not hold them, by the function that reads all rows. */
const firstRows = new WeakMap<() => Iterable<ResultRow>, Map<string, ResultRow>>();

/**
 * The first completed row of each recipe, else its first row, by recipe. Of a result with more than `INLINE_ROWS` recipes, which
 * does not hold them, they come without the metrics of single steps and their origins.
 */
function firstById(result: BenchmarkResult): ReadonlyMap<string, ResultRow> {
  const read = result[STORED_ROWS], isHeld = read === undefined || result.recipes.length > 0;
  const known = isHeld ? undefined : firstRows.get(read);
  if (known !== undefined) return known;
  const first = new Map<string, ResultRow>();
  for (const row of isHeld ? result.recipes : read()) {
    const before = first.get(row.id);
    if (before !== undefined && (before.status === "completed" || row.status !== "completed")) continue;
    first.set(row.id, isHeld ? row : outline(row));
  }
  if (!isHeld) firstRows.set(read, first);
  return first;
}

/** {@link firstById} as a list, in the order of the pack. */
export const recipeRows = (result: BenchmarkResult): readonly ResultRow[] =>
  result[STORED_ROWS] === undefined ? result.recipes : [...firstById(result).values()];

/** The first completed row of a recipe. */
export function completedRow(result: BenchmarkResult, recipeId: string): ResultRow | undefined {
  if (result[STORED_ROWS] === undefined) {
    return result.recipes.find((row) => row.id === recipeId && row.status === "completed");
  }
  const row = firstById(result).get(recipeId);
  return row?.status === "completed" ? row : undefined;
}

function outline(row: ResultRow): ResultRow {
  const own = <T>(members: { [id: string]: T }) =>
    Object.fromEntries(Object.entries(members).filter(([id]) => !id.startsWith("steps.")));
  const { metric_metadata: counts, ...rest } = row;
  return {
    ...rest,
    metrics: own(row.metrics),
    metric_provenance: {},
    research: null,
    ...(counts === undefined ? {} : { metric_metadata: own(counts) }),
  };
}

/** The number of rows of a result, and of completed ones. */
export function countsOf({ recipes, rows }: Pick<BenchmarkResult, "recipes" | "rows">) {
  return rows ?? { count: recipes.length, completed: recipes.filter(({ status }) => status === "completed").length };
}

/**
 * The rows that a benchmark plans: those of its pack in all replicates, at most as many where replicates stop early.
 * @param directory of the result
 */
export function plannedRows(result: BenchmarkResult, directory: string): number {
  const { count } = countsOf(result);
  if (result.status === "completed") return count;
  try {
    const { recipes, studies } = readDocument(directory, PACK_RECORD_FILE, MAX_RESULT_BYTES);
    const size = (list: Value | undefined) => Array.isArray(list) ? list.length : 0;
    const points = Array.isArray(studies) ? studies.map((study) => size(isObject(study) ? study.points : [])) : [];
    const entries = points.reduce((sum, count) => sum + count, size(recipes));
    return Math.max(count, entries * (result.replication?.replicates ?? 1));
  } catch (error) {
    // A record that is missing or damaged is a finding of verification.
    if (error instanceof SvcError) return count;
    throw error;
  }
}

/** The mark of what is made from a result that is not complete: `incomplete: 3 of 8 rows`; null of a complete one. */
export function incompleteMark(result: BenchmarkResult, planned: number): string | null {
  if (result.status === "completed") return null;
  const most = (result.replication?.stop_metric ?? null) === null ? "" : "at most ";
  return `incomplete: ${countsOf(result).completed} of ${most}${planned} rows`;
}

/** The result with its rows in the parts of a folder. */
export function withStoredRows(result: BenchmarkResult, directory: string): BenchmarkResult {
  const { rows } = result;
  return rows === undefined ? result : { ...result, [STORED_ROWS]: () => partRows(directory, rows, 0) };
}

/**
 * A page of rows.
 * @param after number of rows before the page
 */
export function pageOfRows(result: BenchmarkResult, directory: string, after: number, limit: number): ResultRow[] {
  if (result.rows === undefined || result.status === "running") {
    return [...firstOf(allRows(result), after + limit)].slice(after);
  }
  const part = Math.floor(after / INLINE_ROWS), skipped = after - part * INLINE_ROWS;
  return [...firstOf(partRows(directory, result.rows, part), skipped + limit)].slice(skipped);
}

/** At most so many of a sequence. */
export function* firstOf<T>(items: Iterable<T>, count: number): Generator<T> {
  if (count <= 0) return;
  for (const item of items) {
    yield item;
    if (--count <= 0) return;
  }
}

/** @throws SvcError `bundle_file_missing`, `bundle_hash_mismatch`, `bundle_schema_invalid` */
function* partRows(directory: string, { parts }: RowParts, from: number): Generator<ResultRow> {
  for (const { path, sha256, rows } of parts.slice(from)) {
    let bytes;
    try {
      bytes = readFile(inside(directory, path), MAX_PART_BYTES);
    } catch (error) {
      throw new SvcError("bundle_file_missing", `Cannot find ${path} of the result`, { cause: error });
    }
    if (sha256Hex(bytes) !== sha256) {
      throw new SvcError("bundle_hash_mismatch", `Cannot trust ${path}: it is not the file that the result names`);
    }
    const refuse = (why: string): never => {
      throw new SvcError("bundle_schema_invalid", `Cannot read ${path}: ${why}`);
    };
    let lines: string[];
    try {
      const text = new TextDecoder().decode(gunzipSync(bytes, { maxOutputLength: MAX_PART_BYTES }));
      lines = text.split("\n").slice(0, -1);
    } catch (error) {
      return refuse(messageOf(error));
    }
    if (lines.length !== rows) refuse(`it has ${lines.length} rows, the result says ${rows}`);
    for (const line of lines) {
      const row = parseJson(line);
      const [problem] = checkRow(row);
      if (problem !== undefined) refuse(`${problem.path}: ${problem.message}`);
      yield row as ResultRow;
    }
  }
}

/** The path of a part in the folder of the result. */
export const partName = (part: number): string => `${ROWS_FOLDER}/part-${String(part).padStart(5, "0")}.jsonl.gz`;

/** Writes the parts of a result, in order. */
export class RowPartWriter {
  readonly #directory: string;
  readonly #parts: RowParts["parts"] = [];
  #lines: string[] = [];
  #members: Uint8Array[] = [];
  #rows = 0;

  /** @param directory of the result */
  constructor(directory: string) {
    this.#directory = directory;
    makeFolder(inside(directory, ROWS_FOLDER));
  }

  add(row: ResultRow): void {
    this.#lines.push(canonicalJson(row) + "\n");
    this.#rows++;
    if (this.#lines.length === MEMBER_ROWS) this.#pack();
    if (this.#rows === INLINE_ROWS) this.#close();
  }

  #pack(): void {
    this.#members.push(gzipSync(this.#lines.join(""), { level: 3 }));
    this.#lines = [];
  }

  #close(): void {
    if (this.#lines.length > 0) this.#pack();
    const path = partName(this.#parts.length), file = inside(this.#directory, path);
    const bytes = Buffer.concat(this.#members);
    const unfinished = inside(this.#directory, `${path}.tmp`);
    writeFile(unfinished, bytes);
    moveEntry(unfinished, file);
    this.#parts.push({ path, sha256: sha256Hex(bytes), rows: this.#rows });
    [this.#members, this.#rows] = [[], 0];
    if (this.#parts.length % COLLECTED_PARTS === 0) collectGarbage();
  }

  /** @returns the written parts */
  finish(): RowParts["parts"] {
    if (this.#rows > 0) this.#close();
    return this.#parts;
  }
}
