/**
 * The attempt ledger of a benchmark: one line of canonical JSON per event, appended and made durable before the next
 * one begins. Each event contains the digest of the previous one, so that removed or altered events are detected.
 *
 * A truncated line, as after a kill during a write, is not an event and is removed when the benchmark resumes. The
 * ledger contains complete rows, so finished rows survive any end of the process.
 */
import { type InsidePath, openFile } from "../../artifact/inside.ts";
import { canonicalJson, parseJson } from "../../contract/json.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { type Code, messageOf, SvcError } from "../../contract/error.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import {
  checkEvent,
  type LedgerEvent,
  type LedgerEventKind,
  type Replication,
  type ResultRow,
  type StartFields,
  type StopReason,
  type TerminalStatus,
} from "../pack/types.ts";

type FieldsOf<Kind extends LedgerEventKind> = Extract<LedgerEvent, { kind: Kind }>["fields"];

/** Lines are read in pieces of this size; a longer one than the limit is refused. */
const CHUNK_BYTES = 1 << 20, MOST_LINE_BYTES = 1 << 26;
/** Runs that the last rows of an ended process may have left: a pruner has so many in work at most. */
const MOST_LEFT = 8;

/** Appends to a ledger; one process at a time, which holds the lock of the result. */
export class Ledger {
  readonly #file: Deno.FsFile;
  #size: number;

  /** Opens a ledger for appending, without its truncated end. @throws SvcError `bundle_hash_mismatch` */
  static open(path: InsidePath, attemptId: string): Ledger {
    return new Ledger(path, attemptId, new LedgerIndex(path).advance());
  }

  private constructor(path: InsidePath, readonly attemptId: string, readonly index: LedgerIndex) {
    this.#file = openFile(path, { read: true, write: true, create: true });
    this.#size = index.size;
    if (index.tornBytes > 0) this.#file.truncateSync(this.#size);
    this.#file.seekSync(0, Deno.SeekMode.End);
  }

  /**
   * Appends an event. The system has the data on return, so it survives a kill of the process.
   * @param durable whether to wait for the disk, so that it also survives a power failure
   * @returns the digest of its line
   */
  append<Kind extends LedgerEventKind>(kind: Kind, fields: FieldsOf<Kind>, durable = true): string {
    const event = {
      seq: this.index.events + 1,
      kind,
      attempt_id: this.attemptId,
      time: new Date().toISOString(),
      previous_sha256: this.index.last,
      fields,
    };
    const line = canonicalJson(event as JsonObject);
    const bytes = new TextEncoder().encode(line + "\n");
    for (let done = 0; done < bytes.length;) done += this.#file.writeSync(bytes.subarray(done));
    if (durable) this.#file.syncDataSync();
    const sha256 = sha256Hex(line);
    this.index.note({ ...event, sha256 } as LedgerEvent, this.#size, bytes.length);
    this.#size += bytes.length;
    return sha256;
  }

  /** Syncs appended events to the disk; the caller continues meanwhile. */
  async sync(): Promise<void> {
    await this.#file.syncData();
  }

  close(): void {
    this.#file.close();
  }
}

/** The place of a shard among all: index 0 … count - 1. */
export type Shard = NonNullable<StartFields["shard"]>;

/** Whether a row belongs to a shard. */
export const isOfShard = ({ index, count }: Shard, row: number): boolean => row % count === index;

/** Key of a row. */
export const rowKey = (recipeId: string, replicate: number): string => `${recipeId}|${replicate}`;

/** The end of the snapshots that the rows of a ledger name: file number, its snapshots, and its bytes. */
export interface EvidenceEnd {
  part: number;
  count: number;
  bytes: number;
}

/** The lines of the rows of a recipe. */
interface RecipeLines {
  place: number;
  /** The first replicate, and the distance to the next: a shard does not have all. */
  first: number | null;
  step: number;
  /** Offset and length of each row's line; the length is negative for a row that did not complete. */
  lines: Float64Array;
  rows: number;
}

const gcd = (a: number, b: number): number => b === 0 ? a : gcd(b, a % b);

/**
 * What a ledger says, without its rows: their places in the file are kept (16 bytes a row), and each is read when it is
 * asked for. The last event of a row counts. The rows of a recipe have no gaps, so memory and time follow the number of
 * rows, whatever numbers a ledger of another author names.
 */
export class LedgerIndex {
  start: Extract<LedgerEvent, { kind: "attempt_started" }> | null = null;
  /** The last end, if no event follows it. */
  end: { status: TerminalStatus; event: Extract<LedgerEvent, { kind: "attempt_ended" }> } | null = null;
  readonly stops = new Map<string, StopReason>();
  events = 0;
  /** Digest of the last line; null without events. */
  last: string | null = null;
  /** Bytes up to the end of the last event, and bytes after it. */
  size = 0;
  tornBytes = 0;
  /** Number of rows, and of completed ones. */
  rowCount = 0;
  completedCount = 0;
  /** Of the last resumption with an end of its own. */
  reusedRows = 0;
  #resumed: Extract<LedgerEvent, { kind: "attempt_resumed" }> | null = null;
  #replicates: number | null = null;
  evidence: EvidenceEnd | null = null;
  /** Receives each event before it is noted. */
  onEvent?: (event: LedgerEvent) => void;
  readonly #recipes = new Map<string, RecipeLines>();
  readonly #started = new Set<string>();
  #buffer = new Uint8Array(0);
  #pruned: string[] = [];

