/** Graphs that run as chains, and what two runs of them have in common. */
import { materialise } from "../../../lib/conformance/run_operation.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import type { WorkerPool } from "../../../lib/execute/pool.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";
import { execute, type Executed, type StepSpec } from "./execution.ts";

/** Steps with all parameters. */
export function withDefaults(steps: StepSpec[]): StepSpec[] {
  const schemas = new Map(BUILTIN_OPERATIONS.map(({ operation: { id, contract } }) => [id, contract.params_schema]));
  return steps.map(([id, op, inputs, params]) => [id, op, inputs, materialise(schemas.get(op) ?? {}, params)]);
}

/** Runs the steps of chains one after another: each is alone in a chain, whose arrays have the form of blocks. */
export const apart = (steps: StepSpec[], chains: Record<string, number>, options: { pool: WorkerPool }) =>
  execute(steps, { ...options, chains: Object.fromEntries(Object.keys(chains).map((id, number) => [id, number])) });

/** Rows by step without times, and digests of the files. */
export function outcomeOf({ status, failure, error, rows, files }: Executed) {
  const plain = rows.map(({ metadata: { timing: _, ...metadata }, metrics, ...row }) => {
    const { "timing.step.wall_time_s": __, ...counted } = metrics;
    return { ...row, metadata, metrics: counted };
  });
  const digests = Object.entries(files).map(([path, bytes]) => [path, sha256Hex(bytes)]);
  return { status, failure, error, rows: new Map(plain.map((row) => [row.id, row])), digests };
}
