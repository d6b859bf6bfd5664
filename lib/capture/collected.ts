/** The records of a capture in order of arrival: cut into shards, compared by digest, and counted. */
import { writeNpz } from "../artifact/npz.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { DTYPES, elementCount } from "../numeric/array/ndarray.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { CaptureConfig } from "./config.ts";
import type { CaptureFolder } from "./folder.ts";
import type { RunTaps } from "./perform_run.ts";
import { RecordBuffer, recordSha256, sliceRecords } from "./records.ts";
import type { CapturePoint } from "./runs.ts";

/** The state of a capture. */
export class Collected {
  captured = 0;
  duplicates = 0;
  readonly shards: JsonObject[] = [];
  readonly runs: JsonObject[] = [];
  /** Runs that were begun, in order. */
  readonly planned: { run: number; point: CapturePoint; seed: number | bigint }[] = [];
  readonly #buffers = new Map<string, RecordBuffer>();
  /** The description of each tap by the first run. */
  readonly #taps: JsonObject[] = [];
  readonly #seen = new Set<string>();
  readonly #digests: string[] = [];
  readonly #points = new Map<
    string,
    { selection: JsonObject; variant_id: string | null; runs: number; records: number }
  >();
  readonly #channels = new Map<
    string,
    { step_id: string; op: string; params: JsonObject; runs: number; records: number }
  >();
  #shardRuns: JsonObject[] = [];
  #perRun = 1;
  /** Records to capture: the configured number, or as many as the bytes allow. */
  #wanted: number;

  constructor(
    readonly config: CaptureConfig,
    readonly others: ReadonlyMap<string, string>,
    readonly folder: CaptureFolder,
    readonly onWriting: (message: string, fields: JsonObject) => void,
    readonly maxBytes = Infinity,
  ) {
    this.#wanted = config.samples;
  }

  get full(): boolean {
    return this.captured >= this.#wanted;
  }

  /** Whether the bytes of the records were the limit, not their number. */
  get limited(): boolean {
    return this.#wanted < this.config.samples && this.full;
  }

  get disjointFrom(): string[] {
    return [...new Set(this.others.values())].sort();
  }

  /** Whether a run is needed if the runs before it give as many records as the last one. */
  mayNeed(run: number): boolean {
    return this.captured + (run - this.runs.length) * this.#perRun < this.#wanted;
  }

  /** Takes the records of the next run, in the order of the runs. */
  add(made: RunTaps): void {
    const { config } = this;
    const { run, point, seed } = this.planned[this.runs.length];
    this.#perRun = Math.max(1, made.records);
    this.#checkShapes(made);
    this.#limit(made);
    const wanted = Math.min(made.records, this.#wanted - this.captured);
    const arrays = [...made.arrays];
    for (let index = 0; index < wanted; index++) this.#note(recordSha256(arrays, index));
    let at = 0;
    while (at < wanted) {
      const room = config.shard_size - this.captured % config.shard_size;
      const count = Math.min(room, wanted - at);
      for (const [id, records] of arrays) this.#buffers.get(id)!.add(sliceRecords(records, at, at + count), count);
      this.#shardRuns.push({ run, seed, selection: point.selection, first_record: this.captured, records: count });
      at += count;
      this.captured += count;
      if (this.captured % config.shard_size === 0) this.flush();
    }
    this.runs.push({
      run,
      name: made.name,
      seed,
      selection: point.selection,
      variant_id: point.variant_id,
      records: wanted,
      effective_recipe_sha256: made.effective_sha256,
      execution_plan_sha256: made.plan_sha256,
      artifacts: Object.fromEntries(made.taps.map(({ tap: { id }, sha256 }) => [id, sha256])),
    });
    this.#distribute(point, made, wanted);
  }

  /** Lowers the number of records to what the bytes allow. @throws SvcError `dataset_capture_invalid` for not even one */
  #limit({ arrays }: RunTaps): void {
    if (this.maxBytes === Infinity) return;
    const bytes = [...arrays.values()]
      .reduce((sum, { array: { dtype }, shape }) => sum + DTYPES[dtype].itemSize * elementCount(shape), 0);
    this.#wanted = Math.min(this.config.samples, Math.floor(this.maxBytes / bytes));
    if (this.#wanted > 0) return;
    throw new SvcError("dataset_capture_invalid", `Cannot capture a record of ${bytes} bytes in ${this.maxBytes}`, {
      hint: "Raise max_bytes, or make the arrays of the recipe smaller",
    });
  }

  #note(digest: string): void {
    const other = this.others.get(digest);
    if (other !== undefined) {
      throw new SvcError(
        "capture_splits_overlap",
        `Cannot capture ${this.config.split}: its record ${this.#digests.length} is a record of ${other} too`,
        { hint: "Splits need other seeds or other data; capture both with one training plan" },
      );
    }
    if (this.#seen.has(digest)) this.duplicates++;
    this.#seen.add(digest);
    this.#digests.push(digest);
  }

  #checkShapes(made: RunTaps): void {
    const first = this.#buffers.size === 0;
    for (const [name, { array: { dtype }, shape }] of made.arrays) {
      const buffer = this.#buffers.get(name);
      if (first) this.#buffers.set(name, new RecordBuffer(dtype, shape));
      else if (buffer?.dtype !== dtype || canonicalJson([...buffer.shape]) !== canonicalJson(shape)) {
        const before = buffer === undefined ? "not there" : `${buffer.dtype} [${buffer.shape.join(", ")}]`;
        throw new SvcError(
          "dataset_capture_invalid",
          `Cannot join the records of ${name}: ${dtype} [${shape.join(", ")}] in ${made.name}, ${before} before`,
          { hint: "A record has one shape in all runs: sweep nothing that changes it" },
        );
      }
    }
    if (!first) return;
    for (const { tap, names, kind, metadata } of made.taps) {
      const arrays = names.map((name): [string, JsonObject] => {
        const { array: { dtype }, shape, whole } = made.arrays.get(name)!;
        return [name, { dtype, shape, repeated: whole === true && made.records > 1 }];
      });
      const { dtype, shape } = arrays[0][1];
      const described = { ...tap, kind, dtype, shape, arrays: Object.fromEntries(arrays) };
      const { stream } = made.arrays.get(tap.id)!;
      const unit = stream === undefined ? {} : { record: "source_item" };
      this.#taps.push({ ...described, ...unit, first_run_metadata: metadata });
    }
  }