  /** @param path of the file; it changes when its folder is renamed */
  constructor(public path: InsidePath) {}

  /**
   * Reads the events that were appended since the last call.
   * @throws SvcError `bundle_hash_mismatch` for a broken chain before the truncated end, `bundle_schema_invalid` for an
   *   event of another form
   * @param most number of events to have at the end
   */
  advance(most = Infinity): this {
    this.tornBytes = 0;
    let file: Deno.FsFile;
    try {
      file = openFile(this.path, { read: true });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return this;
      throw error;
    }
    try {
      file.seekSync(this.size, Deno.SeekMode.Start);
      const decoder = new TextDecoder();
      // One buffer, which grows to the longest line: the bytes of an open line move to its start.
      let buffer = new Uint8Array(CHUNK_BYTES), open = 0;
      for (let count = file.readSync(buffer); count !== null; count = file.readSync(buffer.subarray(open))) {
        const chunk = buffer.subarray(0, open + count);
        let from = 0;
        for (let to = chunk.indexOf(10, open); to >= 0; to = chunk.indexOf(10, from)) {
          if (this.events >= most) return this;
          this.#read(decoder.decode(chunk.subarray(from, to)), to + 1 - from);
          from = to + 1;
        }
        open = chunk.length - from;
        buffer.copyWithin(0, from, chunk.length);
        if (open > MOST_LINE_BYTES) this.#refuse("is longer than 64 MiB", "bundle_schema_invalid");
        if (open === buffer.length) {
          const longer = new Uint8Array(2 * open);
          longer.set(buffer);
          buffer = longer;
        }
      }
      this.tornBytes = open;
    } finally {
      file.close();
    }
    return this;
  }

  #refuse(why: string, code: Code = "bundle_hash_mismatch"): never {
    throw new SvcError(code, `Cannot trust the attempt ledger: event ${this.events + 1} ${why}`);
  }

