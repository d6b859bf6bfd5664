/**
 * Kinds of outputs. An output declared with `sameKindAs` has the kind of the artifact at that input: its contract names the
 * first accepted kind in `output_kinds` and the input in `output_same_kind_as`. The kind of a step follows from its wires.
 */
import type { ArtifactKind } from "./kinds.ts";
import type { OperationContract } from "./operation.ts";

/** Kinds by output. */
export type OutputKinds = { [port: string]: ArtifactKind };
type PortsOf = Pick<OperationContract, "input_kinds" | "output_kinds" | "output_same_kind_as">;
interface WiredStep {
  readonly id: string;
  readonly op: string;
  /** `<step>.<output>` by input. */
  readonly inputs: { readonly [port: string]: unknown };
}

/**
 * The output kinds of an operation with given inputs.
 * @param kindOf the kind at an input; undefined where it is not known
 * @returns undefined where an output follows an input whose kind is not known
 */
export function outputKinds(
  outputs: OutputKinds,
  sameKindAs: { readonly [output: string]: string } | undefined,
  kindOf: (input: string) => ArtifactKind | undefined,
): OutputKinds | undefined {
  const kinds = { ...outputs };
  for (const [output, input] of Object.entries(sameKindAs ?? {})) {
    const kind = kindOf(input);
    if (kind === undefined) return undefined;
    kinds[output] = kind;
  }
  return kinds;
}

/**
 * The output kinds of all steps of a recipe.
 * @param steps in recipe order; an input that is not the output of an earlier step has no known kind
 * @param contractOf the contract of an operation; undefined for an unknown one
 * @returns one entry per step, undefined where they are not known: of an unknown operation, or after an unknown or refused input
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { stepOutputKinds } from "./output_kinds.ts";
 *
 * const source = { input_kinds: {}, output_kinds: { bits: "b.numpy" } };
 * const relay = { input_kinds: { any: ["a.numpy", "b.numpy"] }, output_kinds: { any: "a.numpy" }, output_same_kind_as: { any: "any" } };
 * const steps = [{ id: "one", op: "source", inputs: {} }, { id: "two", op: "relay", inputs: { any: "one.bits" } }];
 * const [, kinds] = stepOutputKinds(steps, (op) => op === "source" ? source : relay);
 * assert.deepEqual(kinds, { any: "b.numpy" });
 * ```
 */
export function stepOutputKinds(
  steps: readonly WiredStep[],
  contractOf: (op: string) => PortsOf | undefined,
): (OutputKinds | undefined)[] {
  const known = new Map<string, OutputKinds | undefined>();
  return steps.map(({ id, op, inputs }) => {
    const contract = contractOf(op);
    const kinds = contract && outputKinds(contract.output_kinds, contract.output_same_kind_as, (port) => {
      const wired = Object.hasOwn(inputs, port) ? inputs[port] : undefined;
      if (typeof wired !== "string") return undefined;
      const dot = wired.indexOf("."), from = known.get(wired.slice(0, dot)), output = wired.slice(dot + 1);
      const kind = from !== undefined && Object.hasOwn(from, output) ? from[output] : undefined;
      return kind !== undefined && contract.input_kinds[port].includes(kind) ? kind : undefined;
    });
    if (!known.has(id)) known.set(id, kinds);
    return kinds;
  });
}
