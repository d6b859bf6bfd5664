/**
 * Jobs and events in the index database. A job that was acknowledged is on the disk; its events follow within a moment, and
 * all that came before its end are there with it.
 *
 * Records that cannot be written are kept in memory: records of jobs without limit (few are remembered), the latest events, and
 * one event `truncated` in place of the older ones of each job.
 */
import { canonicalJson, parseJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { DatabaseSync } from "../../run/index/database.ts";
import type { Storage } from "../storage.ts";
import type { JobDocument, JobEvent } from "./types.ts";

/** Events are written this often. */
const FLUSH_MS = 50;
/** Events that wait to be written, at most. Exported for tests. */
export const MAX_PENDING_EVENTS = 4096;
/** Left out at each start, so that no id is given twice though the last events were never written. */
const ID_GAP = 1_000_000;

/** A job as it is stored. */
export interface StoredJob {
  readonly document: JobDocument;
  /** Canonical JSON of the request; null for an ended job of an earlier version. */
  readonly request: string | null;
  readonly events: readonly JobEvent[];
}

export class JobStore {
  readonly #storage: Storage;
  readonly #jobs = new Map<string, StoredJob>();
  readonly #events: JobEvent[] = [];
  readonly #truncated = new Map<string, JobEvent>();
  readonly #removed = new Set<string>();
  readonly #trimmed = new Map<string, number>();
  #waiting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #nextId: number;
  #generation: number;
  /** All remembered jobs, for a database that has none of them. */
  all: () => Iterable<StoredJob> = () => [];

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#generation = storage.generation;
    const latest = storage.database.prepare(
      `SELECT max(coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'event_ceiling'), 0),
        coalesce((SELECT max(id) FROM job_events), 0)) AS id`,
    ).get() as { id: number };
    this.#nextId = latest.id === 0 ? 1 : latest.id + ID_GAP;
    storage.onProbe = () => {
      // Something is always written: the point of a probe.
      this.#waiting = true;
      this.commit(true);
    };
  }

  /** An id above all that were ever given. */
  nextEventId(): number {
    return this.#nextId++;
  }

  /** Records of jobs that wait to be written. */
  get pendingJobs(): number {
    return this.#jobs.size;
  }

  /** All jobs, oldest first, each with its events. */
  load(): StoredJob[] {
    const { database } = this.#storage;
    const events = new Map<string, JobEvent[]>();
    for (const { document } of database.prepare("SELECT document FROM job_events ORDER BY id").iterate()) {
      const event = parseJson(String(document)) as JobEvent;
      const list = events.get(event.job_id) ?? [];
      list.push(event);
      events.set(event.job_id, list);
    }
    const rows = database.prepare("SELECT document, request FROM jobs ORDER BY created_at_utc, job_id").all();
    return rows.map(({ document, request }) => {
      const job = parseJson(String(document)) as JobDocument;
      return {
        document: job,
        request: request === null ? null : String(request),
        events: events.get(job.job_id) ?? [],
      };
    });
  }

  /** Takes an event; it is written soon. */
  addEvent(event: JobEvent): void {
    if (this.#events.length >= MAX_PENDING_EVENTS && this.#storage.fault === null) this.save();
    this.#events.push(event);
    if (this.#events.length > MAX_PENDING_EVENTS) this.#drop(this.#events.shift()!);
    this.#later();
  }

  /** Takes a job as it is when it is written, which is soon. */
  putJob(job: StoredJob): void {
    this.#jobs.set(job.document.job_id, job);
    this.#later();
  }

  /** Forgets jobs and their events. */
  remove(jobIds: Iterable<string>): void {
    for (const id of jobIds) {
      this.#removed.add(id);
      this.#jobs.delete(id);
      this.#truncated.delete(id);
      this.#trimmed.delete(id);
    }
    this.#events.splice(0, Infinity, ...this.#events.filter(({ job_id }) => !this.#removed.has(job_id)));
    this.#later();
  }

  /** Forgets a job's events before a sequence number. */
  trim(jobId: string, oldestSeq: number): void {
    this.#trimmed.set(jobId, oldestSeq);
    this.#later();
  }

  /**
   * Writes the waiting records.
   * @param durable whether it is on the disk when this returns
   * @throws SvcError `storage_unavailable`; all of it waits on
   */
  commit(durable = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#waiting && this.#generation === this.#storage.generation) return;
    this.#storage.write((database) => this.#write(database), durable);
    this.#waiting = false;
    this.#generation = this.#storage.generation;
    this.#events.length = 0;
    for (const items of [this.#jobs, this.#truncated, this.#removed, this.#trimmed]) items.clear();
  }

  /** As {@link commit}, but a failure of storage leaves all of it to a later attempt. @returns whether it is written */
  save(durable = false): boolean {
    try {
      this.commit(durable);
    } catch (error) {
      if (error !== this.#storage.fault) throw error;
      return false;
    }
    return true;
  }

  /** While storage is degraded its probe writes. */
  #later(): void {
    this.#waiting = true;
    if (this.#storage.fault === null) this.#timer ??= setTimeout(() => this.save(), FLUSH_MS);
  }

  /** The notice takes id and sequence number of the latest event that it stands for. */
  #drop({ id, seq, job_id, time }: JobEvent): void {
    const dropped = 1 + Number(this.#truncated.get(job_id)?.dropped ?? 0);
    const message = `${dropped} events could not be stored`;
    const fields: JsonObject = { dropped, oldest_seq: seq + 1 };
    this.#truncated.set(job_id, { ...fields, id, seq, job_id, time, kind: "truncated", level: "warning", message });
  }

  /** Inside a transaction. A database that was opened since the last one gets all there is. */
  #write(database: DatabaseSync): void {
    const whole = this.#generation !== this.#storage.generation;
    const jobs = whole ? [...this.all()] : [...this.#jobs.values()];
    const events = whole ? jobs.flatMap((job) => job.events) : [...this.#truncated.values(), ...this.#events];
    const remove = database.prepare("DELETE FROM jobs WHERE job_id = ?");
    const trim = database.prepare("DELETE FROM job_events WHERE job_id = ? AND seq < ?");
    for (const id of this.#removed) {
      remove.run(id);
      trim.run(id, Infinity);
    }
    for (const [id, seq] of this.#trimmed) trim.run(id, seq);
    const event = database.prepare("INSERT OR REPLACE INTO job_events VALUES (?, ?, ?, ?)");
    for (const item of events) event.run(item.id, item.job_id, item.seq, canonicalJson(item));
    const job = database.prepare(
      "INSERT OR REPLACE INTO jobs (job_id, kind, state, created_at_utc, document, request) VALUES (?, ?, ?, ?, ?, ?)",
    );
    for (const { document, request } of jobs) {
      const { job_id, kind, state, created_at_utc } = document;
      job.run(job_id, kind, state, created_at_utc, canonicalJson(document), request);
    }
    database.prepare("INSERT OR REPLACE INTO meta VALUES ('event_ceiling', ?)").run(String(this.#nextId));
  }
}
