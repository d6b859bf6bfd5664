/** The main thread's part of a server: jobs, index, streams and threads around a session. */
import type { BuiltPage } from "../../ui/build.ts";
import type { JsonObject } from "../contract/value.ts";
import type { RunIndex } from "../run/index/runs.ts";
import type { SessionOptions } from "../api/core.ts";
import type { Session } from "../api/session.ts";
import type { Counters } from "./counters.ts";
import type { EventHub } from "./jobs/events.ts";
import type { JobQueue } from "./jobs/queue.ts";
import type { Storage } from "./storage.ts";
import type { ThreadPool } from "./threads/pool.ts";

export interface Service {
  readonly session: Session;
  readonly options: ServiceOptions;
  readonly index: RunIndex;
  readonly storage: Storage;
  readonly jobs: JobQueue;
  readonly events: EventHub;
  readonly counters: Counters;
  readonly threads: ThreadPool;
  /** The dashboard, built at the first call. @throws SvcError `page_unavailable` */
  page(): Promise<BuiltPage>;
  /** The OpenAPI description of the routes. */
  openApi(): JsonObject;
  /** Whether new work is refused. */
  readonly draining: boolean;
}

/** Options of a server besides those of its session. */
export interface ServiceOptions extends SessionOptions {
  readOnly: boolean;
  /** Needed by every route that is not public; null for none. */
  token: string | null;
  /** Host headers besides those of the loopback, with or without a port. */
  allowHosts: readonly string[];
  /** Origins besides those of the allowed hosts. */
  allowOrigins: readonly string[];
  maxRunningJobs: number;
  /** Jobs of a kind that may be queued or running. */
  maxActiveJobs: number;
  /** Seconds after which a job is canceled; null for never. */
  jobTimeoutS: number | null;
  jsonBodyLimit: number;
  /** Milliseconds that reading a body may take. */
  bodyTimeoutMs: number;
  /** Library threads; with 0 the main thread does their work. */
  threads: number;
  /** Milliseconds after which the reply to a synchronous run is its job. */
  synchronousMs: number;
  /** Milliseconds between two comments of an idle event stream. */
  heartbeatMs: number;
}

export const DEFAULT_OPTIONS = {
  readOnly: false,
  token: null,
  allowHosts: [],
  allowOrigins: [],
  maxRunningJobs: 1,
  maxActiveJobs: 64,
  jobTimeoutS: null,
  jsonBodyLimit: 2 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  threads: 2,
  synchronousMs: 60_000,
  heartbeatMs: 15_000,
} as const satisfies Omit<ServiceOptions, keyof SessionOptions>;
