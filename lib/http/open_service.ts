/** Opens and closes the main thread's part of a server. */
import type { BuiltPage } from "../../ui/build.ts";
import type { openDatabase } from "../run/index/database.ts";
import { programFolder } from "../artifact/program.ts";
import type { Diagnostic } from "../contract/error.ts";
import { RunIndex } from "../run/index/runs.ts";
import { version } from "../run/version.ts";
import { Session } from "../api/session.ts";
import { Counters } from "./counters.ts";
import { EventHub } from "./jobs/events.ts";
import { JobQueue } from "./jobs/queue.ts";
import { type ReadMemory, ResourceGuard } from "./jobs/resource_guard.ts";
import { JobStore } from "./jobs/store.ts";
import type { Log } from "./log.ts";
import { openApi } from "./openapi.ts";
import { ROUTES } from "./routes/index.ts";
import type { Service, ServiceOptions } from "./service.ts";
import { Storage } from "./storage.ts";
import { MemoryRelease } from "./threads/memory.ts";
import { performCommand } from "./threads/perform.ts";
import { ThreadPool } from "./threads/pool.ts";

export interface OpenService extends Service, AsyncDisposable {
  /** Refuses new work, cancels running jobs, and waits for their end. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  close(): void;
}

/** How long the main thread works on the index before it serves other requests. */
const INDEX_SLICE_MS = 8;

/**
 * Opens a service. The caller ensures that the state directory has no other one.
 * @param machine replaces the readers of free memory and of the index
 * @throws SvcError what opening the index throws
 */
export function openService(
  options: ServiceOptions,
  log: Log = () => {},
  machine: { memory?: ReadMemory; openDatabase?: typeof openDatabase } = {},
): OpenService {
  const { projectRoot, stateDir, operations, adapters, grants, python, accelerator } = options;
  const logger = ({ severity: level, code, message }: Diagnostic) => log({ level, code, message });
  const session = new Session({ projectRoot, stateDir, operations, adapters, grants, python, accelerator, logger });
  const { workspace } = session, data = session.options();
  const storage = new Storage({ stateDir: workspace.stateDir, host: workspace.host, log, open: machine.openDatabase });
  const index = new RunIndex(workspace, storage, { sliceMs: INDEX_SLICE_MS });
  const store = new JobStore(storage);
  const events = new EventHub();
  const release = new MemoryRelease();
  const onThreadEnd = () => release.later();
  const jobs = new JobQueue({
    session: data,
    onThreadEnd,
    maxRunning: options.maxRunningJobs,
    maxActive: options.maxActiveJobs,
    timeoutS: options.jobTimeoutS,
    storage,
    store,
    hub: events,
    guard: new ResourceGuard(machine.memory),
  });
  const threads = new ThreadPool({
    size: options.threads,
    session: data,
    perform: (command) => performCommand(session, command),
  }, { onEnd: onThreadEnd });
  let page: Promise<BuiltPage> | undefined;
  const built = () => {
    const building = import("../../ui/build.ts").then(({ buildPage }) =>
      buildPage(workspace.stateDir, programFolder())
    );
    // A build that failed, as without a network, is repeated at the next call.
    building.catch(() => page = undefined);
    return building;
  };
  let closed = false;
  const close = () => {
    if (closed) return;
    closed = true;
    jobs.close();
    threads.close();
    session.close();
    release.close();
    if (store.pendingJobs > 0) {
      log({ level: "error", message: `Cannot write the records of ${store.pendingJobs} jobs` });
    }
    storage.close();
  };
  return {
    session,
    options,
    index,
    storage,
    jobs,
    events,
    counters: new Counters(),
    threads,
    page: () => page ??= built(),
    openApi: () => openApi(ROUTES, { version, tokenNeeded: options.token !== null }),
    get draining() {
      return jobs.draining;
    },
    drain: () => jobs.drain(),
    close,
    [Symbol.asyncDispose]: async () => {
      await jobs.drain();
      close();
    },
  };
}
