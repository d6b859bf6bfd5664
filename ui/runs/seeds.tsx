/** The seeds of the steps of a recipe or a run. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { Table } from "../parts.tsx";

export function Seeds({ policy }: { policy: JsonObject }) {
  const rows = Object.entries((policy.steps ?? {}) as JsonObject)
    .map(([step, value]) => ({ step, ...(isObject(value) ? value : {}) as JsonObject }));
  if (rows.length === 0) return <p class="muted">No step draws random numbers.</p>;
  return (
    <Table
      rows={rows}
      columns={[
        ["Step", ({ step }) => step, "mono"],
        ["Stream", ({ stream }: JsonObject) => String(stream ?? "")],
        ["Seed", ({ seed }: JsonObject) => String(seed ?? "–"), "number mono"],
        ["Source", ({ source }: JsonObject) => String(source ?? "")],
      ]}
    />
  );
}
