/** Slot contracts: what operations ask of an artifact, frozen at the time it was trained. */
import { SvcError } from "../contract/error.ts";
import type { OperationContract } from "../contract/operation.ts";
import { cloneValue } from "../contract/value.ts";
import type { SlotContract } from "./types.ts";

/**
 * The slot contract of operations as they are now.
 * @param contracts of operations that have a slot
 * @throws SvcError `artifact_operation_incompatible` for one that has none
 */
export function trainableSlotContract(id: string, contracts: readonly OperationContract[]): SlotContract {
  return {
    schema_version: 1,
    kind: "svc.trainable_slot_contract",
    id,
    version: "1",
    slots: contracts.map((contract) => {
      const { trained_artifact_abi: abi } = contract;
      if (abi === undefined) {
        throw new SvcError(
          "artifact_operation_incompatible",
          `Cannot fill ${contract.id}: it takes no trained artifact`,
        );
      }
      return { operation: contract.id, ...cloneValue(abi) };
    }),
  };
}
