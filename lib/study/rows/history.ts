/**
 * The order of events in a ledger. A ledger is followed as the program writes it: replicate by replicate, each in the order
 * of the pack, with the stopping rule applied to the rows. Another history is refused, because its rows may have been
 * chosen, repeated or left out.
 *
 * Two histories are equally possible for rows that ran and for rows that a merge took from shards: the first have a start
 * each. A shard may end a recipe earlier, because it reads the rows of others.
 */
import { SvcError } from "../../contract/error.ts";
import { sameValue } from "../../contract/json.ts";
import type { Value } from "../../contract/value.ts";
import { isOfShard, type LedgerIndex, rowKey } from "./ledger.ts";
import { sampleOf } from "../pack/samples.ts";
import { stopReason } from "./stop.ts";
import { Tally } from "./tally.ts";
import type { LedgerEvent, PackMetric, ResultRow, StartFields, TerminalStatus } from "../pack/types.ts";

type Step = Generator<void, void, LedgerEvent>;
type EndFields = Extract<LedgerEvent, { kind: "attempt_ended" }>["fields"];

/** Follows a ledger while an index reads it. */
export class History {
  readonly #index: LedgerIndex;
  readonly #metrics: readonly PackMetric[];
  readonly #follow: Step;
  #event: LedgerEvent | null = null;
  #start!: StartFields;
  #replication: StartFields["replication"] = null;
  readonly #places = new Map<string, number>();
  #attemptId = "";
  readonly #ended: string[] = [];
  /** Runs that have started, by id, with the key of their row. */
  readonly #runs = new Map<string, string>();
  /** Whether the last attempt went on after a failed row; null where it had none. */
  wentOn: boolean | null = null;

  /** @param index that reads the ledger; its events are followed as it reads them */
  constructor(index: LedgerIndex, metrics: readonly PackMetric[]) {
    this.#index = index;
    this.#metrics = metrics;
    this.#follow = this.#attempts();
    this.#follow.next(undefined as never);
    index.onEvent = (event) => void this.#follow.next(event);
  }

  /** The ids of the attempts that ended before the last one, each once. */
  get earlierAttempts(): string[] {
    return this.#ended.slice(0, -1);
  }

