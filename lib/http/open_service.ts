/** Opens and closes what a server works with. */
import { openDatabase } from "../run/index/database.ts";
import { RunIndex } from "../run/index/runs.ts";
import type { BuiltPage } from "../../ui/build.ts";
import type { Log } from "./app.ts";
import { Counters } from "./counters.ts";
import { EventHub } from "./jobs/events.ts";
import { JobQueue } from "./jobs/queue.ts";
import { type ReadMemory, ResourceGuard } from "./jobs/resource_guard.ts";
import { JobStore } from "./jobs/store.ts";
import { openLibrary, type Service, type ServiceOptions } from "./service.ts";
import { ThreadPool } from "./threads/pool.ts";

export interface OpenService extends Service, AsyncDisposable {
  /** Takes no new work, cancels what runs, and waits for its end. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  close(): void;
}

/** How long the main thread works on the index before it answers somebody. */
const INDEX_SLICE_MS = 8;

/**
 * Opens a service. The caller sees to it that nobody else has one on the same state directory.
 *
 * @param memory tells how much there is and how much is free; the system's own when left out
 * @throws SvcError what opening the index throws
 */
export function openService(options: ServiceOptions, log: Log = () => {}, memory?: ReadMemory): OpenService {
  const library = openLibrary(options);
  const { workspace, adapters } = library;
  const places = { projectRoot: workspace.projectRoot, stateDir: workspace.stateDir, adapters };
  const { database, damaged } = openDatabase(workspace.stateDir, { check: true });
  if (damaged !== null) {
    log({ level: "warning", message: "The index was damaged and is made anew", put_aside: damaged });
  }
  // What must not be lost is written with more care, transaction by transaction.
  database.exec("PRAGMA synchronous = NORMAL");
  const index = new RunIndex(workspace, database, { sliceMs: INDEX_SLICE_MS });
  const events = new EventHub();
  const jobs = new JobQueue({
    library: places,
    maxRunning: options.maxRunningJobs,
    timeoutS: options.jobTimeoutS,
    store: new JobStore(database),
    hub: events,
    guard: new ResourceGuard(memory),
  });
  const threads = new ThreadPool(options.threads, places);
  let page: Promise<BuiltPage> | undefined;
  const built = (stateDir: string) => {
    const building = import("../../ui/build.ts").then(({ buildPage }) => buildPage(stateDir));
    // What failed once, for want of a network say, is tried again at the next call.
    building.catch(() => page = undefined);
    return building;
  };
  let closed = false;
  const close = () => {
    if (closed) return;
    closed = true;
    jobs.close();
    threads.close();
    database.close();
  };
  return {
    ...library,
    options,
    index,
    jobs,
    events,
    counters: new Counters(),
    threads,
    page: () => page ??= built(workspace.stateDir),
    get draining() {
      return jobs.draining;
    },
    async drain() {
      await jobs.drain();
    },
    close,
    [Symbol.asyncDispose]: async () => {
      await jobs.drain();
      close();
    },
  };
}
