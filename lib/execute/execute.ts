/**
 * The scheduler: executes a plan step by step on worker threads.
 *
 * Ready steps are admitted in plan order. Only thread-safe operations overlap; the first ready step that is not thread
 * safe is a barrier and runs alone. Only the scheduler writes the record of artifacts, so results do not depend on the
 * number of workers.
 *
 * Steps of a run in memory that may not overlap are sent to a thread at once; their rows and events are those of one after
 * another. The steps of a chain (lib/plan/chains.ts) run together on one thread. If that fails, they run one after another as all
 * others do, so that the record of a failure does not depend on it either.
 */
import { join } from "node:path";
import type { FilePart } from "../artifact/npz_blocks.ts";
import { discardEntry, inside, type InsidePath, makeFolder } from "../artifact/inside.ts";
import { programFolder } from "../artifact/program.ts";
import { contractSha256 } from "../contract/define.ts";
import { codeRow } from "../contract/codes.ts";
import { messageOf, placedMessage, type SourceLocation, SvcError } from "../contract/error.ts";
import { asObject, canonicalJson, parseJson } from "../contract/json.ts";
import { bundlePath, type Digest } from "../contract/names.ts";
import { codeOf } from "../contract/system_error.ts";
import { float, isObject, type JsonObject } from "../contract/value.ts";
import { isModel } from "../model/resolve.ts";
import { artifactBinding } from "../plan/learned.ts";
import { modelRequests } from "../plan/models.ts";
import type { PlanStep } from "../plan/types.ts";
import { checkFractions } from "../research/catalog.ts";
import { programSources } from "../plan/implementation_source.ts";
import type { StepDocument } from "../recipe/types.ts";
import { createCancellation } from "./cancellation.ts";
import { type Running, StepFailure, WorkerPool } from "./pool.ts";
import {
  type LearnedTask,
  type ModelTask,
  type ProgressReply,
  type StepTask,
  type TaskInput,
  wholeFile,
  writtenSize,
  type WrittenStep,
} from "./protocol.ts";
import { checkStaged, commitStaging, createStaging, type Staging, stagingPath } from "./staging.ts";
import type { ExecuteOptions, ExecuteOutcome, OutputRow, StepRow } from "./types.ts";
import { ValueStore } from "./value_store.ts";

type Failure = NonNullable<ExecuteOutcome["failure"]> & { error: string };

/**
 * Executes every step of a plan.
 * @param options plan, recipe, paths, worker limit and listeners
 * @returns the outcome; the first failure is kept, and a cancellation counts only without an earlier failure
 */
export async function executePlan(options: ExecuteOptions & { pool?: WorkerPool }): Promise<ExecuteOutcome> {
  const pool = options.pool ?? new WorkerPool();
  try {
    return await new Execution(options, pool).run();
  } finally {
    if (options.pool === undefined) pool.close();
  }
}

interface PlannedStep {
  document: StepDocument;
  binding: PlanStep;
  moduleUrl: string;
  /** Document from which the module constructs the operation; null where the module exports the operation. */
  outside: JsonObject | null;
  threadSafe: boolean;
  /** In the plan. */
  place: number;
  /** Number of the step's chain; null outside chains. */
  chain: number | null;
  /** Whether the plan has the step in a chain. */
  streamed: boolean;
  /** Whether it may be sent to a thread with the steps after it. */
  together: boolean;
  /** Whether its start was reported. */
  begun: boolean;
  /** Distinct steps whose outputs this step reads. */
  sources: Set<string>;
}

class Execution {
  readonly #options: ExecuteOptions;
  readonly #pool: WorkerPool;
  readonly #steps: PlannedStep[];
  /** Null where outputs are held in memory. */
  readonly #artifacts: InsidePath | null;
  readonly #values = new ValueStore();
  readonly #outputs = new Map<string, OutputRow>();
  readonly #consumers = new Map<string, number>();
  readonly #finished = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  /** Steps of a chain that failed, to run one after another. */
  readonly #returned: PlannedStep[] = [];
  /** The flag that operations read: set by the caller's token and by a failed step. */
  readonly #stop = createCancellation();
  readonly #startedAt = performance.now();
  #exclusiveRunning = false;
  #failure: Failure | null = null;

