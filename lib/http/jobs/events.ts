/** The events of all jobs in one stream: the last ones kept, new ones handed to whoever listens. */
import type { JobEvent } from "./types.ts";

/** Events kept for those who come back. */
const KEPT_EVENTS = 4096;

export class EventHub {
  readonly #ring: JobEvent[] = [];
  readonly #listeners = new Set<(event: JobEvent) => void>();
  /** Streams that are open. */
  streams = 0;
  /** Id of the latest event that left the ring, 0 before. */
  #droppedId = 0;

  publish(event: JobEvent): void {
    this.keep(event);
    for (const listener of [...this.#listeners]) listener(event);
  }

  /** Keeps an event without telling anybody. */
  keep(event: JobEvent): void {
    this.#ring.push(event);
    if (this.#ring.length > KEPT_EVENTS) this.#droppedId = this.#ring.shift()!.id;
  }

  /** The kept events after an id, and the oldest kept one's id when some before it are gone. */
  after(id: number): { events: JobEvent[]; oldest: number | null } {
    const events = this.#ring.filter((event) => event.id > id);
    const truncated = id < this.#droppedId;
    return { events, oldest: truncated ? this.#ring[0]?.id ?? id + 1 : null };
  }

  /** Id of the latest event, 0 before the first. */
  get latestId(): number {
    return this.#ring.at(-1)?.id ?? 0;
  }

  subscribe(listener: (event: JobEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
