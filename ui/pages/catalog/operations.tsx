/** All operations, found by word, group, status or kind of what flows in and out. The filter is part of the address. */
import { StateMark } from "../../panels/state_mark.tsx";
import { address, place, refine } from "../../router.ts";
import { type Contract, contracts } from "../../state/contracts.ts";

const groupOf = (id: string) => id.split(".")[0];

/** Every kind that a contract names. */
const kindsOf = ({ input_kinds, optional_input_kinds, output_kinds }: Contract): string[] => [
  ...Object.values(input_kinds).flat(),
  ...Object.values(optional_input_kinds).flat(),
  ...Object.values(output_kinds),
];

export function OperationList() {
  const { query } = place.value;
  const all = [...contracts.value.values()].sort((a, b) => a.id < b.id ? -1 : 1);
  const typed = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const group = query.get("group") ?? "", status = query.get("status") ?? "", kind = query.get("kind") ?? "";
  const text = (one: Contract) =>
    `${one.id} ${one.name} ${one.description ?? ""} ${Object.keys(one.params_schema.properties ?? {}).join(" ")}`
      .toLowerCase();
  const rows = all.filter((one) =>
    (group === "" || groupOf(one.id) === group) && (status === "" || one.status === status) &&
    (kind === "" || kindsOf(one).includes(kind)) && typed.every((word) => text(one).includes(word))
  );
  const choices = (values: string[]) => [...new Set(values)].sort();
  return (
    <>
      <div class="row filters">
        <label class="row">
          Find
          <input
            type="search"
            value={query.get("q") ?? ""}
            onInput={(event) => refine({ q: event.currentTarget.value })}
          />
        </label>
        <Choice label="Group" name="group" value={group} of={choices(all.map(({ id }) => groupOf(id)))} />
        <Choice label="Status" name="status" value={status} of={choices(all.map((one) => one.status))} />
        <Choice label="Kind" name="kind" value={kind} of={choices(all.flatMap(kindsOf))} />
        <span class="muted" role="status">{rows.length} of {all.length}</span>
      </div>
      {rows.length === 0
        ? (
          <p class="empty">
            No operation fits.{" "}
            <button
              type="button"
              onClick={() => refine({ q: undefined, group: undefined, status: undefined, kind: undefined })}
            >
              Show all
            </button>
          </p>
        )
        : (
          <div class="scroll" role="group" aria-label="Operations" tabindex={0}>
            <table>
              <thead>
                <tr>
                  <th>Operation</th>
                  <th>What it does</th>
                  <th>Status</th>
                  <th>Backends</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((one) => (
                  <tr key={one.id}>
                    <td>
                      <a class="mono" href={address("catalog", ["operations", one.id])}>{one.id}</a>
                      <div class="small muted">{one.name}</div>
                    </td>
                    <td>{one.description}</td>
                    <td>
                      <StateMark state={one.status} />
                    </td>
                    <td class="mono small">{(one.backends.benchmark_run ?? []).join(", ") || "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </>
  );
}

function Choice({ label, name, value, of }: { label: string; name: string; value: string; of: string[] }) {
  return (
    <label class="row">
      {label}
      <select class="narrow" value={value} onChange={(event) => refine({ [name]: event.currentTarget.value })}>
        <option value="">all</option>
        {of.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
      </select>
    </label>
  );
}
