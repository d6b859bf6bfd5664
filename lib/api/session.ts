/**
 * The library session: one object that has every capability of the program. The command line, the HTTP handlers and scripts
 * call it and nothing below it. Capabilities load at their first use.
 */
import { SessionCore, type SessionData, type SessionOptions } from "./core.ts";
import { groupOf } from "./group.ts";
import type { AnyCall } from "./call.ts";

/**
 * The methods of a project in groups; {@link open} makes one.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { open } from "../../mod.ts";
 *
 * await using svc = await open();
 * const { templates } = await svc.templates.list();
 * assert.ok(templates.some(({ id, available }) => available && id === "semantic_comm.image_reconstruction.default"));
 * const { result: _, ...none } = await svc.benchmarks.result("nothing").catch(({ code }) => ({ code, result: null }));
 * assert.deepEqual(none, { code: "result_not_found" });
 * ```
 */
export class Session implements AsyncDisposable {
  readonly #core: SessionCore;
  readonly recipes = groupOf(() => this.#core, "recipes", async () => (await import("./calls/recipes.ts")).recipes);
  readonly runs = groupOf(() => this.#core, "runs", async () => (await import("./calls/runs.ts")).runs);
  readonly benchmarks = groupOf(
    () => this.#core,
    "benchmarks",
    async () => (await import("./calls/benchmarks.ts")).benchmarks,
  );
  readonly validation = groupOf(
    () => this.#core,
    "validation",
    async () => (await import("./calls/validation.ts")).validation,
  );
  readonly templates = groupOf(
    () => this.#core,
    "templates",
    async () => (await import("./calls/templates.ts")).templates,
  );
  readonly data = groupOf(() => this.#core, "data", async () => (await import("./calls/data.ts")).data);
  readonly models = groupOf(() => this.#core, "models", async () => (await import("./calls/models.ts")).models);
  readonly artifacts = groupOf(
    () => this.#core,
    "artifacts",
    async () => (await import("./calls/artifacts.ts")).artifacts,
  );
  readonly training = groupOf(() => this.#core, "training", async () => (await import("./calls/training.ts")).training);
  readonly research = groupOf(() => this.#core, "research", async () => (await import("./calls/research.ts")).research);
  readonly adapters = groupOf(() => this.#core, "adapters", async () => (await import("./calls/adapters.ts")).adapters);
  readonly system = groupOf(() => this.#core, "system", async () => (await import("./calls/system.ts")).system);

  constructor(options: SessionOptions = {}) {
    this.#core = new SessionCore(options);
  }

  /** Project root and state directory, as absolute paths. */
  get workspace(): SessionCore["workspace"] {
    return this.#core.workspace;
  }

  /** The options as plain data, which opens an equal session in another thread. */
  options(): SessionData {
    return this.#core.options();
  }

  /** The operations of the session: built-in, of `operations`, and of adapters. */
  registry(): ReturnType<SessionCore["registry"]> {
    return this.#core.registry();
  }

  /** What a list shows of the operations; `system.operations` gives their contracts. @param filter as there */
  summaries(filter?: string): ReturnType<SessionCore["summaries"]> {
    return this.#core.summaries(filter);
  }

  /** Performs a call whose fields were checked; those left out have their defaults. */
  async perform(call: AnyCall, input: Readonly<Record<string, unknown>>, means: object = {}): Promise<unknown> {
    const { withDefaults } = await import("./call.ts");
    return await call.run(this.#core, withDefaults(call, input), means);
  }

  /** Fetches the files of a program that was imported by URL, once; a failure is a warning for the logger. */
  async openProgram(): Promise<void> {
    await this.#core.openProgram();
  }

  /** Starts a worker thread, so that it loads while a recipe is read and planned. */
  async warmUp(): Promise<void> {
    await this.#core.warmUp();
  }

  /** Ends the worker threads. Calls under way are abandoned. */
  close(): void {
    this.#core.close();
  }

  // deno-lint-ignore require-await -- the interface is asynchronous
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

/**
 * Opens a session on a project: loads the operations, those of adapters included, and checks the adapters' grants.
 * @throws SvcError `operation_file_invalid`, or codes `adapter_*` with every finding
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { open } from "../../mod.ts";
 *
 * await using svc = await open({ stateDir: await Deno.makeTempDir() });
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
 * const { run_id } = await svc.recipes.run(recipe);
 * assert.equal((await svc.runs.verify(run_id)).status, "valid");
 * assert.equal((await svc.runs.reproduce(run_id)).status, "identical");
 * ```
 */
export async function open(options: SessionOptions = {}): Promise<Session> {
  const session = new Session(options);
  await session.openProgram();
  await session.registry();
  return session;
}
