/** Values of parameters that cannot be chosen, as rows for readers. */
import type { OperationContract } from "./operation.ts";

interface UnavailableRow {
  parameter: string;
  /** Those with this reason. */
  values: string[];
  reason: string;
}

/** A row for each parameter and reason. */
export function unavailableRows(contract: Pick<OperationContract, "unavailable_values">): UnavailableRow[] {
  return Object.entries(contract.unavailable_values ?? {}).flatMap(([parameter, reasons]) =>
    [...Map.groupBy(Object.keys(reasons), (value) => reasons[value])].map(([reason, values]) => ({
      parameter,
      values,
      reason,
    }))
  );
}
