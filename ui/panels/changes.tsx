/** Differences between two documents, as a table. */
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { changeText } from "../form/result_form.ts";
import { Table } from "../parts.tsx";

const shown = (value: Value | undefined) =>
  value === undefined ? <span class="muted">not present</span> : <code>{changeText(value)}</code>;

/** @param changes `{path, a, b}`; a side without a value is absent */
export function Changes({ changes, a, b }: { changes: readonly JsonObject[]; a: string; b: string }) {
  if (changes.length === 0) return <p class="muted">There is no difference.</p>;
  return (
    <Table
      label="Differences"
      rows={changes}
      columns={[
        ["Path", ({ path }) => String(path), "mono"],
        [a, (change) => shown(change.a)],
        [b, (change) => shown(change.b)],
      ]}
    />
  );
}
