/**
 * Slots for trained artifacts: what operations that can run one share. An operation declares the ABI of its entry point
 * (`slotAbi`) and the three parameters that bind a package (`learnedParameters`); in its learned mode `learned.run` of the
 * context computes the outputs. Complex arrays cross as float32 with a last axis of real and imaginary part.
 */
import type { ParameterProblem } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { type NdArray, ndarray } from "../numeric/ndarray.ts";

/** The value of `mode`, `policy` or `runtime` that runs a trained artifact. */
export const LEARNED_ARTIFACT = "learned_artifact";

const SHA256 = /^[0-9a-f]{64}$/;

/** The parameters that bind a package. */
export function learnedParameters(entrypoint: string) {
  return {
    artifact_manifest_path: z.string().default("")
      .describe("manifest or folder of the package in the project; the store of imported packages when empty"),
    artifact_package_sha256: z.string().default("").describe("SHA-256 of the package that learned_artifact runs"),
    artifact_entrypoint: z.string().default(entrypoint).describe("entry point of that package"),
  };
}

type Shape = readonly (number | string)[];

/** What an entry point takes and gives; all of it is float32. */
export interface SlotDefinition {
  component_id: string;
  component_role: string;
  entrypoint_id: string;
  /** Shapes by name; a text names a dimension that has one size throughout a call. */
  inputs: Readonly<Record<string, Shape>>;
  outputs: Readonly<Record<string, Shape>>;
  required_operation_inputs: readonly string[];
  /** Parameters that choose the learned mode. */
  binding: JsonObject;
  /** Further members, such as what a result is projected onto. */
  more?: JsonObject;
}

/** The member `trained_artifact_abi` of a contract. */
export function slotAbi(
  { inputs, outputs, binding, more, required_operation_inputs, ...ids }: SlotDefinition,
): JsonObject {
  return {
    ...ids,
    inputs: tensors(inputs),
    outputs: tensors(outputs),
    required_operation_inputs: [...required_operation_inputs],
    binding_params: {
      ...binding,
      artifact_manifest_path: "trained_artifact.yaml",
      artifact_entrypoint: ids.entrypoint_id,
    },
    ...more,
  };
}

function tensors(shapes: Readonly<Record<string, Shape>>): JsonObject {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, { dtype: "float32", shape: [...shape] }]),
  );
}

/**
 * What is missing where a step is to run a trained artifact: it is always pinned by the digest of its package. Where a
 * package is named without one, whoever looks it up says which digest it has.
 */
export function learnedProblems(
  params: { artifact_manifest_path: string; artifact_package_sha256: string },
): ParameterProblem[] {
  const { artifact_manifest_path: path, artifact_package_sha256: sha256 } = params;
  if (sha256 === "" ? path.trim() !== "" : SHA256.test(sha256)) return [];
  return [{
    message: "Cannot run a trained artifact without artifact_package_sha256",
    place: ["artifact_package_sha256"],
    hint: "Give the SHA-256 of the package, 64 lower-case digits; svc artifact list prints it",
  }];
}

/** complex64 [...] as float32 [..., 2], on the same memory. */
export function realImaginary({ shape, data }: NdArray): NdArray {
  return ndarray("float32", data, [...shape, 2]);
}