  #refuse(why: string): never {
    throw new SvcError(
      "bundle_link_mismatch",
      `Cannot trust the attempt ledger: event ${this.#index.events + 1} ${why}`,
    );
  }

  /** The next event, which stays the next one until it is taken. */
  *#peek(): Generator<void, LedgerEvent, LedgerEvent> {
    this.#event ??= yield;
    const { kind, attempt_id } = this.#event;
    if (!kind.startsWith("attempt_") && attempt_id !== this.#attemptId) this.#refuse("is of another attempt");
    return this.#event;
  }

  *#take<Kind extends LedgerEvent["kind"]>(
    kind: Kind,
  ): Generator<void, Extract<LedgerEvent, { kind: Kind }>, LedgerEvent> {
    const event = yield* this.#peek();
    if (event.kind !== kind) return this.#refuse(`is ${event.kind} in the place of ${kind}`);
    this.#event = null;
    return event as Extract<LedgerEvent, { kind: Kind }>;
  }

  *#attempts(): Step {
    const first = yield* this.#take("attempt_started");
    this.#start = first.fields;
    this.#replication = first.fields.replication;
    first.fields.recipes.forEach(({ id }, place) => this.#places.set(id, place));
    yield* this.#attempt(first.attempt_id);
    for (;;) {
      const { fields, attempt_id } = yield* this.#take("attempt_resumed");
      const { completedCount } = this.#index;
      if (fields.reused_rows !== completedCount) this.#refuse(`reuses ${fields.reused_rows} of ${completedCount} rows`);
      this.#shrink(fields.replicates);
      yield* this.#attempt(attempt_id);
    }
  }

  /** A resumption may lower the number of replicates, not below those that have a row. */
  #shrink(replicates: number | undefined): void {
    if (replicates === undefined) return;
    const before = this.#replication, made = this.#index.replicateCount;
    if (this.#start.shard !== undefined || before === null || replicates >= before.replicates || replicates < made) {
      return this.#refuse(`changes the number of replicates to ${replicates}`);
    }
    this.#replication = { ...before, replicates };
  }

  *#attempt(id: string): Step {
    const attempt = new Attempt(this.#replication);
    this.#attemptId = id;
    this.wentOn = null;
    const finished = yield* this.#rows(attempt);
    yield* this.#peekBehindStarts(attempt);
    const { attempt_id, fields } = yield* this.#take("attempt_ended");
    // The end of an attempt that was killed before its result was written has the id in the result.
    if (attempt_id !== id && attempt_id !== this.#ended.at(-1)) this.#refuse("is of another attempt");
    if (this.#ended.at(-1) !== attempt_id) this.#ended.push(attempt_id);
    this.#checkEnd(fields, attempt, finished);
  }

  #checkEnd({ status, incomplete_reason: reason, error }: EndFields, attempt: Attempt, finished: boolean): void {
    const { failed, rejected } = attempt;
    const reached: TerminalStatus | null = failed !== null
      ? "failed"
      : !finished
      ? null
      : rejected
      ? "resource_rejected"
      : "completed";
    const reasons: Record<string, string[]> = {
      incomplete: ["interrupted"],
      canceled: failed === null ? ["canceled"] : [],
      failed: ["none", "canceled"],
    };
    const cut = status === "failed" && reason === undefined && !finished;
    if (cut) this.wentOn = false;
    const fits = !(cut && !attempt.failedLast) &&
      (status === "incomplete" || status === "canceled" || status === reached) &&
      (reasons[status] ?? ["none"]).includes(reason ?? "none");
    if (!fits) this.#refuse(`ends ${status}${reason === undefined ? "" : ` (${reason})`}, which its rows do not give`);
    const expected: Value = status === "failed" ? { ...failed! } : null;
    if (!sameValue(error === undefined ? null : { ...error }, expected)) this.#refuse("names another error");
  }

  /** Follows the rows of an attempt. @returns whether it has reached its end */
  *#rows(attempt: Attempt): Generator<void, boolean, LedgerEvent> {
    const { recipes, shard } = this.#start, replication = this.#replication;
    const isOwn = (place: number, replicate: number) =>
      shard === undefined || isOfShard(shard, replicate * recipes.length + place);
    for (const [place, { id, recipe_sha256 }] of recipes.entries()) {
      if (recipe_sha256 !== null || !isOwn(place, 0) || this.#index.has(id, 0)) continue;
      if ((yield* this.#row(attempt, id, 0, true)) === null) return false;
    }
    const most = replication?.replicates ?? 1;
    for (let replicate = 0; replicate < most; replicate++) {
      if (shard !== undefined && replicate > 0) yield* this.#endWave(attempt, replicate);
      const left = recipes.filter(({ id, recipe_sha256 }) => recipe_sha256 !== null && !attempt.stopped.has(id));
      if (left.length === 0) break;
      for (const [place, { id, recipe_sha256 }] of recipes.entries()) {
        if (recipe_sha256 === null || attempt.stopped.has(id) || !isOwn(place, replicate)) continue;
        const isReused = this.#index.statusOf(id, replicate) === "completed";
        const row = isReused ? this.#index.row(id, replicate) : yield* this.#row(attempt, id, replicate, false);
        if (row === null) return false;
        if (attempt.failedLast) this.wentOn = true;
        attempt.failedLast = row.status === "failed";
        if (!(yield* this.#judge(attempt, row))) return false;
      }
    }
    return true;
  }

  /** @returns null where the attempt ends */
  *#row(
    attempt: Attempt,
    id: string,
    replicate: number,
    skipped: boolean,
  ): Generator<void, ResultRow | null, LedgerEvent> {
    const before = yield* this.#peekBehindStarts(attempt);
    if (before.kind === "attempt_ended") return null;
    const { fields: { row } } = yield* this.#take("row_completed");
    if (row.id !== id || row.replicate !== replicate) {
      return this.#refuse(`is ${rowKey(row.id, row.replicate)} in the place of ${rowKey(id, replicate)}`);
    }
    if (skipped !== (row.status === "skipped")) this.#refuse(`has the status ${row.status}`);
    if (row.run_id !== null) {
      const started = this.#runs.get(row.run_id) === rowKey(id, replicate);
      attempt.taken ??= !started;
      if (started === attempt.taken) this.#refuse(`is of the run ${row.run_id}, which has not started`);
      this.#runs.delete(row.run_id);
    }
    return row;
  }

  /** The next event that is no start of a row. Rows start ahead of their place, and some are discarded. */
  *#peekBehindStarts(attempt: Attempt): Generator<void, LedgerEvent, LedgerEvent> {
    for (;;) {
      const event = yield* this.#peek();
      if (event.kind !== "row_started") return event;
      const { recipe_id, replicate, run_id } = event.fields, key = rowKey(recipe_id, replicate);
      const { recipes, shard } = this.#start, replication = this.#replication;
      const place = this.#places.get(recipe_id) ?? -1;
      const isRow = place >= 0 && recipes[place].recipe_sha256 !== null && replicate < (replication?.replicates ?? 1) &&
        (shard === undefined || isOfShard(shard, replicate * recipes.length + place));
      if (!isRow || this.#index.statusOf(recipe_id, replicate) === "completed") this.#refuse(`starts ${key}`);
      attempt.taken ??= false;
      if (attempt.taken || this.#runs.has(run_id)) this.#refuse(`starts the run ${run_id} again`);
      this.#runs.set(run_id, key);
      this.#event = null;
    }
  }

  /** Adds a row to the statistics. @returns false where the attempt ends before the stop that is due */
  *#judge(attempt: Attempt, row: ResultRow): Generator<void, boolean, LedgerEvent> {
    const { shard } = this.#start, replication = this.#replication;
    if (row.status === "failed") {
      attempt.failed ??= { code: row.error?.code ?? "", message: `${row.id}: ${row.error?.message ?? ""}` };
    }
    if (row.status === "rejected_resource_budget") attempt.rejected = true;
    if (replication === null || replication.stop_metric === null || shard !== undefined) return true;
    const derived = attempt.stopReasonOf(row, this.#metrics);
    if (derived === null && !attempt.hasOldRate(row.id)) return true;
    const next = yield* this.#peekBehindStarts(attempt);
    // The half-width of an older clustered rate does not follow from its rows.
    const reason = derived ?? (next.kind === "recipe_stopped" && next.fields.recipe_id === row.id ? "halfwidth" : null);
    if (reason === null) return true;
    if (next.kind === "attempt_ended") return false;
    const { fields } = yield* this.#take("recipe_stopped");
    const due = { recipe_id: row.id, stop_reason: reason, replicates: row.replicate + 1 };
    if (!sameValue({ ...fields }, due)) this.#refuse(`is not the stop of ${row.id} that its rows give`);
    attempt.stopped.add(row.id);
    return true;
  }

  /** Recipes that a shard ends before a replicate: the rows of other shards are not here, so the reason is not derived. */
  *#endWave(attempt: Attempt, replicate: number): Step {
    for (;;) {
      const next = yield* this.#peekBehindStarts(attempt);
      if (next.kind !== "recipe_stopped") return;
      const { recipe_id, replicates } = next.fields;
      const known = this.#places.has(recipe_id) && !attempt.stopped.has(recipe_id);
      const adaptive = this.#replication !== null && this.#replication.stop_metric !== null;
      // Without own rows until a later one, it is the stop before that.
      if (known && adaptive && replicates > replicate) return;
      if (!known || !adaptive || replicates < replicate) this.#refuse(`stops ${recipe_id} after ${replicates}`);
      attempt.stopped.add(recipe_id);
      this.#event = null;
    }
  }
}

/** What one process has made so far. */
class Attempt {
  readonly stopped = new Set<string>();
  failed: { code: string; message: string } | null = null;
  /** Whether the last row failed. */
  failedLast = false;
  rejected = false;
  /** Whether rows come from shards, without a start; null before the first row. */
  taken: boolean | null = null;
  readonly #tried = new Map<string, { made: number; tally: Tally }>();

  constructor(private readonly replication: StartFields["replication"]) {}

  /** Whether a recipe may stop by the half-width of a rate whose failed units are not known. */
  hasOldRate(recipe: string): boolean {
    const rate = this.#tried.get(recipe)?.tally.rateOfAll ?? null;
    return this.replication!.until_halfwidth !== null && rate !== null && rate.failed_units === null;
  }

  stopReasonOf(row: ResultRow, metrics: readonly PackMetric[]) {
    const { replication } = this;
    let tried = this.#tried.get(row.id);
    if (tried === undefined) {
      this.#tried.set(row.id, tried = { made: 0, tally: new Tally(replication!.stop_metric!) });
    }
    tried.made++;
    const sample = sampleOf(row, metrics);
    if (sample !== null) tried.tally.add(sample);
    return stopReason(tried.tally, tried.made, replication!);
  }
}
