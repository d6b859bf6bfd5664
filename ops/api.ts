/**
 * What operations import from the contract: how an operation is declared, its parameters, errors and JSON values.
 * Artifact kinds stand in lib/contract/kinds.ts, signal processing in lib/numeric.
 */
export { z } from "../lib/contract/zod.ts";
export { contractSha256, defineOperation } from "../lib/contract/define.ts";
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
