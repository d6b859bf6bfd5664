/** What handlers work with: the library of one workspace, and on the main thread the jobs and the index besides. */
import type { Registry } from "../contract/registry.ts";
import { readinessOf } from "../execute/readiness.ts";
import { PlanCache } from "../plan/cache.ts";
import type { Readiness } from "../plan/types.ts";
import type { RunIndex } from "../run/index/runs.ts";
import { openWorkspace, type Workspace } from "../run/workspace.ts";
import type { BuiltPage } from "../../ui/build.ts";
import type { JobQueue } from "./jobs/queue.ts";
import type { EventHub } from "./jobs/events.ts";
import type { Counters } from "./counters.ts";
import type { ThreadPool } from "./threads/pool.ts";

/** What a library is opened from; crosses to other threads. */
export interface LibraryOptions {
  /** Absolute. */
  projectRoot: string;
  /** Absolute. */
  stateDir: string;
  /** Folders whose operations are registered besides the built-in ones, and what they are granted. */
  adapters?: { folders: readonly string[]; grants: readonly string[] };
}

/** The library calls of one workspace, the same in every thread. */
export interface Library {
  readonly workspace: Workspace;
  readonly readiness: Readiness;
  readonly planCache: PlanCache;
  readonly adapters: { folders: readonly string[]; grants: readonly string[] };
  /** Made at the first call. */
  registry(): Promise<Registry>;
}

const NO_ADAPTERS = { folders: [], grants: [] };

export function openLibrary({ projectRoot, stateDir, adapters = NO_ADAPTERS }: LibraryOptions): Library {
  const workspace = openWorkspace({ projectRoot, stateDir });
  let registry: Promise<Registry> | undefined;
  return {
    workspace,
    readiness: readinessOf(workspace),
    planCache: new PlanCache(),
    adapters,
    registry: () => registry ??= buildRegistry(projectRoot, adapters),
  };
}

async function buildRegistry(
  projectRoot: string,
  { folders, grants }: NonNullable<LibraryOptions["adapters"]>,
): Promise<Registry> {
  const { createRegistry } = await import("../../ops/registry.ts");
  const registry = await createRegistry();
  if (folders.length + grants.length > 0) {
    const { loadAdapters } = await import("../adapter/load.ts");
    await loadAdapters(registry, folders.map((folder) => ({ folder })), { projectRoot, grants });
  }
  return registry;
}

/** What the main thread has besides. */
export interface Service extends Library {
  readonly options: ServiceOptions;
  readonly index: RunIndex;
  readonly jobs: JobQueue;
  readonly events: EventHub;
  readonly counters: Counters;
  readonly threads: ThreadPool;
  /** The dashboard, built at the first call. @throws SvcError `page_unavailable` */
  page(): Promise<BuiltPage>;
  /** Whether no new work is taken any more. */
  readonly draining: boolean;
}

/** What the faces choose. */
export interface ServiceOptions extends LibraryOptions {
  readOnly: boolean;
  /** Of all requests to `/api` and `/metrics`; null where none is asked for. */
  token: string | null;
  /** Host headers besides those of the loopback, with or without a port. */
  allowHosts: readonly string[];
  /** Origins besides those of the allowed hosts. */
  allowOrigins: readonly string[];
  maxRunningJobs: number;
  /** Seconds after which a job is asked to stop; null for never. */
  jobTimeoutS: number | null;
  jsonBodyLimit: number;
  /** Milliseconds that reading a body may take. */
  bodyTimeoutMs: number;
  /** Threads for what computes long; 0 computes on the main thread. */
  threads: number;
  /** Milliseconds after which a synchronous run answers with its job instead. */
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
  jobTimeoutS: null,
  jsonBodyLimit: 2 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  threads: 2,
  synchronousMs: 60_000,
  heartbeatMs: 15_000,
} as const satisfies Omit<ServiceOptions, keyof LibraryOptions>;
