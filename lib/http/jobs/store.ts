/**
 * Jobs and events in the index database. A job that was acknowledged is on the disk; its events follow within a moment, and
 * all that came before its end are there with it.
 */
import { canonicalJson, parseJson } from "../../contract/json.ts";
import { type DatabaseSync, transaction } from "../../run/index/database.ts";
import type { JobDocument, JobEvent, JobKind } from "./types.ts";

/** Events are written this often. */
const FLUSH_MS = 50;
/** Event ids are set aside in blocks, so that none is given twice though the last events were never written. */
const ID_BLOCK = 1000;

export class JobStore {
  readonly #database: DatabaseSync;
  readonly #events: JobEvent[] = [];
  readonly #jobs = new Map<string, JobDocument>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #nextId: number;
  #ceiling: number;

  constructor(database: DatabaseSync) {
    this.#database = database;
    const row = database.prepare("SELECT value FROM meta WHERE key = 'event_ceiling'").get() as
      | { value: string }
      | undefined;
    this.#nextId = this.#ceiling = Number(row?.value ?? 1);
  }

  /** An id above all that were ever given. */
  nextEventId(): number {
    if (this.#nextId >= this.#ceiling) {
      const ceiling = this.#nextId + ID_BLOCK;
      this.#durably(() =>
        this.#database.prepare("INSERT OR REPLACE INTO meta VALUES ('event_ceiling', ?)").run(String(ceiling))
      );
      this.#ceiling = ceiling;
    }
    return this.#nextId++;
  }

  /** All jobs, oldest first, each with its events. */
  load(): { job: JobDocument; events: JobEvent[] }[] {
    const events = new Map<string, JobEvent[]>();
    for (const { document } of this.#database.prepare("SELECT document FROM job_events ORDER BY id").iterate()) {
      const event = parseJson(String(document)) as JobEvent;
      const list = events.get(event.job_id) ?? [];
      list.push(event);
      events.set(event.job_id, list);
    }
    const rows = this.#database.prepare("SELECT document FROM jobs ORDER BY created_at_utc, job_id").all();
    return rows.map(({ document }) => {
      const job = parseJson(String(document)) as JobDocument;
      return { job, events: events.get(job.job_id) ?? [] };
    });
  }

  /** Takes an event; it is written soon. */
  addEvent(event: JobEvent): void {
    this.#events.push(event);
    this.#later();
  }

  /** Takes a job as it is now; it is written soon, or before this returns when it must not be lost. */
  putJob(job: JobDocument, durable = false): void {
    this.#jobs.set(job.job_id, job);
    if (durable) this.#durably(() => this.#write());
    else this.#later();
  }

  /** Forgets jobs and their events. */
  remove(jobIds: readonly string[]): void {
    transaction(this.#database, () => {
      for (const id of jobIds) {
        this.#jobs.delete(id);
        this.#database.prepare("DELETE FROM jobs WHERE job_id = ?").run(id);
        this.#database.prepare("DELETE FROM job_events WHERE job_id = ?").run(id);
      }
    });
  }

  /** Forgets a job's events before a sequence number. */
  trim(jobId: string, oldestSeq: number): void {
    this.#database.prepare("DELETE FROM job_events WHERE job_id = ? AND seq < ?").run(jobId, oldestSeq);
  }

  /** Ids of jobs of a kind, oldest first. */
  idsOf(kind: JobKind): string[] {
    return this.#database.prepare("SELECT job_id FROM jobs WHERE kind = ? ORDER BY created_at_utc, job_id").all(kind)
      .map(({ job_id }) => String(job_id));
  }

  /** Writes what is still to be written. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#events.length === 0 && this.#jobs.size === 0) return;
    transaction(this.#database, () => this.#write());
  }

  #later(): void {
    this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  /** Inside a transaction. */
  #write(): void {
    const event = this.#database.prepare("INSERT OR REPLACE INTO job_events VALUES (?, ?, ?, ?)");
    for (const item of this.#events.splice(0)) event.run(item.id, item.job_id, item.seq, canonicalJson(item));
    const job = this.#database.prepare("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?)");
    for (const item of this.#jobs.values()) {
      job.run(item.job_id, item.kind, item.state, item.created_at_utc, canonicalJson(item));
    }
    this.#jobs.clear();
  }

  /** A transaction that is on the disk when it returns. */
  #durably(body: () => void): void {
    this.#database.exec("PRAGMA synchronous = FULL");
    try {
      transaction(this.#database, body);
    } finally {
      this.#database.exec("PRAGMA synchronous = NORMAL");
    }
  }
}
