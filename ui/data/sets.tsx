/** The data of the project that sources can read, with the state of their files. */
import { Section, Shown, StateMark, Table } from "../parts.tsx";
import { address, place } from "../router.ts";
import { useFetched } from "../state/fetched.ts";
import type { DataSet } from "./use.ts";

export function ProjectSets() {
  const found = useFetched("/api/data/sets");
  return (
    <Section title="Data of this project">
      <Shown of={found} what="the data of the project">
        {({ sets, truncated }) => (
          <>
            {sets.length === 0
              ? (
                <p class="empty">
                  None. {place.value.view === "data" ? "Drop files above" : (
                    <>
                      Drop files on the view <a href={address("data")}>Data</a>
                    </>
                  )}, and make their manifest.
                </p>
              )
              : (
                <Table
                  label="Data of this project"
                  rows={sets}
                  keyOf={({ path }) => path}
                  columns={[
                    [
                      "Name",
                      ({ path, id }) => (
                        <a href={address("data", path.split("/").slice(0, -1), { file: path })}>{id ?? path}</a>
                      ),
                    ],
                    ["Kind", ({ kind }) => kind],
                    ["Samples", ({ sample_count }) => sample_count === null ? "–" : String(sample_count), "number"],
                    ["File", ({ path }) => path, "mono"],
                    ["State", (set) => <State set={set} />],
                  ]}
                />
              )}
            {truncated && <p class="muted">The project has more data than is listed.</p>}
          </>
        )}
      </Shown>
    </Section>
  );
}

const STATES = { unchanged: "completed", changed: "failed", unreadable: "failed", not_checked: "queued" } as const;

/** Whether the files of a manifest are those that it names. */
export function State({ set: { state, problems, sha256 } }: { set: DataSet }) {
  if (sha256 === null && state === "not_checked") return <>–</>;
  return (
    <span title={problems.join("\n")}>
      <StateMark state={STATES[state]} word={state.replace("_", " ")} />
      {problems.length > 0 && <div class="small">{problems[0]}</div>}
    </span>
  );
}