  constructor(options: ExecuteOptions, pool: WorkerPool) {
    this.#options = options;
    this.#pool = pool;
    this.#artifacts = options.hold === undefined ? inside(options.bundle, "artifacts") : null;
    const documents = new Map(options.recipe.steps.map((step) => [step.id, step]));
    const chains = new Map(options.plan.resources.per_step.map(({ step_id, chain }) => [step_id, chain]));
    this.#steps = options.plan.steps.map((binding, place) => {
      const document = documents.get(binding.step_id)!;
      const { operation, moduleUrl, binding: outside = null } = options.registry.get(binding.operation_id);
      const references = Object.values(document.inputs);
      for (const reference of references) {
        this.#consumers.set(reference, (this.#consumers.get(reference) ?? 0) + 1);
      }
      return {
        document,
        binding,
        moduleUrl,
        outside,
        threadSafe: operation.definition.threadSafe,
        place,
        chain: chains.get(binding.step_id) ?? null,
        streamed: chains.get(binding.step_id) !== undefined,
        begun: false,
        together: options.hold !== undefined && options.parallelWorkers === 1 && outside === null &&
          operation.definition.threadSafe && binding.implementation_metadata.trained_artifact === undefined &&
          binding.implementation_metadata.models === undefined,
        sources: new Set(references.map((reference) => reference.split(".")[0])),
      };
    });
  }

  async run(): Promise<ExecuteOutcome> {
    const { cancellation } = this.#options;
    if (this.#artifacts !== null) makeFolder(this.#artifacts);
    const forget = cancellation.onCancel(() => this.#stop.cancel());
    try {
      const pending = [...this.#steps];
      while (pending.length + this.#returned.length + this.#running.size > 0) {
        pending.push(...this.#returned.splice(0));
        pending.sort((a, b) => a.place - b.place);
        if (this.#failure === null && !cancellation.isCancelled) this.#admit(pending);
        if (this.#running.size === 0) break;
        await Promise.race(this.#running);
      }
    } finally {
      forget();
    }
    if (this.#failure !== null) {
      const { error, ...failure } = this.#failure;
      return { status: "failed", failure, error };
    }
    if (cancellation.isCancelled) {
      return { status: "canceled", failure: { kind: "canceled", code: "operation_canceled" } };
    }
    return { status: "completed" };
  }

  /** Starts every step that may start now, in plan order. */
  #admit(pending: PlannedStep[]): void {
    for (let index = 0; index < pending.length;) {
      if (this.#exclusiveRunning || this.#running.size >= this.#options.parallelWorkers) return;
      const step = pending[index];
      if (![...step.sources].every((source) => this.#finished.has(source))) {
        index++;
        continue;
      }
      if (!step.threadSafe && this.#running.size > 0) return;
      // A chain begins at a source, so its first step in the plan is ready; the others read from the chain alone.
      const steps = step.together
        ? this.#following(pending, index)
        : step.chain === null
        ? [step]
        : pending.filter(({ chain }) => chain === step.chain);
      for (const one of steps) pending.splice(pending.indexOf(one), 1);
      this.#exclusiveRunning = !step.threadSafe;
      const ended = (steps.length === 1
        ? this.#execute(step)
        : step.together
        ? this.#executeTogether(steps)
        : this.#executeChain(steps)).finally(() => {
          this.#running.delete(ended);
          if (!step.threadSafe) {
            this.#exclusiveRunning = false;
          }
        });
      this.#running.add(ended);
      if (!step.threadSafe) {
        return;
      }
    }
  }

  /** A ready step with those that would run after it one by one, up to the first that must be sent alone. */
  #following(pending: readonly PlannedStep[], index: number): PlannedStep[] {
    const steps: PlannedStep[] = [], ids = new Set<string>();
    for (const step of pending.slice(index)) {
      const isReady = [...step.sources].every((source) => this.#finished.has(source) || ids.has(source));
      if (!step.together || !isReady) break;
      steps.push(step);
      ids.add(step.document.id);
    }
    return steps;
  }

  /** Runs steps one after another on one thread and stores their rows; never rejects. */
  async #executeTogether(steps: readonly PlannedStep[]): Promise<void> {
    const admittedAt = performance.now(), endTurn = await this.#pool.turn(false);
    let running: Running | undefined, at = 0, hasStarted = false, hasFailed = false;
    let taken = Promise.resolve();
    const start = () => {
      if (!hasStarted) this.#started(steps[at]);
      hasStarted = true;
    };
    const fail = (error: unknown, timing: JsonObject) => {
      start();
      [hasFailed, hasStarted] = [true, false];
      this.#fail(steps[at++], error, timing);
    };
    const take = async (written: readonly WrittenStep[]) => {
      for (const one of written) {
        if (hasFailed) return;
        start();
        const time = this.#timeWithin(running!, one);
        try {
          await this.#finish(steps[at], null, one, () => time);
        } catch (error) {
          return fail(error, time);
        }
        [at, hasStarted] = [at + 1, false];
      }
    };
    const report = (progress: ProgressReply) => hasFailed ? undefined : this.#progress(steps[at].document, progress);
    try {
      const tasks: StepTask[] = [];
      for (const step of steps) {
        // One that changed since it was planned is sent alone, and fails then.
        if (!await this.#checkBinding(step).then(() => true, () => false)) break;
        const inputs = this.#inputs(step, steps);
        tasks.push(this.#task(step, null, { inputs, chained: [], unwritten: [], learned: null, models: [] }));
      }
      if (tasks.length === 0) return;
      start();
      running = this.#pool.start(tasks, {
        onProgress(progress) {
          taken = taken.then(() => report(progress));
        },
        onWritten(written) {
          taken = taken.then(() => take(written)).then(() => hasFailed ? undefined : start());
        },
      });
      const rest = await running.written;
      await taken;
      await take(rest!);
    } catch (error) {
      await taken;
      // Each step by itself shows which of them ends the thread, and leaves the images of those before it as they were.
      const isClear = !(error instanceof StepFailure && error.reply.again);
      if (!hasFailed && isClear) fail(error, this.#timing(running, admittedAt));
    } finally {
      const left = steps.slice(at).map((step, index) => ({
        ...step,
        together: false,
        begun: hasStarted && index === 0,
      }));
      this.#returned.push(...left);
      endTurn();
    }
  }

  /** Runs the steps of a chain and stores their rows; never rejects. */
  async #executeChain(steps: readonly PlannedStep[]): Promise<void> {
    const stagings: Staging[] = [], admittedAt = performance.now();
    let running: Running | undefined;
    const endTurn = await this.#pool.turn(false);
    let hasBegun = false;
    // Only where no step refuses its input: one that stands behind such a step may never start.
    const begin = () => {
      if (hasBegun) return;
      hasBegun = true;
      for (const step of steps) this.#started(step);
    };
    try {
      const tasks: StepTask[] = [];
      for (const step of steps) {
        await this.#checkBinding(step);
        stagings.push(createStaging(this.#artifacts!, step.document.id));
        const chained = Object.entries(step.document.inputs).map(([port, reference]) => {
          const [id, output] = reference.split(".");
          return { port, step: steps.findIndex(({ document }) => document.id === id), output };
        });
        const unwritten = this.#unwritten(step);
        tasks.push(this.#task(step, stagings.at(-1)!, { inputs: [], chained, unwritten, learned: null, models: [] }));
      }
      const onProgress = (progress: ProgressReply) => {
        begin();
        for (const { document } of steps) this.#progress(document, progress);
      };
      running = this.#pool.start(tasks, { onProgress }, true);
      const written = await running.written;
      if (written !== null) begin();
      for (const [index, step] of steps.entries()) {
        if (written === null) break;
        const staging = stagings.shift()!, { seconds } = written[index];
        const committedAt = performance.now();
        const timing = () => this.#timing(running, admittedAt, committedAt - 1000 * seconds!);
        try {
          await this.#finish(step, staging, written[index], timing);
        } catch (error) {
          discardEntry(staging.path);
          this.#fail(step, error, timing());
          throw new SvcError("operation_canceled", `The operation ended with ${step.document.id}`);
        }
      }
    } catch (error) {
      if (this.#stop.isCancelled) {
        begin();
        const left = steps.filter(({ document: { id } }) => !this.#finished.has(id) && this.#failure?.step_id !== id);
        for (const step of left) this.#fail(step, error, this.#timing(running, admittedAt));
        return;
      }
      // The steps one after another show which of them fails, and with what rows before it.
      this.#event("step_progress", "warning", `The chain of ${steps[0].document.id} failed: ${messageOf(error)}`, {
        step_id: steps[0].document.id,
      });
    } finally {
      for (const staging of stagings) discardEntry(staging.path);
      this.#returned.push(
        ...steps.filter(({ document }) => !this.#finished.has(document.id)).map((step) => ({ ...step, chain: null })),
      );
      endTurn();
    }
  }

  /** Runs one step and stores its row; never rejects. */
  async #execute(step: PlannedStep): Promise<void> {
    const { document } = step;
    const admittedAt = performance.now();
    let staging: Staging | null = null;
    let running: Running | undefined;
    const endTurn = await this.#pool.turn(!step.threadSafe);
    const timing = () => this.#timing(running, admittedAt);
    try {
      if (!step.begun) this.#started(step);
      await this.#checkBinding(step);
      const learned = this.#findArtifact(step);
      const models = this.#findModels(step);
      if (this.#artifacts !== null) staging = createStaging(this.#artifacts, document.id);
      const task = this.#task(step, staging, {
        inputs: this.#inputs(step),
        chained: [],
        unwritten: [],
        learned,
        models,
      });
      running = this.#pool.start([task], { onProgress: (progress) => this.#progress(document, progress) });
      const [written] = (await running.written)!;
      await this.#finish(step, staging, written, timing);
    } catch (error) {
      if (staging !== null) discardEntry(staging.path);
      this.#fail(step, error, timing());
    } finally {
      endTurn();
    }
  }

  /**
   * The time of a step until now, without that in which it waits for a thread.
   * @param from where its wall time begins, of a step that shared the time since its start
   */
  #timing(running: Running | undefined, admittedAt: number, from?: number): JsonObject {
    const startedAt = running?.startedAt ?? admittedAt;
    return {
      step_wall_time_s: float((performance.now() - (from ?? startedAt)) / 1000),
      start_offset_s: float((startedAt - this.#startedAt) / 1000),
      worker: running?.thread ?? 0,
      clock: "monotonic",
    };
  }

  /** The time of a step that ran with others. */
  #timeWithin({ startedAt, thread }: Running, { seconds, offset }: WrittenStep): JsonObject {
    return {
      step_wall_time_s: float(seconds!),
      start_offset_s: float((startedAt! - this.#startedAt) / 1000 + offset),
      worker: thread,
      clock: "monotonic",
    };
  }

  #started({ document, binding }: PlannedStep): void {
    this.#event("step_started", "info", `${document.id} started`, {
      step_id: document.id,
      op: document.op,
      runner: binding.runner,
      backend: binding.backend,
      implementation: binding.implementation,
    });
  }

  /** Commits the outputs of a step and stores its row. */
  async #finish(
    step: PlannedStep,
    staging: Staging | null,
    written: WrittenStep,
    timing: () => JsonObject,
  ): Promise<void> {
    const { document, binding } = step, { hold, onUnwritten } = this.#options;
    const measured = asObject(parseJson(written.metrics));
    checkFractions(measured);
    const outputs = await this.#commit(step, staging, written), time = timing();
    const metrics: JsonObject = { ...measured, "timing.step.wall_time_s": time.step_wall_time_s };
    for (const reference of Object.values(document.inputs)) this.#values.release(reference);
    for (const output of written.outputs) {
      const reference = `${document.id}.${output.port}`, bytes = wholeFile(output);
      this.#outputs.set(reference, outputs[output.port]);
      if (bytes === null) continue;
      hold?.(outputs[output.port].path, bytes);
      this.#values.put(reference, bytes, this.#consumers.get(reference) ?? 0);
    }
    this.#finished.add(document.id);
    const unwritten = written.outputs.filter(({ sha256 }) => sha256 !== null);
    if (unwritten.length > 0 && hold === undefined) {
      onUnwritten?.(unwritten.map((output) => {
        const { path, sha256 } = outputs[output.port];
        return { path, sha256, size_bytes: writtenSize(output) };
      }));
    }
    this.#options.onStep({
      id: document.id,
      op: document.op,
      status: "completed",
      execution_binding: binding,
      outputs,
      metrics,
      metadata: { ...asObject(parseJson(written.metadata)), ...recordOf(binding), timing: time },
    });
    this.#event("step_completed", "info", `${document.id} completed`, { step_id: document.id, metrics });
  }

  #fail(step: PlannedStep, error: unknown, timing: JsonObject): void {
    const { document, binding } = step;
    const { code, ...system } = codeOf(error, "operation_failed");
    // A step that stopped after a request is cancelled, whatever the origin of the request.
    const canceled = code === "operation_canceled" && this.#stop.isCancelled;
    const location = error instanceof StepFailure && !canceled ? error.reply.location : null;
    const message = placedMessage(messageOf(error), location);
    const place: { location?: SourceLocation } & JsonObject = location === null ? {} : { location };
    const hint = error instanceof SvcError ? error.hint : null;
    const row: StepRow = {
      id: document.id,
      op: document.op,
      status: canceled ? "canceled" : "failed",
      execution_binding: binding,
      outputs: {},
      metrics: { "timing.step.wall_time_s": timing.step_wall_time_s },
      metadata: { ...recordOf(binding), timing },
      error: { code, message, hint, ...place },
      error_type: error instanceof StepFailure ? error.reply.errorType : error instanceof Error ? error.name : "Error",
    };
    if (!canceled && this.#failure === null) {
      this.#failure = {
        kind: codeRow(code)[4] ?? "operation",
        step_id: document.id,
        code,
        ...system,
        ...place,
        error: message,
      };
    }
    this.#stop.cancel();
    this.#options.onStep(row);
    this.#event("step_failed", canceled ? "warning" : "error", `${document.id}: ${message}`, {
      step_id: document.id,
      code,
      message,
      hint,
      ...place,
    });
  }

  /** Source files and contract must be those of the plan. */
  async #checkBinding({ document, binding, moduleUrl }: PlannedStep): Promise<void> {
    const { operation } = this.#options.registry.get(binding.operation_id);
    if (contractSha256(operation.contract) !== binding.operation_contract_sha256) {
      throw new SvcError("contract_changed", `The contract of ${document.op} changed after it was planned`);
    }
    const planned = binding.implementation_metadata.source_sha256;
    if (typeof planned !== "string" || !moduleUrl.startsWith("file:")) return;
    const sources = this.#options.sources ?? await programSources();
    const source = (await sources.describe([moduleUrl])).get(moduleUrl);
    if (source?.source_sha256 !== planned) {
      throw new SvcError("implementation_changed", `The source of ${document.op} changed after it was planned`);
    }
  }

  /** The planned trained artifact; its files are hashed again. */
  #findArtifact({ document, binding }: PlannedStep): LearnedTask | null {
    const planned = binding.implementation_metadata.trained_artifact;
    if (planned === undefined) return null;
    const { contract } = this.#options.registry.get(binding.operation_id).operation;
    const asked = artifactBinding(contract, document.params, ["steps", document.id, "params"]);
    const found = asked && this.#options.trainedArtifact?.(asked);
    if (!found) {
      throw new SvcError("runtime_unavailable", `Cannot find the planned trained artifact of ${document.id}`);
    }
    if (Array.isArray(found)) {
      const [{ code, message, hint }] = found;
      throw new SvcError(code, message, { hint, diagnostics: found });
    }
    const record = canonicalJson(found.record);
    if (record !== canonicalJson(planned)) {
      throw new SvcError(
        "artifact_package_mismatch",
        `The trained artifact of ${document.id} changed after it was planned`,
      );
    }
    return { ...found.component, record };
  }

  /** The planned models; their files are hashed again. */
  #findModels({ document, binding }: PlannedStep): ModelTask[] {
    const planned = binding.implementation_metadata.models;
    if (!isObject(planned)) return [];
    const { operation } = this.#options.registry.get(binding.operation_id);
    return modelRequests(operation, document.params).map((request): ModelTask => {
      // An optional model that was absent in the plan stays absent.
      if (request.optional && planned[request.role] === undefined) {
        return { role: request.role, record: canonicalJson({ id: request.id }), files: {}, accelerator: null };
      }
      const found = this.#options.findModel?.(request);
      if (found === undefined || !isModel(found)) {
        const { code, reason, hint } = found ??
          { code: "runtime_unavailable", reason: "models are not available here", hint: null };
        throw new SvcError(code, `Cannot find the planned model ${request.id} of ${document.id}: ${reason}`, { hint });
      }
      const record = canonicalJson(found.record);
      if (record !== canonicalJson(planned[request.role] ?? null)) {
        throw new SvcError(
          "artifact_hash_mismatch",
          `The model ${request.id} of ${document.id} changed after it was planned`,
        );
      }
      const { accelerator } = found.record;
      return {
        role: request.role,
        record,
        files: found.files,
        accelerator: typeof accelerator === "string" ? accelerator : null,
      };
    });
  }

  /** @param before steps of the same task */
  #inputs({ document }: PlannedStep, before: readonly PlannedStep[] = []): TaskInput[] {
    const { bundle, parallelWorkers } = this.#options;
    return Object.entries(document.inputs).map(([port, reference]) => {
      const [id, output] = reference.split("."), step = before.findIndex((other) => other.document.id === id);
      if (step >= 0) {
        return { port, kind: "", bytes: null, sole: true, path: "", sha256: "", from: { step, output } };
      }
      const row = this.#outputs.get(reference)!;
      const bytes = this.#values.get(reference);
      const sole = bytes === null || parallelWorkers === 1 || this.#values.isLast(reference);
      return { port, kind: row.kind, bytes, sole, path: join(bundle, row.path), sha256: row.sha256, from: null };
    });
  }

  /** Outputs of a step in a chain that the run does not keep, and that only steps of the chain read. */
  #unwritten({ document: { id }, binding, chain }: PlannedStep): string[] {
    const { isKept = () => true, registry } = this.#options;
    const { output_kinds: kinds } = registry.get(binding.operation_id).operation.contract;
    const isReadOutside = (reference: string) =>
      this.#steps.some((step) => step.chain !== chain && Object.values(step.document.inputs).includes(reference));
    return Object.keys(kinds).filter((port) => !isKept(id, kinds[port]) && !isReadOutside(`${id}.${port}`));
  }

  #task(
    { document, binding, moduleUrl, outside, streamed }: PlannedStep,
    staging: Staging | null,
    given: Pick<StepTask, "inputs" | "chained" | "unwritten" | "learned" | "models">,
  ): StepTask {
    const { projectRoot, stateDir } = this.#options;
    const seed = document.params.seed;
    return {
      operationId: document.op,
      moduleUrl,
      binding: outside === null ? null : canonicalJson(outside),
      params: canonicalJson(document.params),
      seed: seed === undefined || seed === null ? null : String(seed),
      staging: staging?.path ?? null,
      streamed,
      backend: binding.backend,
      implementation: binding.implementation,
      threads: this.#threads(),
      spare: this.#pool.hasSpareProcessor,
      projectRoot,
      stateDir,
      program: programFolder(),
      ...given,
      cancelFlag: this.#stop.flag,
    };
  }

  /** The step's share of the workers; a step that runs alone may use all. */
  #threads(): number {
    const share = Math.floor(this.#options.parallelWorkers / Math.max(1, this.#running.size));
    return Math.max(1, Math.min(share, navigator.hardwareConcurrency));
  }

  #progress(document: StepDocument, { completed, total, phase, unit }: ProgressReply): void {
    this.#event("step_progress", "info", `${document.id} ${completed}/${total}`, {
      step_id: document.id,
      op: document.op,
      status: "running",
      phase,
      percent: total > 0 ? float(100 * completed / total) : null,
      completed,
      total,
      unit,
    });
  }

  /**
   * The rows of the outputs. Staged files are checked, renamed into the bundle, and hashed from the disk; each block is
   * compared with what was written.
   */
  async #commit(
    { document }: PlannedStep,
    staging: Staging | null,
    written: WrittenStep,
  ): Promise<Record<string, OutputRow>> {
    const destination = staging === null ? null : inside(this.#artifacts!, document.id);
    if (staging !== null && destination !== null) {
      const inFiles = written.outputs.filter(({ sha256 }) => sha256 === null);
      checkStaged(staging, inFiles.map((output) => ({ fileName: output.fileName, size: writtenSize(output) })));
      if (inFiles.length === 0 && written.outputs.length > 0) discardEntry(staging.path);
      else commitStaging(staging.path, destination);
    }
    try {
      const rows = written.outputs.map(
        async ({ port, kind, fileName, metadata, parts, sha256: made }): Promise<[string, OutputRow]> => {
          const document_ = parseJson(metadata);
          if (!isObject(document_)) {
            throw new SvcError("output_metadata_invalid", `The metadata of ${port} is not a mapping`);
          }
          const sha256 = made === null
            ? await this.#stored(inside(destination!, fileName), port, parts)
            : made as Digest;
          const path = bundlePath(`artifacts/${document.id}/${fileName}`);
          return [port, { kind, path, metadata: document_, sha256 }];
        },
      );
      return Object.fromEntries(await Promise.all(rows));
    } catch (error) {
      if (destination !== null) discardEntry(destination);
      throw error;
    }
  }

  /** The digest of a committed file, which is compared with what was written and shared with other bundles. */
  async #stored(file: InsidePath, port: string, parts: readonly FilePart[]): Promise<Digest> {
    const { contents } = this.#options;
    const share = contents === undefined ? null : { contents, staging: stagingPath(this.#artifacts!, port) };
    const sha256 = await this.#pool.store({ path: file, parts, share });
    if (sha256 === null) {
      throw new SvcError(
        "output_hash_mismatch",
        `The stored file of the output ${port} differs from the written file`,
      );
    }
    return sha256;
  }

  #event(
    kind: "step_started" | "step_progress" | "step_completed" | "step_failed",
    level: "info" | "warning" | "error",
    message: string,
    fields: JsonObject,
  ): void {
    this.#options.onEvent?.({ kind, level, message, fields });
  }
}

/** The plan's record of an external operation, for the row of its step. */
function recordOf({ implementation_metadata: { external_adapter_sdk } }: PlanStep): JsonObject {
  return external_adapter_sdk === undefined ? {} : { external_adapter_sdk };
}
