/** Kinds of artifacts: which operations make one, and which take it. */
import { address, place, refine } from "../../router.ts";
import { contracts } from "../../state/contracts.ts";

export function Kinds() {
  const typed = (place.value.query.get("q") ?? "").toLowerCase();
  const kinds = new Map<string, { makers: Set<string>; takers: Set<string> }>();
  const entry = (kind: string) => {
    if (!kinds.has(kind)) kinds.set(kind, { makers: new Set(), takers: new Set() });
    return kinds.get(kind)!;
  };
  for (const { id, input_kinds, optional_input_kinds, output_kinds } of contracts.value.values()) {
    for (const kind of Object.values(output_kinds)) entry(kind).makers.add(id);
    for (const kind of [input_kinds, optional_input_kinds].flatMap((ports) => Object.values(ports).flat())) {
      entry(kind).takers.add(id);
    }
  }
  const rows = [...kinds].filter(([kind]) => kind.toLowerCase().includes(typed)).sort(([a], [b]) => a < b ? -1 : 1);
  return (
    <>
      <div class="row filters">
        <label class="row">
          Find
          <input
            type="search"
            value={place.value.query.get("q") ?? ""}
            onInput={(event) => refine({ q: event.currentTarget.value })}
          />
        </label>
        <span class="muted" role="status">{rows.length} of {kinds.size}</span>
      </div>
      {rows.length === 0
        ? <p class="empty">No kind fits</p>
        : (
          <div class="scroll" role="group" aria-label="Kinds" tabindex={0}>
            <table>
              <thead>
                <tr>
                  <th>Kind</th>
                  <th>Made by</th>
                  <th>Taken by</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(([kind, { makers, takers }]) => (
                  <tr key={kind}>
                    <td class="mono">{kind}</td>
                    <td>
                      <Operations ids={makers} />
                    </td>
                    <td>
                      <Operations ids={takers} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </>
  );
}

function Operations({ ids }: { ids: ReadonlySet<string> }) {
  if (ids.size === 0) return <span class="muted">none</span>;
  return (
    <>
      {[...ids].sort().map((id) => (
        <div key={id}>
          <a class="mono small" href={address("catalog", ["operations", id])}>{id}</a>
        </div>
      ))}
    </>
  );
}
