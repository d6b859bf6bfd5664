/**
 * Operations that can replace a step: their ports fit its wires. The resulting recipe has the profile `custom`, based on the
 * original profile.
 */
import { stepOutputKinds } from "../../lib/contract/output_kinds.ts";
import { checkValue } from "../../lib/contract/schema.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import type { Contract } from "../state/contracts.ts";
import type { Step } from "../state/copies.ts";
import { asCustom } from "./custom.ts";
import { type Binding, matrixFacts, unbind } from "./matrix.ts";

type Contracts = ReadonlyMap<string, Contract>;

const splitReference = (reference: string) => reference.split(".") as [step: string, output: string];
const acceptedBy = (contract: Contract, port: string): readonly string[] =>
  contract.input_kinds[port] ?? contract.optional_input_kinds[port] ?? [];

/**
 * Operations whose ports fit a step: every wired input has a port of the same name for its kind, every required input is
 * wired, and every output that is read has the same name and an accepted kind.
 *
 * @param steps of the recipe
 * @param id of the step to replace
 */
export function fittingOperations(steps: readonly Step[], id: string, contracts: Contracts): Contract[] {
  const step = steps.find((one) => one.id === id)!;
  const kindsWith = (op: string) =>
    stepOutputKinds(steps.map((one) => one.id === id ? { ...one, op } : one), (name) => contracts.get(name));
  const kinds = kindsWith(step.op);
  const kindOf = (reference: string): string | undefined => {
    const [from, output] = splitReference(reference);
    return kinds[steps.findIndex((one) => one.id === from)]?.[output];
  };
  const taken = steps.flatMap((one) =>
    Object.entries(one.inputs).filter(([, reference]) => splitReference(reference)[0] === id)
      .map(([port, reference]) => {
        const taker = contracts.get(one.op);
        return { output: splitReference(reference)[1], kinds: taker === undefined ? [] : acceptedBy(taker, port) };
      })
  );
  const fits = (contract: Contract) =>
    contract.id !== step.op && contract.status !== "planned" &&
    Object.entries(step.inputs).every(([port, reference]) => {
      const kind = kindOf(reference);
      return kind !== undefined && acceptedBy(contract, port).includes(kind);
    }) &&
    Object.keys(contract.input_kinds).every((port) => step.inputs[port] !== undefined) &&
    taken.every(({ output, kinds }) => kinds.includes(kindsWith(contract.id)[steps.indexOf(step)]?.[output] ?? ""));
  return [...contracts.values()].filter(fits).sort((a, b) => a.id < b.id ? -1 : 1);
}

const propertiesOf = ({ params_schema }: Contract) =>
  (params_schema.properties ?? {}) as { [name: string]: JsonObject };

/** The swept parameters of a step that another operation does not have. */
export const lostBindings = (recipe: JsonObject, id: string, contract: Contract): Binding[] =>
  matrixFacts(recipe).bindings.filter(({ stepId, param }) =>
    stepId === id && propertiesOf(contract)[param.split(".")[0]] === undefined
  );

/**
 * A recipe with another operation in a step. Parameters are kept if the new operation has them and accepts their values;
 * bindings of the others are removed, with dimensions that nothing else uses.
 *
 * @returns a new document, of the profile `custom`
 */
export function withOperation(recipe: JsonObject, stepId: string, contract: Contract): JsonObject {
  const properties = propertiesOf(contract);
  const bound = lostBindings(recipe, stepId, contract)
    .reduce((rest, { param }) => unbind(rest, stepId, param.split(".")[0]), recipe);
  const steps = (recipe.steps as JsonObject[]).map((step) => {
    if (step.id !== stepId) return step;
    const { params, ...rest } = step;
    const kept = Object.entries(isObject(params) ? params : {}).filter(([name, value]) =>
      properties[name] !== undefined && checkValue(properties[name], value, [name]).length === 0
    );
    return { ...rest, op: contract.id, ...(kept.length > 0 ? { params: Object.fromEntries(kept) } : {}) };
  });
  return asCustom({ ...bound, name: `${String(recipe.name ?? "recipe")}_custom`, steps });
}
