/**
 * What operations import from the contract: how an operation is declared, its parameters, errors and JSON values.
 * Artifact kinds stand in lib/contract/kinds.ts, signal processing in lib/numeric.
 */
import { defineOperation as define } from "../lib/contract/define.ts";
import type { Operation, OperationDefinition, Outputs, Ports, RunContext } from "../lib/contract/operation.ts";
import type { JsonObject } from "../lib/contract/value.ts";
import type { z } from "../lib/contract/zod.ts";

export { z } from "../lib/contract/zod.ts";
export { contractSha256 } from "../lib/contract/define.ts";
export { diagnostic, messageOf, placedError, SvcError } from "../lib/contract/error.ts";
export {
  Float,
  float,
  isInteger,
  isNumber,
  isObject,
  type JsonObject,
  toNumber,
  type Value,
} from "../lib/contract/value.ts";
export type {
  Cancellation,
  Differentiability,
  FileAccess,
  InputArtifact,
  Materialization,
  Metrics,
  ModelRequest,
  ModelSession,
  NamedModel,
  Operation,
  OperationDefinition,
  OperationStream,
  OutputArtifact,
  OutputEstimate,
  Outputs,
  OutputSize,
  ParameterProblem,
  Ports,
  Progress,
  Requirement,
  RunContext,
  StreamedArray,
  Streaming,
} from "../lib/contract/operation.ts";
export { dataPlaneParameter, seedParameter } from "../lib/contract/schema.ts";
export { artifactParameters, defineSlot, LEARNED_ARTIFACT } from "../lib/contract/slot.ts";
export { asObject, canonicalJson, compareCodePoints, parseJson, prettyJson } from "../lib/contract/json.ts";
export { sha256Hex, sha256Json } from "../lib/contract/hash.ts";

interface BuiltInDefinition<In extends Ports, Opt extends Ports, Out extends Outputs, Params extends z.ZodObject>
  extends Omit<OperationDefinition<In, Opt, Out, Params>, "threadSafe"> {
  /** Default true: a built-in operation and all that it calls share no state. */
  threadSafe?: boolean;
}

/** Declares a built-in operation; its steps may overlap with others. */
export const defineOperation = <
  const In extends Ports = Record<never, never>,
  const Opt extends Ports = Record<never, never>,
  const Out extends Outputs = Record<never, never>,
  Params extends z.ZodObject = z.ZodObject,
>(definition: BuiltInDefinition<In, Opt, Out, Params>): Operation =>
  define({ threadSafe: true, ...definition } as OperationDefinition<In, Opt, Out, Params>);

/** What a batch needs of the context of its step. */
export type Surroundings = Pick<RunContext<Ports, Ports, z.ZodObject>, "progress" | "cancellation">;

/** Metadata of a parameter: the unit that is shown beside its field. */
export const shownIn = (unit: string) => ({ "x-svc-ui": { unit } });

/** Metadata of a parameter: the choices that use it. Others accept it without effect, and a form folds it away. */
export const usedWhen = (used_when: JsonObject, more: JsonObject = {}) => ({ "x-svc-ui": { ...more, used_when } });
