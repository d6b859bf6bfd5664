import type { FileAccess } from "../contract/operation.ts";
import type { Value } from "../contract/value.ts";
import type { GivenInput, Model, RunOptions } from "./run_operation.ts";

/** One run of an operation in the conformance suite. */
export interface ConformanceCase {
  name?: string;
  inputs?: () => Record<string, GivenInput> | Promise<Record<string, GivenInput>>;
  /** A member that is undefined is left out. */
  params?: { [name: string]: Value | undefined };
  files?: () => Record<string, Uint8Array | string> | FileAccess | Promise<Record<string, Uint8Array | string>>;
  /** Stands for the trained artifact of a learned mode. */
  model?: Model;
  /** Files of the models that the parameters name, by role. */
  models?: RunOptions["models"];
  /** Whether another seed must give other bytes; yes by default where there is a seed. */
  stochastic?: boolean;
}
