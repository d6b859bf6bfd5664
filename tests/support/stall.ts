/**
 * Tells a stalled program from a slow one. Time alone does not: on a loaded machine everything is slow. A program stalls
 * when for some minutes it made no progress, used almost no processor time, and waited for no processor and no disk.
 */
import type { Load } from "./process_tree.ts";

/** Share of one processor that open browsers and servers use while nothing happens is below this. */
const IDLE_SHARE = 0.05;
/** Threads are caught at a short wake-up in fewer samples than this. */
const WAKING_SHARE = 0.2;

export class Stall {
  /** Time between samples: longer gaps say that the watcher itself did not run, and count as this. */
  readonly intervalS: number;
  #clockS = 0;
  #cpuS = 0;
  #last: Load | null = null;
  #progress = 0;
  #samples: { clockS: number; cpuS: number; wants: boolean }[] = [];

  constructor(readonly limitS: number) {
    this.intervalS = Math.min(5, limitS / 20);
  }

  /** Takes a sample; `progress` is any number that changes with progress. Returns whether the program stalls. */
  sample(elapsedS: number, load: Load | null, progress: number): boolean {
    // A system that does not tell leaves the limit of the file.
    if (load === null) return false;
    this.#clockS += Math.min(elapsedS, 2 * this.intervalS);
    this.#cpuS += Math.max(0, load.cpuS - (this.#last?.cpuS ?? 0));
    this.#last = load;
    if (progress !== this.#progress) this.#samples = [];
    this.#progress = progress;
    this.#samples.push({ clockS: this.#clockS, cpuS: this.#cpuS, wants: load.wants });
    while (this.#samples.length > 1 && this.#samples[1].clockS <= this.#clockS - this.limitS) this.#samples.shift();
    const [first] = this.#samples;
    return this.#clockS - first.clockS >= this.limitS && this.#cpuS - first.cpuS < IDLE_SHARE * this.limitS &&
      this.#samples.filter(({ wants }) => wants).length < WAKING_SHARE * this.#samples.length;
  }
}
