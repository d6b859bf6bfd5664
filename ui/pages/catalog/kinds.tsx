/** Kinds of artifacts: the operations that produce a kind, and those that read it. */
import { FoldedRows } from "../../folded_rows.tsx";
import { Filters, searchWords } from "../../parts.tsx";
import { address } from "../../router.ts";
import { type Contract, contracts } from "../../state/contracts.ts";

/** Every kind that an output may have. */
const outputKindsOf = ({ input_kinds, output_kinds, output_same_kind_as: same = {} }: Contract) =>
  Object.entries(output_kinds).flatMap(([port, kind]) => port in same ? input_kinds[same[port]] : [kind]);

export function Kinds() {
  const words = searchWords(), kinds = new Map<string, { makers: Set<string>; takers: Set<string> }>();
  const entry = (kind: string) => {
    if (!kinds.has(kind)) kinds.set(kind, { makers: new Set(), takers: new Set() });
    return kinds.get(kind)!;
  };
  for (const contract of contracts.value.values()) {
    const { id, input_kinds, optional_input_kinds } = contract;
    for (const kind of outputKindsOf(contract)) entry(kind).makers.add(id);
    for (const kind of [input_kinds, optional_input_kinds].flatMap((ports) => Object.values(ports).flat())) {
      entry(kind).takers.add(id);
    }
  }
  const rows = [...kinds].filter(([kind]) => words.every((word) => kind.toLowerCase().includes(word)))
    .sort(([a], [b]) => a < b ? -1 : 1);
  return (
    <>
      <Filters found={`${rows.length} of ${kinds.size}`} />
      {rows.length === 0 ? <p class="empty">No kind matches</p> : (
        <FoldedRows
          label="Kinds"
          rows={rows}
          total={kinds.size}
          groupOf={([kind]) => kind.split(".")[0]}
          columns={[
            ["Kind", ([kind]) => kind, "mono"],
            ["Output of", ([, { makers }]) => <Operations ids={makers} />],
            ["Input of", ([, { takers }]) => <Operations ids={takers} />],
          ]}
        />
      )}
    </>
  );
}

/** Links to operations, one a line. */
export function Operations({ ids }: { ids: Iterable<string> }) {
  const sorted = [...ids].sort();
  if (sorted.length === 0) return <span class="muted">none</span>;
  return (
    <>
      {sorted.map((id) => (
        <div key={id}>
          <a class="mono small" href={address("catalog", ["operations", id])}>{id}</a>
        </div>
      ))}
    </>
  );
}
