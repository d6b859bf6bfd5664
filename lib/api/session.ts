/**
 * The library session: one object that has every capability of the program. The command line, the HTTP handlers and scripts
 * call it and nothing below it. Capabilities load at their first use.
 */
import { Adapters } from "./adapters.ts";
import { Artifacts } from "./artifacts.ts";
import { Benchmarks } from "./benchmarks.ts";
import { SessionCore, type SessionData, type SessionOptions } from "./core.ts";
import { Data } from "./data.ts";
import { groupOf } from "./group.ts";
import { Models } from "./models.ts";
import { Recipes } from "./recipes.ts";
import { Research } from "./research.ts";
import type { AnyCall, GroupOf } from "./call.ts";
import type { runs } from "./calls/runs.ts";
import { System } from "./system.ts";
import { Templates } from "./templates.ts";
import { Training } from "./training.ts";

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
  readonly recipes: Recipes;
  readonly runs: GroupOf<typeof runs>;
  readonly benchmarks: Benchmarks;
  readonly templates: Templates;
  readonly data: Data;
  readonly models: Models;
  readonly artifacts: Artifacts;
  readonly training: Training;
  readonly research = new Research();
  readonly adapters: Adapters;
  readonly system: System;

  constructor(options: SessionOptions = {}) {
    const core = this.#core = new SessionCore(options);
    this.recipes = new Recipes(core);
    this.runs = groupOf(core, "runs", async () => (await import("./calls/runs.ts")).runs);
    this.benchmarks = new Benchmarks(core);
    this.templates = new Templates(core);
    this.data = new Data(core);
    this.models = new Models(core);
    this.artifacts = new Artifacts(core);
    this.training = new Training(core);
    this.adapters = new Adapters(core);
    this.system = new System(core);
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

  /** Performs a call whose fields were checked. */
  async perform(call: AnyCall, input: Readonly<Record<string, unknown>>, means: object = {}): Promise<unknown> {
    return await call.run(this.#core, input, means);
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
