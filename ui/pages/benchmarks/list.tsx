// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The stored results, and the packs of the project and of the program. */
import type { Reply } from "../../api.ts";
import { FoldedRows } from "../../folded_rows.tsx";
import { Hidden, Page, Section, Shown, StateMark, Table, Trouble } from "../../parts.tsx";
import { commandOf, CopyCommand } from "../../copy_command.tsx";
import { useEffect, useState } from "../../preact.ts";
import { address, go } from "../../router.ts";
import { timeText } from "../../runs/metrics.ts";
import { progressOf } from "../../state/benchmarks.ts";
import { useFetched } from "../../state/fetched.ts";
import { Progress } from "./pack.tsx";

export function PackList() {
  return (
    <Page title="Benchmarks">
      <Submitted />
      <Results />
      <Packs />
    </Page>
  );
}

const READ_AGAIN_MS = 10_000;

/** Benchmarks whose shards an engine runs: their values so far. */
function Submitted() {
  const { value, problem, again } = useFetched("/api/benchmarks/submitted"), submitted = value?.submitted ?? [];
  const active = submitted.length > 0;
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(() => document.visibilityState === "visible" && again(), READ_AGAIN_MS);
    return () => clearInterval(timer);
  }, [active]);
  if (!active) return <Trouble text={problem} />;
  return (
    <Section title="On engines">
      {submitted.map((one) =>
        "problem" in one
          ? (
            <p key={one.result_id} class="notice" data-tone="error">
              <span class="mono">{one.result_id}</span>: {one.problem}
            </p>
          )
          : <OnEngine key={one.result_id} of={one} />
      )}
    </Section>
  );
}

/** A benchmark on an engine: the progress and the value of each recipe. */
function OnEngine({ of: { result_id, engine, pack, rows, replicates, until_errors, recipes } }: {
  of: Exclude<Reply<"/api/benchmarks/submitted">["submitted"][number], { problem: string }>;
}) {
  return (
    <div class="run-part">
      <p class="row">
        <span class="mono">{result_id}</span> {pack} on {engine}, {rows} {rows === 1 ? "row" : "rows"} completed
        <CopyCommand command={commandOf("benchmark", "status", result_id)} />
      </p>
      <Table
        label={`Progress of ${result_id}`}
        rows={recipes}
        keyOf={({ id }) => id}
        columns={[
          ["Recipe", ({ id }) => id, "mono"],
          [until_errors === null ? "Replicates" : "Errors", ({ progress }) => (
            <Progress
              of={progressOf(progress)}
              cells={undefined}
              wanted={until_errors}
              replicates={until_errors === null ? replicates : null}
              ended={false}
            />
          )],
        ]}
      />
    </div>
  );
}

const OWN = "packs of this project";

function Packs() {
  return (
    <Section title="Packs">
      <Shown of={useFetched("/api/benchmarks/packs")} what="the packs">
        {({ packs }) =>
          packs.length === 0 ? <p class="empty">No packs. Put a pack into benchmarks/</p> : (
            <FoldedRows
              label="Packs"
              rows={packs}
              total={packs.length}
              keyOf={({ name }) => name}
              groupOf={({ path, suite }) => path === null ? suite ?? "other" : OWN}
              first={OWN}
              columns={[
                ["Pack", ({ name, title, problem }) => (
                  <>
                    <a href={address("benchmarks", ["pack", name])}>{title ?? name}</a>
                    <div class="mono small muted">{name}</div>
                    {problem && <StateMark state="invalid" word={problem} />}
                  </>
                )],
                ["Suite", ({ suite }) => suite ?? "–"],
                ["Task", ({ task }) => task ?? "–"],
                ["Tier", ({ tier }) => tier ?? "–"],
                ["Recipes", ({ recipes }) => recipes, "number"],
                ["From", ({ path }) => path === null ? "built-in" : <code>{path}</code>],
              ]}
            />
          )}
      </Shown>
    </Section>
  );
}

function Results() {
  const [ticked, setTicked] = useState<string[]>([]);
  const tick = (id: string, on: boolean) =>
    setTicked(on ? [...ticked, id].slice(-2) : ticked.filter((other) => other !== id));
  const compare = () => go("benchmarks", ["compare"], { a: ticked[0], b: ticked[1] });
  const actions = (
    <>
      <button type="button" disabled={ticked.length !== 2} onClick={compare}>Compare</button>
      {ticked.length !== 2 && <span class="small muted">Choose two results to compare them</span>}
    </>
  );
  return (
    <Section title="Results" actions={actions}>
      <Shown of={useFetched("/api/benchmarks/results")} what="the results">
        {({ results }) =>
          results.length === 0 ? <p class="empty">No results yet. Open a pack and run it</p> : (
            <Table
              label="Results"
              rows={results}
              keyOf={({ result_id }) => result_id}
              columns={[
                [<Hidden>Compare</Hidden>, ({ result_id }) => (
                  <input
                    type="checkbox"
                    aria-label={`Compare ${result_id}`}
                    checked={ticked.includes(result_id)}
                    onChange={(event) => tick(result_id, event.currentTarget.checked)}
                  />
                )],
                [
                  "Result",
                  ({ result_id }) => <a href={address("benchmarks", ["result", result_id])}>{result_id}</a>,
                  "mono",
                ],
                ["State", ({ status }) => <StateMark state={status} />],
                ["Rows completed", ({ completed_rows, rows }) => `${completed_rows} of ${rows}`, "number"],
                ["Created (UTC)", ({ created_at_utc }) => timeText(created_at_utc), "mono"],
              ]}
            />
          )}
      </Shown>
    </Section>
  );
}
