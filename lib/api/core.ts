/**
 * What the method groups of a session share: the workspace, and the registry, readiness, plan cache and worker threads of
 * one project, each loaded at its first use and kept.
 */
import { basename, join, resolve } from "../contract/paths.ts";
import type { LoadedAdapter } from "../adapter/load.ts";
import { type AdapterInspection, type AdapterSource, GRANTED_BY, permissionsText } from "../adapter/types.ts";
import { programFolder, programForm } from "../artifact/program.ts";
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { filePath } from "../contract/node_builtins.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { WorkerPool } from "../execute/pool.ts";
import type { ExecuteOptions, ExecuteOutcome } from "../execute/types.ts";
import type { OnnxAccelerator } from "../onnx/session.ts";
import type { PlanCache } from "../plan/cache.ts";
import type { Readiness } from "../plan/types.ts";
import { environmentValue, openWorkspace, type Workspace } from "../run/workspace.ts";

export interface SessionOptions {
  /** Relative paths in parameters start here; the current directory when left out. */
  projectRoot?: string;
  /** Where runs and results are kept; `$SVC_WORKSPACE`, else `.svc` under the project root, when left out. */
  stateDir?: string;
  /** Modules whose default export is an operation; workers load them, and the plan records their digest. */
  operations?: readonly (URL | string)[];
  /**
   * Folders of adapters, each with its grants in the form `net=<host[:port]>`, `read=<path>` or `env=<NAME>`. Their code
   * runs in sandboxes with these permissions and no others.
   */
  adapters?: readonly AdapterSource[];
  /** Grants by the name of the adapter, `<name>:net=<host[:port]>`. */
  grants?: readonly string[];
  /** The interpreter of Python adapters, a path or a name; `$SVC_PYTHON`, else what their manifests name, when left out. */
  python?: string;
  /**
   * Runs trained artifacts on the native runtime instead of in the sandbox. Results differ in the last digits of binary32,
   * so the plan records it; without the package or `--allow-ffi` the step fails with `runtime_unavailable`.
   */
  accelerator?: OnnxAccelerator;
  /** Idle worker threads end after this time, so that a script whose session stays open can exit; 500 when left out. */
  idleMs?: number;
  /** Receives warnings of loading, such as adapters whose folder changed since it was trusted, and grants before a run. */
  logger?(finding: Diagnostic): void;
}

/** The options of a session as plain data, which opens an equal session in another thread. */
export interface SessionData extends Omit<SessionOptions, "operations" | "logger"> {
  operations?: readonly string[];
}

/** What a list shows of an operation. */
export type OperationSummary = Pick<OperationContract, "id" | "name" | "input_kinds" | "output_kinds">;

/** Whether the id or the name of an operation contains a text. */
export function hasText(filter: string): (operation: OperationSummary) => boolean {
  const wanted = filter.toLowerCase();
  return ({ id, name }) => id.includes(wanted) || name.toLowerCase().includes(wanted);
}

