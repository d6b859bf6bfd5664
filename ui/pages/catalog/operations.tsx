/** All operations, filtered by words, group, status or kind of their ports. The filter is part of the address. */
import { OwnMark } from "./operation.tsx";
import { FoldedRows } from "../../folded_rows.tsx";
import { Filters, searchWords, Select, StateMark } from "../../parts.tsx";
import { address, place, refine } from "../../router.ts";
import { runtimesText } from "../../runtimes.ts";
import { type Contract, contracts } from "../../state/contracts.ts";

/** Every kind that a contract names. */
const kindsOf = ({ input_kinds, optional_input_kinds, output_kinds }: Contract): string[] => [
  ...Object.values(input_kinds).flat(),
  ...Object.values(optional_input_kinds).flat(),
  ...Object.values(output_kinds),
];

const CHOICES: readonly [name: string, label: string, valuesOf: (one: Contract) => string[]][] = [
  ["group", "Group", ({ id }) => [id.split(".")[0]]],
  ["status", "Status", ({ status }) => [status]],
  ["kind", "Kind", kindsOf],
];

const textOf = ({ id, name, description, params_schema }: Contract) =>
  `${id} ${name} ${description ?? ""} ${Object.keys(params_schema.properties ?? {}).join(" ")}`.toLowerCase();

export function OperationList() {
  const { query } = place.value, words = searchWords();
  const all = [...contracts.value.values()].sort((a, b) => a.id < b.id ? -1 : 1);
  const chosen = (name: string) => query.get(name) ?? "";
  const rows = all.filter((one) =>
    CHOICES.every(([name, , valuesOf]) => chosen(name) === "" || valuesOf(one).includes(chosen(name))) &&
    words.every((word) => textOf(one).includes(word))
  );
  const showAll = () => refine({ q: undefined, group: undefined, status: undefined, kind: undefined });
  return (
    <>
      <Filters found={`${rows.length} of ${all.length}`}>
        {CHOICES.map(([name, label, valuesOf]) => (
          <Select<string>
            key={name}
            label={label}
            look="narrow"
            value={chosen(name)}
            options={[["", "all"], ...[...new Set(all.flatMap(valuesOf))].sort()]}
            onChoose={(value) => refine({ [name]: value })}
          />
        ))}
      </Filters>
      {rows.length === 0
        ? (
          <p class="empty">
            No operation matches. <button type="button" onClick={showAll}>Show all</button>
          </p>
        )
        : (
          <FoldedRows
            label="Operations"
            rows={rows}
            total={all.length}
            groupOf={({ id }) => id.split(".")[0]}
            keyOf={({ id }) => id}
            columns={[
              ["Operation", ({ id, name, own }) => (
                <>
                  <a class="mono" href={address("catalog", ["operations", id])}>{id}</a> {own && <OwnMark />}
                  <div class="small muted">{name}</div>
                </>
              )],
              ["Description", ({ description }) => description],
              ["Status", ({ status }) => <StateMark state={status} />],
              ["Runs in", ({ backends }) => runtimesText(backends.benchmark_run), "small"],
            ]}
          />
        )}
    </>
  );
}
