/** Executes small graphs of the test operations without a compiler or a planner. */
import { contractSha256 } from "../../../lib/contract/define.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { executePlan } from "../../../lib/execute/execute.ts";
import type { WorkerPool } from "../../../lib/execute/pool.ts";
import type {
  CancellationToken,
  ExecuteOutcome,
  ExecutionEvent,
  StepRow,
  UnwrittenFile,
} from "../../../lib/execute/types.ts";
import type { PlanResources } from "../../../lib/plan/estimate.ts";
import type { ExecutionPlan, PlanStep } from "../../../lib/plan/types.ts";
import type { RecipeDocument, StepDocument } from "../../../lib/recipe/types.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";
import blocks from "./operations/blocks.ts";
import exclusive from "./operations/exclusive.ts";
import numbers from "./operations/numbers.ts";
import relay from "./operations/relay.ts";
import slow from "./operations/slow.ts";

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);
registry.register([
  [numbers, "numbers"],
  [relay, "relay"],
  [slow, "slow"],
  [exclusive, "exclusive"],
  [blocks, "blocks"],
].map((entry) => {
  const [operation, file] = entry as [typeof numbers, string];
  return { operation, moduleUrl: new URL(`./operations/${file}.ts`, import.meta.url).href };
}));

export interface Executed extends ExecuteOutcome {
  /** Outputs that were hashed and not written. */
  unwritten: UnwrittenFile[];
  rows: StepRow[];
  row: Record<string, StepRow>;
  events: ExecutionEvent[];
  /** Files of the bundle, path to content. */
  files: Record<string, Uint8Array>;
}

/** `[id, op, inputs, params]` of each step. */
export type StepSpec = [string, string, Record<string, string>?, JsonObject?];

/** Runs a graph in a fresh folder that is removed afterwards. */
export async function execute(
  specs: StepSpec[],
  options: {
    workers?: number;
    /** Numbers of chains, by step. */
    chains?: Record<string, number>;
    /** Whether the artifacts of a step are kept, by their kind. */
    isKept?: (step: string, kind: string) => boolean;
    cancellation?: CancellationToken;
    onEvent?: (event: ExecutionEvent) => void;
    onBundle?: (bundle: string) => void;
    /** Keeps the files of outputs in memory. */
    held?: boolean;
    pool?: WorkerPool;
  } = {},
): Promise<Executed> {
  const steps = specs.map(([id, op, inputs = {}, params = {}]): StepDocument => ({ id, op, inputs, params }));
  const recipe = { schema_version: 1, name: "t", execution_profile: {}, metadata: {}, steps } as RecipeDocument;
  const plan = {
    steps: steps.map(({ id, op }) => ({
      step_id: id,
      operation_id: op,
      runner: "benchmark_run",
      backend: "python",
      implementation: "default",
      implementation_metadata: {},
      operation_contract_sha256: contractSha256(registry.get(op).operation.contract),
    } as PlanStep)),
    resources: { per_step: steps.map(({ id }) => ({ step_id: id, chain: options.chains?.[id] })) } as PlanResources,
  } as ExecutionPlan;
  const bundle = await Deno.makeTempDir({ prefix: "svc-execute-" });
  const rows: StepRow[] = [], events: ExecutionEvent[] = [], unwritten: UnwrittenFile[] = [];
  const files: Record<string, Uint8Array> = {};
  try {
    const outcome = await executePlan({
      plan,
      recipe,
      registry,
      bundle,
      projectRoot: bundle,
      stateDir: bundle,
      parallelWorkers: options.workers ?? 1,
      cancellation: options.cancellation ?? createCancellation(),
      onEvent: (event) => {
        events.push(event);
        options.onEvent?.(event);
      },
      isKept: options.isKept,
      onUnwritten: (found) => unwritten.push(...found),
      hold: options.held ? (path, bytes) => files[path] = bytes.slice() : undefined,
      pool: options.pool,
      onStep: (row) => rows.push(row),
    });
    options.onBundle?.(bundle);
    for (const path of walk(bundle)) files[path.slice(bundle.length + 1)] = Deno.readFileSync(path);
    return { ...outcome, rows, unwritten, row: Object.fromEntries(rows.map((row) => [row.id, row])), events, files };
  } finally {
    await Deno.remove(bundle, { recursive: true });
  }
}

function walk(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory ? walk(path) : [path];
  }).sort();
}
