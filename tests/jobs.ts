/**
 * Number of test files that run at a time. Tests wait for servers, browsers and disks: one file a processor leaves processors
 * idle for a part of the time. So one more file starts while half a processor is idle, where memory for it is free.
 */
import { cpus } from "node:os";

/** Memory of a file with its programs. */
const FILE_BYTES = 3 * 2 ** 30;
/** Processors that are idle before one more file starts. */
const IDLE_CORES = 0.5;
/** Time over which idle processors are counted; a file that has started uses its processor by then. */
const WINDOW_MS = 1000;

/** Times of all processors in ms. */
function times(): { idle: number; total: number } {
  const all = cpus().map(({ times }) => times);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return { idle: sum(all.map(({ idle }) => idle)), total: sum(all.flatMap((one) => Object.values(one))) };
}

export class FilesAtATime {
  readonly #cores = navigator.hardwareConcurrency;
  #sinceMs = performance.now();
  #before = times();

  /** @param fixed this number, whatever the machine does */
  constructor(readonly fixed?: number) {}

  /** Whether one more file may start beside those that run. */
  mayStart(running: number): boolean {
    if (this.fixed !== undefined) return running < this.fixed;
    if (running < this.#cores) return true;
    return running < 3 * this.#cores && this.#idleCores() >= IDLE_CORES &&
      Deno.systemMemoryInfo().available >= FILE_BYTES;
  }

  /** Processors that were idle in the last window; none within it. */
  #idleCores(): number {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs < WINDOW_MS) return 0;
    const { idle, total } = times(), before = this.#before;
    [this.#sinceMs, this.#before] = [nowMs, { idle, total }];
    return total > before.total ? this.#cores * (idle - before.idle) / (total - before.total) : 0;
  }

  toString(): string {
    return this.fixed === undefined ? `${this.#cores} or more, while processors are idle,` : String(this.fixed);
  }
}
