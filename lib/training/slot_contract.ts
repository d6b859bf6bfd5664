/** Slot contracts: what operations ask of an artifact, frozen at the time it was trained. */
import { SvcError } from "../contract/error.ts";
import type { OperationContract } from "../contract/operation.ts";
import { cloneValue, isObject } from "../contract/value.ts";
import type { OperationAbi, SlotContract } from "./types.ts";

/** The ABI of an operation, or null when it has no slot for artifacts. */
export function abiOf(contract: OperationContract): OperationAbi | null {
  return isObject(contract.trained_artifact_abi) ? contract.trained_artifact_abi as OperationAbi : null;
}

/**
 * The slot contract of operations as they are now.
 *
 * @param contracts of operations that have a slot
 * @throws SvcError `artifact_operation_incompatible` for one that has none
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createRegistry, trainableSlotContract } from "../../mod.ts";
 *
 * const registry = await createRegistry();
 * const { contract } = registry.get("model.causal_csi_power_allocator").operation;
 * const { slots } = trainableSlotContract("csi-power", [contract]);
 * assert.deepEqual(slots[0].outputs, { allocation_scores: { dtype: "float32", shape: ["batch", "subcarrier"] } });
 * ```
 */
export function trainableSlotContract(id: string, contracts: readonly OperationContract[]): SlotContract {
  return {
    schema_version: 1,
    kind: "svc.trainable_slot_contract",
    id,
    version: "1",
    slots: contracts.map((contract) => {
      const abi = abiOf(contract);
      if (abi === null) {
        throw new SvcError(
          "artifact_operation_incompatible",
          `Cannot fill ${contract.id}: it takes no trained artifact`,
        );
      }
      return { operation: contract.id, ...cloneValue(abi) };
    }),
  };
}