export class SessionCore {
  readonly workspace: Workspace;
  readonly #options: SessionOptions;
  #registry?: Promise<Registry>;
  #readiness?: Promise<Readiness>;
  #planCache?: Promise<PlanCache>;
  #pool?: Promise<WorkerPool>;
  /** Adapters whose grants were not reported yet. */
  #unreported: LoadedAdapter[] = [];
  #users = 0;
  #idle?: ReturnType<typeof setTimeout>;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { projectRoot, stateDir, accelerator } = options;
    this.workspace = openWorkspace({ projectRoot, stateDir, onnxAccelerator: accelerator });
  }

  /** The options as plain data, the workspace resolved. */
  options(): SessionData {
    const { logger: _logger, operations = [], ...options } = this.#options;
    const { projectRoot, stateDir } = this.workspace, { python } = this;
    const chosen = python === undefined ? {} : { python };
    return { ...options, ...chosen, projectRoot, stateDir, operations: operations.map(String) };
  }

  /**
   * Opens the files of a program that was imported by URL. Where they cannot be fetched, the logger gets a warning, and what
   * needs them is refused by the plan.
   */
  async openProgram(): Promise<void> {
    if (programForm() !== "url") return;
    try {
      await (await import("../fetch/program.ts")).openProgram();
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      const { code, message, hint } = error;
      this.#options.logger?.(diagnostic(code, [], message, { hint, severity: "warning" }));
    }
  }

  /** The words that start this program elsewhere. */
  program(): string[] {
    if (Deno.build.standalone) return [Deno.execPath()];
    const main = new URL("../../cli.ts", import.meta.url);
    return [Deno.execPath(), "run", "-A", main.protocol === "file:" ? filePath(main) : main.href];
  }

  /** The options of the session as words of the command line. */
  globalWords(): string[] {
    const { projectRoot, stateDir, adapters = [], grants = [], python, operations = [], accelerator } = this.options();
    const each = (name: string, values: readonly string[]) => values.flatMap((value) => [name, value]);
    const path = (module: string) => module.startsWith("file:") ? filePath(module) : module;
    return [
      ...each("--project-root", [projectRoot!]),
      ...each("--workspace", [stateDir!]),
      ...each("--adapter", adapters.map(({ folder }) => resolve(folder))),
      ...each("--grant", grants),
      ...each("--python", python === undefined ? [] : [python]),
      ...each("--operation", operations.map(path)),
      ...each("--onnx-accelerator", accelerator === undefined ? [] : [accelerator]),
    ];
  }

  /**
   * The built-in operations, those of the option `operations`, and those of the adapters.
   * @param recipe whose operations are loaded together; compilation would load one after the other, each while all else waits
   */
  async registry(recipe?: Value): Promise<Registry> {
    const registry = await (this.#registry ??= this.#load());
    const steps = isObject(recipe) && Array.isArray(recipe.steps) ? recipe.steps : [];
    await registry.prepare(steps.map((step) => isObject(step) ? step.op : null));
    return registry;
  }

  /** Contracts of all operations; the code of adapters is not loaded for them. */
  async contracts(): Promise<OperationContract[]> {
    // Reading the generated contracts takes a fraction of the time that loading every built-in operation would.
    const [{ storedContracts }, { default: text }] = await Promise.all([
      import("../contract/stored_contracts.ts"),
      import("../../ops/contracts.json", { with: { type: "text" } }),
    ]);
    const builtIn = storedContracts(text);
    if (!this.#hasOwnOperations()) return builtIn;
    const registry = await (this.#registry ?? this.#load(false)), known = new Set(builtIn.map(({ id }) => id));
    const own = registry.ids().filter((id) => !known.has(id)).map((id) => (
      { ...registry.get(id).operation.contract, own: true as const }
    ));
    return [...builtIn, ...own].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** What a list shows of operations whose id or name contains a text. */
  async summaries(filter = ""): Promise<OperationSummary[]> {
    const all = this.#hasOwnOperations()
      ? await this.contracts()
      // Generated with the contracts, of which it is a twentieth.
      : (await import("../../ops/summaries.json", { with: { type: "json" } })).default.operations;
    return (all as OperationSummary[]).filter(hasText(filter));
  }

  /** JSON Schema of recipes with all operations. */
  async recipeSchema(): Promise<JsonObject> {
    const folder = programFolder();
    if (folder === null || this.#hasOwnOperations()) {
      return (await import("../plan/recipe_schema.ts")).recipeSchema(await this.registry());
    }
    // The generated file spares loading every operation, as the contracts do.
    const [{ parseJson }, text] = await Promise.all([
      import("../contract/json.ts"),
      Deno.readTextFile(join(folder, "recipes/recipe.schema.json")),
    ]);
    return parseJson(text) as JsonObject;
  }

  #hasOwnOperations(): boolean {
    const { operations = [], adapters = [] } = this.#options;
    return operations.length + adapters.length > 0;
  }

  readiness(): Promise<Readiness> {
    return this.#readiness ??= Promise.all([import("../execute/readiness.ts"), import("../contract/isolation.ts")])
      .then(async ([{ readinessOf }, { canRestrictWorkers }]) =>
        readinessOf({ ...this.workspace, sandbox: await canRestrictWorkers() })
      );
  }

  planCache(): Promise<PlanCache> {
    return this.#planCache ??= import("../plan/cache.ts").then(({ PlanCache }) => new PlanCache());
  }

  /** What a call that plans and executes needs. @param recipe as of {@link registry} */
  async means(recipe?: Value) {
    const sources = import("../plan/implementation_source.ts");
    const [registry, readiness, planCache] = await Promise.all([
      this.registry(recipe),
      this.readiness(),
      this.planCache(),
    ]);
    await (await sources).keepDigestsIn(this.workspace.stateDir);
    return { workspace: this.workspace, registry, readiness, planCache };
  }

  /** The adapters as they were given. */
  get adapterSources(): readonly AdapterSource[] {
    return this.#options.adapters ?? [];
  }

  /** Grants by the name of the adapter, as they were given. */
  get grants(): readonly string[] {
    return this.#options.grants ?? [];
  }

  /** The chosen interpreter: its absolute path, or a name on PATH. */
  get python(): string | undefined {
    const chosen = this.#options.python ?? environmentValue("SVC_PYTHON");
    return chosen === undefined || basename(chosen) === chosen ? chosen : resolve(chosen);
  }

  /** Inspects a folder with the grants that the session has for it. */
  async inspectAdapter(folder: string): Promise<AdapterInspection> {
    const { inspectAdapter } = await import("../adapter/inspect.ts");
    const { projectRoot } = this.workspace;
    const own = this.adapterSources.find((source) => source.folder === folder)?.grants ?? [];
    const inspection = inspectAdapter({ folder, grants: own }, { projectRoot });
    // Grants are given by name: those of other adapters do not concern this one.
    const named = this.grants.filter((grant) => grant.startsWith(`${inspection.name}:`));
    return named.length === 0 ? inspection : inspectAdapter({ folder, grants: [...own, ...named] }, { projectRoot });
  }

  /** Starts the first worker thread, so that it loads while a recipe is read and planned. */
  async warmUp(): Promise<void> {
    (await this.#threads()).warmUp();
    this.#release();
  }

  /** Calls with an executor on the worker threads of the session. */
  async withPool<T>(
    body: (execute: (options: ExecuteOptions) => Promise<ExecuteOutcome>, pool: WorkerPool) => Promise<T>,
  ): Promise<T> {
    // Counted before the threads load: a release meanwhile would end them in the middle of the run.
    this.#users++;
    try {
      const [pool, { executePlan }] = await Promise.all([this.#threads(), import("../execute/execute.ts")]);
      this.#reportGrants();
      return await body((execution) => executePlan({ ...execution, pool }), pool);
    } finally {
      this.#users--;
      this.#release();
    }
  }

  #reportGrants(): void {
    for (const { adapter, grants: { granted, source }, bindings } of this.#unreported.splice(0)) {
      if (source === "none") continue;
      const free = bindings.some(({ python }) => python?.confined === false);
      const may = free ? "has all rights of this program" : `may use ${permissionsText(granted)}`;
      const message = `${adapter.manifest.name} ${may}, by ${GRANTED_BY[source]}`;
      this.#options.logger?.(diagnostic("adapter_grants_active", [], message, { severity: "info" }));
    }
  }

  close(): void {
    this.#stay();
    const pool = this.#pool;
    this.#pool = undefined;
    pool?.then((threads) => threads.close());
  }

  #stay(): void {
    // The timers of Node load at their first use.
    if (this.#idle !== undefined) clearTimeout(this.#idle);
  }

  #threads(): Promise<WorkerPool> {
    this.#stay();
    return this.#pool ??= import("../execute/pool.ts").then(({ WorkerPool }) => new WorkerPool());
  }

  #release(): void {
    this.#stay();
    if (this.#users === 0) this.#idle = setTimeout(() => this.close(), this.#options.idleMs ?? 500);
  }

  async #load(loadModules = true): Promise<Registry> {
    const { createRegistry } = await import("../../ops/registry.ts");
    const { operations, adapters = [], grants = [], logger } = this.#options;
    const registry = await createRegistry(operations);
    if (adapters.length + grants.length > 0) {
      const { loadAdapters } = await import("../adapter/load.ts");
      const { projectRoot } = this.workspace;
      const { python } = this;
      const loaded = await loadAdapters(registry, adapters, { projectRoot, grants, python, loadModules });
      for (const finding of loaded.flatMap(({ warnings }) => warnings)) logger?.(finding);
      this.#unreported.push(...loaded);
    }
    return registry;
  }
}
