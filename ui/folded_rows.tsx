/** A long table in parts that fold: closed where all rows are listed, open where a search or a filter left few of them. */
import { type Column, Table } from "./parts.tsx";
import type { ComponentChildren } from "./preact.ts";

interface Props<Row> {
  label: string;
  rows: readonly Row[];
  columns: (Column<Row> | null)[];
  groupOf(row: Row): string;
  /** A group that stands first, open. */
  first?: string;
  keyOf?(row: Row): string;
  /** Of all rows, before a search. */
  total: number;
}

/** Rows of a list in groups, and of one table, that are shown without folding. */
const FEW = 40, FEW_OF_ONE = 12;

export function FoldedRows<Row>({ label, rows, columns, groupOf, first, keyOf, total }: Props<Row>) {
  if (rows.length <= FEW) return <Table label={label} rows={rows} columns={columns} keyOf={keyOf} />;
  const groups = [...Map.groupBy(rows, groupOf)]
    .sort(([a], [b]) => Number(b === first) - Number(a === first) || (a < b ? -1 : 1));
  return (
    <div role="group" aria-label={label}>
      {groups.map(([name, members]) => (
        // A search is a new list: parts that it opened do not stay open after it.
        <details key={`${name} ${rows.length < total}`} class="fold" open={rows.length < total || name === first}>
          <summary>
            {titleOf(name)} <span class="muted">{members.length}</span>
          </summary>
          <Table label={titleOf(name)} rows={members} columns={columns} keyOf={keyOf} />
        </details>
      ))}
    </div>
  );
}

/** A table that folds where it is long. */
export const Fold = ({ count, what, children }: { count: number; what: string; children: ComponentChildren }) =>
  count <= FEW_OF_ONE ? <>{children}</> : (
    <details class="fold">
      <summary>{count} {what}</summary>
      {children}
    </details>
  );

/** Written in capitals, save for the first ones. */
const CAPITALS = new Set(["csi", "harq", "isac", "llr", "mimo", "mu", "nr", "ntn", "ofdm", "ris"]);

/** The words of an id: `mu_mimo` as MU MIMO, `isac_near_field_ntn` as ISAC near field NTN. */
function titleOf(id: string): string {
  const words = id.split(/[_. ]/).map((word) =>
    CAPITALS.has(word) ? word.toUpperCase() : word === "aoa" ? "AoA" : word
  );
  return words.join(" ").replace(/^[a-z]/, (letter) => letter.toUpperCase());
}
