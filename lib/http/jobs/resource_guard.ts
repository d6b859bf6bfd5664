/** Watches free memory while jobs run: below the reserve they are asked to stop before the machine begins to swap. */
import { memoryReserve } from "../../run/resources.ts";

export const RESERVE_INTERVAL_S = 0.5;

/** Total and available bytes; throws where they must not be read. */
export type ReadMemory = () => { total: number; available: number };

export class ResourceGuard {
  /** max(2 GiB, 10 % of memory); null where memory must not be read. */
  readonly reserveBytes: number | null;
  onExhausted: () => void = () => {};
  readonly #available: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(read: ReadMemory = () => Deno.systemMemoryInfo()) {
    let total: number | null = null;
    try {
      total = read().total;
    } catch {
      // Without the permission there is no guard: the snapshot then has the reserve null.
    }
    this.reserveBytes = total === null ? null : memoryReserve(total);
    this.#available = () => read().available;
  }

  start(): void {
    const reserve = this.reserveBytes;
    if (reserve === null || this.#timer !== undefined) return;
    this.#timer = setInterval(() => {
      if (this.#available() < reserve) this.onExhausted();
    }, RESERVE_INTERVAL_S * 1000);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
