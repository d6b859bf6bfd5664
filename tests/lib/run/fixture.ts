/** A workspace, a recipe of small operations, and an executor that writes their artifacts without any worker. */
import { join } from "node:path";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { defineOperation } from "../../../lib/contract/define.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson, type JsonObject } from "../../../lib/contract/json.ts";
import { bundlePath } from "../../../lib/contract/names.ts";
import { BITS, REPORT } from "../../../lib/contract/kinds.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import { seedParameter } from "../../../lib/contract/schema.ts";
import { float, toNumber } from "../../../lib/contract/value.ts";
import { z } from "../../../lib/contract/zod.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import type { ExecuteOptions, ExecuteOutcome, StepRow } from "../../../lib/execute/types.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { type RunOptions, runRecipe, type RunResult } from "../../../lib/run/run.ts";
import { openWorkspace, type Workspace } from "../../../lib/run/workspace.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const source = defineOperation({
  id: "test.source",
  name: "Count",
  outputs: { bits: BITS },
  params: z.strictObject({ count: z.int().min(1).default(8), scale: z.number().default(1), seed: seedParameter() }),
  threadSafe: true,
  run: () => {
    throw new Error("Only the fixture executes this");
  },
});

const sink = defineOperation({
  id: "test.sink",
  name: "Report",
  inputs: { bits: [BITS] },
  outputs: { report: REPORT },
  params: z.strictObject({ label: z.string().default("sink") }),
  threadSafe: true,
  run: () => {
    throw new Error("Only the fixture executes this");
  },
});

export function testRegistry(): Registry {
  const registry = new Registry();
  registry.register([source, sink].map((operation) => ({ operation, moduleUrl: import.meta.url })));
  return registry;
}

/** A recipe of `pairs` sources, each with its sink. */
export function testRecipe(pairs = 2, params: JsonObject = {}): JsonObject {
  const steps = Array.from({ length: pairs }, (_, n): JsonObject[] => [
    { id: `data_${n}`, op: "test.source", params: { count: 4 + n, ...params }, inputs: {} },
    { id: `report_${n}`, op: "test.sink", params: {}, inputs: { bits: `data_${n}.bits` } },
  ]).flat();
  return { schema_version: 1, name: "small recipe", metadata: { seed: 23 }, steps };
}

export interface FakeExecution {
  /** The step that fails. */
  failAt?: string;
  /** Order in which steps end; plan order when left out. */
  order?: string[];
  /** Waits before each step. */
  pauseMs?: number;
  /** Added to what the sources write. */
  offset?: number;
  afterStep?(row: StepRow): void;
}

/** Writes an artifact per step: an NPZ file from a source, a JSON report from a sink. */
export function fakeExecutor(fake: FakeExecution = {}): (options: ExecuteOptions) => Promise<ExecuteOutcome> {
  return async ({ plan, recipe, bundle, cancellation, hold, onEvent, onStep }) => {
    const ids = fake.order ?? plan.steps.map(({ step_id }) => step_id);
    for (const id of ids) {
      if (cancellation.isCancelled) {
        return { status: "canceled", failure: { kind: "canceled", code: "operation_canceled" } };
      }
      if (fake.pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fake.pauseMs));
      const binding = plan.steps.find(({ step_id }) => step_id === id)!;
      const step = recipe.steps.find((item) => item.id === id)!;
      const failed = fake.failAt === id;
      const row: StepRow = {
        id,
        op: step.op,
        status: failed ? "failed" : "completed",
        execution_binding: binding,
        outputs: failed ? {} : writeOutput({ bundle, hold }, step, fake.offset ?? 0),
        metrics: {
          "test.count": 3,
          "test.rate": float(0.5 + (fake.offset ?? 0)),
          "timing.step.wall_time_s": float(performance.now() / 1e3),
        },
        metadata: { timing: { step_wall_time_s: float(0.01), clock: "monotonic" } },
        ...(failed ? { error: { code: "operation_failed", message: "No", hint: null }, error_type: "Error" } : {}),
      };
      onStep(row);
      onEvent?.({
        kind: failed ? "step_failed" : "step_completed",
        level: "info",
        message: id,
        fields: { step_id: id },
      });
      fake.afterStep?.(row);
      if (failed) {
        return { status: "failed", error: "No", failure: { kind: "operation", step_id: id, code: "operation_failed" } };
      }
    }
    return { status: "completed" };
  };
}

function writeOutput(
  { bundle, hold }: Pick<ExecuteOptions, "bundle" | "hold">,
  step: { id: string; op: string; params: JsonObject },
  offset: number,
) {
  const [port, file, kind, bytes, metadata] = step.op === "test.sink"
    ? [
      "report",
      "report.json",
      REPORT,
      new TextEncoder().encode(`${canonicalJson({ label: step.params.label })}\n`),
      {},
    ]
    : ["bits", "bits.npz", BITS, sourceBytes(step.params, offset), {
      dtype: "float64",
      shape: [4],
      array: "bits",
      gain: float(2),
    }];
  const sha256 = sha256Hex(bytes as Uint8Array);
  const path = bundlePath(`artifacts/${step.id}/${file}`);
  if (hold !== undefined) hold(path, bytes as Uint8Array);
  else {
    Deno.mkdirSync(join(bundle, "artifacts", step.id), { recursive: true });
    Deno.writeFileSync(join(bundle, path), bytes as Uint8Array);
  }
  return { [port as string]: { kind: kind as string, path, metadata: metadata as JsonObject, sha256 } };
}

function sourceBytes(params: JsonObject, offset: number): Uint8Array {
  const first = toNumber(params.seed as number) % 1000 + offset;
  const values = Float64Array.from({ length: toNumber(params.count as number) }, (_, i) => first + i);
  return writeNpz({ bits: ndarray("float64", values) });
}

/** A workspace in a folder that is removed afterwards. */
export async function withWorkspace(body: (workspace: Workspace) => void | Promise<void>): Promise<void> {
  const projectRoot = temporaryFolder();
  await body(openWorkspace({ projectRoot, stateDir: join(projectRoot, ".svc") }));
}

/** Runs the small recipe. */
export function runSmall(
  workspace: Workspace,
  options: Partial<RunOptions> & { fake?: FakeExecution; pairs?: number } = {},
): Promise<RunResult> {
  const { fake, pairs, ...rest } = options;
  return runRecipe({
    raw: testRecipe(pairs),
    registry: testRegistry(),
    workspace,
    cancellation: createCancellation(),
    execute: fakeExecutor(fake),
    ...rest,
  });
}