  #distribute(point: CapturePoint, made: RunTaps, records: number): void {
    const count = <T extends { runs: number; records: number }>(map: Map<string, T>, key: string, empty: () => T) => {
      const row = map.get(key) ?? empty();
      row.runs++;
      row.records += records;
      map.set(key, row);
    };
    const none = { runs: 0, records: 0 };
    if (Object.keys(point.selection).length > 0) {
      const { selection, variant_id } = point;
      count(this.#points, canonicalJson(selection), () => ({ selection, variant_id, ...none }));
    }
    for (const { id, op, params: { seed: _seed, ...params } } of made.effective.steps) {
      if (!op.startsWith("wireless.") && !/^channel\..*link$/.test(op)) continue;
      count(this.#channels, canonicalJson([id, params]), () => ({ step_id: id, op, params, ...none }));
    }
  }

  /** Writes the shard that was begun. */
  flush(): void {
    const records = this.#shardRuns.reduce((sum, row) => sum + Number(row.records), 0);
    if (records === 0) return;
    const number = this.shards.length, path = `shards/shard_${String(number).padStart(4, "0")}.npz`;
    const facts = {
      schema_version: 1,
      split: this.config.split,
      shard: number,
      records,
      runs: this.#shardRuns,
      taps: Object.fromEntries(this.#taps.map((tap) => [tap.id, tap])),
    };
    const arrays = [...this.#buffers].map(([id, buffer]) => [id, buffer.take()] as const);
    const bytes = writeNpz({ ...Object.fromEntries(arrays), metadata_json: canonicalJson(facts) });
    this.onWriting(`Writing ${path}`, { shard: number, records });
    this.folder.write(path, bytes);
    this.shards.push({ path, records, sha256: sha256Hex(bytes), size_bytes: bytes.length });
    this.#shardRuns = [];
  }

  digests(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(32 * this.#digests.length);
    this.#digests.forEach((digest, index) => all.set(Uint8Array.fromHex(digest), 32 * index));
    return all;
  }

  tapSchemas(recipe: RecipeDocument): JsonObject[] {
    return this.#taps.map((tap) => {
      const op = recipe.steps.find(({ id }) => id === String(tap.from).split(".")[0])!.op;
      return { ...tap, op };
    });
  }

  pointDistribution(): JsonObject[] {
    return [...this.#points.values()];
  }

  channelDistribution(): JsonObject[] {
    return [...this.#channels.values()];
  }
}