  #read(line: string, bytes: number): void {
    let value: Value;
    try {
      value = parseJson(line);
      if (canonicalJson(value) !== line) throw new TypeError("it is not laid out as it was written");
    } catch (error) {
      return this.#refuse(`cannot be read: ${messageOf(error)}`);
    }
    const [problem] = checkEvent(value);
    if (problem !== undefined) this.#refuse(`has an invalid form: ${problem.path}: ${problem.message}`, problem.code);
    const event = { ...value as JsonObject, sha256: sha256Hex(line) as string } as LedgerEvent;
    if (event.seq !== this.events + 1) return this.#refuse(`has the number ${event.seq}`);
    if (event.previous_sha256 !== this.last) return this.#refuse("does not follow the one before it");
    if ((event.kind === "attempt_started") !== (this.events === 0)) {
      return this.#refuse(`is ${event.kind}: a ledger begins with attempt_started, once`, "bundle_link_mismatch");
    }
    this.note(event, this.size, bytes);
  }

  /**
   * Adds an event that stands at these bytes of the file.
   * @throws SvcError `bundle_link_mismatch` for a row of another recipe, or with a gap before it
   */
  note(event: LedgerEvent, offset: number, bytes: number): void {
    this.onEvent?.(event);
    const { kind, fields } = event;
    this.end = null;
    if (kind === "attempt_started") {
      this.start = event;
      const { recipes, shard } = fields;
      const step = shard === undefined ? 1 : shard.count / gcd(recipes.length, shard.count);
      for (const [place, { id }] of recipes.entries()) {
        const first = shard === undefined ? 0 : null;
        this.#recipes.set(id, { place, first, step, lines: new Float64Array(2), rows: 0 });
      }
    } else if (kind === "attempt_resumed") {
      this.#resumed = event;
      this.#replicates = fields.replicates ?? this.#replicates;
      // The remains were removed before.
      this.#started.clear();
      this.#pruned = [];
    } else if (kind === "row_started") this.#started.add(fields.run_id);
    else if (kind === "row_completed") this.#noteRow(fields.row, offset, bytes);
    else if (kind === "recipe_stopped") this.stops.set(fields.recipe_id, fields.stop_reason);
    else {
      this.end = { status: fields.status, event };
      // One that was killed before it wrote its result ends with the id and the result of the attempt before.
      if (this.#resumed?.attempt_id === event.attempt_id) this.reusedRows = this.#resumed.fields.reused_rows;
    }
    this.events++;
    this.last = event.sha256;
    this.size = offset + bytes;
  }

  /** The place of a replicate among the lines of its recipe; -1 for none. */
  #slotOf({ first, step, rows }: RecipeLines, replicate: number): number {
    const slot = first === null ? -1 : (replicate - first) / step;
    return Number.isInteger(slot) && slot < rows ? slot : -1;
  }

  #noteRow(row: ResultRow, offset: number, bytes: number): void {
    const refuse = (why: string) =>
      this.#refuse(`holds ${rowKey(row.id, row.replicate)}: ${why}`, "bundle_link_mismatch");
    const recipe = this.#recipes.get(row.id), { replicate } = row;
    if (recipe === undefined) return refuse("the benchmark has no such recipe");
    const { shard, recipes } = this.start!.fields;
    if (recipe.first === null) {
      if (replicate >= recipe.step || !isOfShard(shard!, replicate * recipes.length + recipe.place)) {
        return refuse("it belongs to another shard");
      }
      recipe.first = replicate;
    }
    let slot = this.#slotOf(recipe, replicate);
    if (slot < 0) {
      if (replicate !== recipe.first + recipe.rows * recipe.step) return refuse("rows before it are missing");
      slot = recipe.rows++;
      this.rowCount++;
      if (2 * slot >= recipe.lines.length) {
        const longer = new Float64Array(4 * slot);
        longer.set(recipe.lines);
        recipe.lines = longer;
      }
    } else if (recipe.lines[2 * slot + 1] > 0) this.completedCount--;
    const completed = row.status === "completed";
    if (completed) this.completedCount++;
    recipe.lines[2 * slot] = offset;
    recipe.lines[2 * slot + 1] = completed ? bytes : -bytes;
    if (row.run_id !== null) {
      this.#started.delete(row.run_id);
      if (row.run_dir === null) this.#pruned = [...this.#pruned.slice(1 - MOST_LEFT), row.run_id];
    }
    const record = row.run_evidence_snapshot;
    if (record?.offset === undefined) return;
    const part = Number(/(\d+)/.exec(record.relative_path)?.[1]);
    const count = this.evidence?.part === part ? this.evidence.count + 1 : 1;
    this.evidence = { part, count, bytes: record.offset + Number(record.size_bytes) };
  }

  /** Ids of runs that an ended process may have left without a row, or with a row that does not keep its run. */
  leftovers(): string[] {
    return [...this.#started, ...this.#pruned];
  }

  /** The replication of the start with the number of replicates of the last resumption. */
  limited<R extends Replication | null>(replication: R): R {
    return replication === null || this.#replicates === null
      ? replication
      : { ...replication, replicates: this.#replicates };
  }

  /** Number of replicates that have a row. */
  get replicateCount(): number {
    return [...this.#recipes.values()].reduce(
      (most, { first, step, rows }) => rows === 0 ? most : Math.max(most, first! + (rows - 1) * step + 1),
      0,
    );
  }

  has(recipeId: string, replicate: number): boolean {
    return this.statusOf(recipeId, replicate) !== "none";
  }

  statusOf(recipeId: string, replicate: number): "none" | "completed" | "not_completed" {
    const recipe = this.#recipes.get(recipeId), slot = recipe === undefined ? -1 : this.#slotOf(recipe, replicate);
    return slot < 0 ? "none" : recipe!.lines[2 * slot + 1] > 0 ? "completed" : "not_completed";
  }

  /** The replicates of a recipe that are there. */
  *replicatesOf(recipeId: string): Generator<number> {
    const { first = null, step = 1, rows = 0 } = this.#recipes.get(recipeId) ?? {};
    for (let slot = 0; slot < rows; slot++) yield first! + slot * step;
  }

  /** The rows replicate by replicate, each in the order of the pack. */
  *rows(): Generator<ResultRow> {
    let left = [...this.#recipes.values()].filter(({ rows }) => rows > 0).map((recipe) => ({ recipe, slot: 0 }));
    if (left.length === 0) return;
    using file = this.#open();
    const next = ({ recipe: { first, step }, slot }: typeof left[number]) => first! + slot * step;
    while (left.length > 0) {
      const replicate = left.reduce((least, one) => Math.min(least, next(one)), Infinity);
      for (const one of left) {
        if (next(one) === replicate) yield this.#rowAt(file, one.recipe.lines, one.slot++);
      }
      left = left.filter(({ recipe, slot }) => slot < recipe.rows);
    }
  }

  /** A row; null without one. */
  row(recipeId: string, replicate: number): ResultRow | null {
    const recipe = this.#recipes.get(recipeId), slot = recipe === undefined ? -1 : this.#slotOf(recipe, replicate);
    if (slot < 0) return null;
    using file = this.#open();
    return this.#rowAt(file, recipe!.lines, slot);
  }

  #open(): Deno.FsFile {
    return openFile(this.path, { read: true });
  }

  #rowAt(file: Deno.FsFile, lines: Float64Array, slot: number): ResultRow {
    const length = Math.abs(lines[2 * slot + 1]);
    // One buffer for all rows: a buffer each would fill the memory faster than it is collected.
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(2 * length);
    const bytes = this.#buffer.subarray(0, length);
    file.seekSync(lines[2 * slot], Deno.SeekMode.Start);
    for (let done = 0; done < bytes.length;) {
      const count = file.readSync(bytes.subarray(done));
      if (count === null) throw new SvcError("bundle_hash_mismatch", "Cannot read the attempt ledger: it was cut off");
      done += count;
    }
    return (parseJson(new TextDecoder().decode(bytes)) as { fields: { row: JsonObject } }).fields.row as ResultRow;
  }
}

/** The kind of the last event of a ledger, from the end of its file; null without one. */
export function lastKind(path: InsidePath): string | null {
  using file = openFile(path, { read: true });
  const { size } = file.statSync();
  for (let reach = 4096; reach <= 4 * MOST_LINE_BYTES; reach *= 4) {
    const from = Math.max(0, size - reach), bytes = new Uint8Array(size - from);
    file.seekSync(from, Deno.SeekMode.Start);
    for (let done = 0; done < bytes.length;) {
      const count = file.readSync(bytes.subarray(done));
      if (count === null) break;
      done += count;
    }
    const end = bytes.lastIndexOf(10), start = end <= 0 ? -1 : bytes.lastIndexOf(10, end - 1);
    if (start < 0 && from > 0) continue;
    if (end < 0) return null;
    try {
      const event = parseJson(new TextDecoder().decode(bytes.subarray(start + 1, end)));
      return isObject(event) ? String(event.kind) : null;
    } catch {
      // Reading the whole ledger reports its damage.
      return null;
    }
  }
  return null;
}
