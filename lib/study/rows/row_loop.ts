/**
 * The loop of rows: of a matrix, whose rows are its variants, and of a pack, whose rows are its recipes in each replicate. Rows
 * start in their order, some side by side. Those of a matrix end by themselves. Those of a pack are taken in their order, so
 * that the result is that of a sequential run; started rows that the order never reaches are discarded.
 */
import { createCancellation } from "../../execute/cancellation.ts";
import type { CancellationToken } from "../../execute/types.ts";

/** How rows run. */
export interface RowsOptions {
  /** Rows that run side by side, 1 to 32; default 1. The bytes of every artifact and the numbers of the result are the same. */
  parallelPoints?: number;
  /** Whether to continue with the next row after a failure; default false. */
  continueOnError?: boolean;
}

/** A row that can start. */
export interface StartableRow<Made> {
  key: string;
  run(place: Place): Promise<Made>;
}

/** The place of a row among those that run at once. */
export interface Place {
  /** Of this row; it is set with that of all rows. */
  cancellation: CancellationToken;
  /** Settles when the row before in this place has ended. */
  before: Promise<void>;
  /** Frees the place for the next row before this one ends. */
  free(): void;
}

export class RowLoop<Made, Row extends StartableRow<Made> = StartableRow<Made>> {
  readonly #cancellation: CancellationToken;
  readonly #started = new Map<string, { row: Row; made: Promise<Made>; cancellation: CancellationToken }>();
  readonly #most: number;
  /** Free places: the end of the last row in each. */
  readonly #free: Promise<void>[];
  #following: Iterator<Row> = [].values();
  /** Whether rows end without being taken. */
  #endAlone = false;
  #defect: { reason: unknown } | undefined;

  /**
   * @param parallel rows that run side by side
   * @param most started rows that have not ended, or were not taken yet
   */
  constructor(parallel: number, most: number, cancellation: CancellationToken) {
    this.#cancellation = cancellation;
    this.#most = most;
    this.#free = Array.from({ length: parallel }, () => Promise.resolve());
  }

  /** Runs rows, each of which ends by itself. @throws the first defect, once all started rows have ended */
  async runAll(rows: Iterator<Row>): Promise<void> {
    this.#endAlone = true;
    this.#following = rows;
    if (!this.#cancellation.isCancelled) this.#fill();
    while (this.#started.size > 0) await Promise.allSettled(this.#started.values().map(({ made }) => made));
    if (this.#defect !== undefined) throw this.#defect.reason;
  }

  /** Starts no more rows. */
  stop(): void {
    this.#following = [].values();
  }

  /** Waits for the row that is the first of `rows`; the others start while there are places. */
  async take(key: string, rows: Iterator<Row>): Promise<Made> {
    this.#following = rows;
    this.#fill();
    const made = await this.#started.get(key)!.made;
    this.#started.delete(key);
    // Which rows follow is known after the end of this one.
    this.stop();
    return made;
  }

  /** Cancels started rows that are not taken, and waits for their ends. @returns them */
  async discard(isUnwanted: (row: Row) => boolean = () => true): Promise<Row[]> {
    const discarded = [...this.#started.values()].filter(({ row }) => isUnwanted(row));
    for (const { cancellation } of discarded) cancellation.cancel();
    await Promise.allSettled(discarded.map(({ made }) => made));
    for (const { row } of discarded) this.#started.delete(row.key);
    return discarded.map(({ row }) => row);
  }

  #fill(): void {
    while (this.#free.length > 0 && this.#started.size < this.#most) {
      const { done, value: row } = this.#following.next();
      if (done) return;
      if (!this.#started.has(row.key)) this.#start(row, this.#free.shift()!);
    }
  }

  #start(row: Row, before: Promise<void>): void {
    const cancellation = createCancellation();
    const forget = this.#cancellation.onCancel(() => cancellation.cancel());
    let isFree = false;
    const free = () => {
      if (!isFree) this.#free.push(ended);
      isFree = true;
      if (!cancellation.isCancelled) this.#fill();
    };
    const made = Promise.resolve().then(() => row.run({ cancellation, before, free })).catch((reason) => {
      this.#defect ??= { reason };
      this.stop();
      throw reason;
    }).finally(() => {
      forget();
      if (this.#endAlone) this.#started.delete(row.key);
      free();
    });
    const ended = made.then(() => {}, () => {});
    this.#started.set(row.key, { row, made, cancellation });
  }
}
