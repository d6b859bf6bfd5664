// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** One pack: its protocol, the findings of its validation, and its run as a matrix that fills while it runs. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { get, messageOf, type Reply } from "../../api.ts";
import { Check, Diagnostics, Digest, Facts, Page, Section, StateMark, Table, Trouble, Wait } from "../../parts.tsx";
import { lazy, useEffect, useMemo, useState } from "../../preact.ts";
import { address, place, refine } from "../../router.ts";
import { estimateOf, valueText } from "../../runs/metrics.ts";
import {
  cancelBenchmark,
  type Cell,
  followBenchmark,
  matrices,
  type Matrix,
  startBenchmark,
  type StopProgress,
} from "../../state/benchmarks.ts";
import { isEnded } from "../../state/events.ts";
import { useFetched } from "../../state/fetched.ts";
import { methodGrid } from "./method_grid.ts";

const LiveChart = lazy(() => import("./live_chart.tsx"), "Loading the figure");

type Pack = Reply<"/api/benchmarks/pack">;
type Replication = NonNullable<Pack["replication"]>;

export function PackPage({ name }: { name: string }) {
  const found = useFetched("/api/benchmarks/pack", { query: { path: name } });
  const jobId = place.value.query.get("job");
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (jobId !== null) followBenchmark(jobId).catch((error) => setProblem(error.message));
  }, [jobId]);
  useEffect(() => {
    // A run of this pack that is active already is shown.
    if (jobId !== null || found.value === null) return;
    get("/api/benchmark-jobs").then(({ jobs }) => {
      const active = jobs.find(({ state, recipe_name }) => !isEnded(state) && recipe_name === found.value!.name);
      if (active !== undefined) refine({ job: active.job_id });
    }, () => {});
  }, [found.value]);
  if (found.value === null) {
    return (
      <Page title="Benchmark pack">
        <Wait of={found} what="the pack and its recipes" />
      </Page>
    );
  }
  const { pack, status, diagnostics } = found.value, matrix = jobId === null ? undefined : matrices.value.get(jobId);
  return (
    <Page title={String(pack?.name ?? name)} actions={<a href={address("benchmarks")}>All packs</a>}>
      <p>
        <StateMark state={status} /> <code class="muted">{name}</code>
      </p>
      <Trouble text={problem} />
      {pack !== null && <Protocol of={found.value} pack={pack} />}
      {diagnostics.length > 0 && (
        <Section title="Validation">
          <Diagnostics items={diagnostics} />
        </Section>
      )}
      {status === "valid" && <RunBar name={name} matrix={matrix} jobId={jobId} onProblem={setProblem} />}
      {jobId !== null && pack !== null && <Live of={found.value} pack={pack} matrix={matrix} />}
      <Recipes of={found.value} matrix={matrix} />
    </Page>
  );
}

/** The figure of the run, along the channel condition of the pack. */
function Live(
  { of: { recipes, replication }, pack, matrix }: { of: Pack; pack: JsonObject; matrix: Matrix | undefined },
) {
  const grid = useMemo(
    () => methodGrid({ recipes: recipes.map(({ path, ...recipe }) => ({ ...recipe, recipe_path: path })) }),
    [recipes],
  );
  const metric = replication?.stop_metric ?? named((pack.metrics as JsonObject[])[0]);
  return grid === null ? null : (
    <Section title="Figure" look="live-figure">
      <LiveChart grid={grid} matrix={matrix} metric={metric} />
    </Section>
  );
}

const named = (value: unknown): string =>
  typeof value === "string" ? value : String((value as JsonObject | undefined)?.id ?? "–");

function Protocol({ of: { replication, sha256 }, pack }: { of: Pack; pack: JsonObject }) {
  return (
    <Facts
      of={[
        ["Version", `${pack.version}, ${pack.benchmark_tier ?? pack.tier ?? "smoke"}`],
        ["Dataset", named(pack.dataset)],
        ["Task", named(pack.task)],
        ["Metrics", (pack.metrics as JsonObject[] | undefined ?? []).map(named).join(", ")],
        [
          "Replicates",
          replication === null ? "1, with the seeds of the recipes" : stopText(replication),
        ],
        ["SHA-256", <Digest text={sha256} />],
      ]}
    />
  );
}

/** The stop rule of a pack: `until 100 errors of channel.ber, at least 12, at most 10 000`. */
function stopText({ replicates, stop_metric, min_replicates, ...stop }: Replication): string {
  if (stop_metric === null) return valueText(replicates);
  const until = [
    stop.until_errors === null ? null : `${valueText(stop.until_errors)} errors`,
    stop.until_halfwidth === null ? null : `an interval of ± ${valueText(stop.until_halfwidth)}`,
    stop.max_bits === null ? null : `${valueText(stop.max_bits)} trials`,
  ].filter((part) => part !== null).join(" or ");
  return `until ${until} of ${stop_metric}, at least ${valueText(min_replicates)}, at most ${valueText(replicates)}`;
}

function Recipes({ of: { recipes, replication }, matrix }: { of: Pack; matrix: Matrix | undefined }) {
  const isAdaptive = replication?.stop_metric != null;
  return (
    <Section title="Recipes">
      <Table
        label="Recipes"
        rows={recipes}
        columns={[
          ["Recipe", ({ label, id }) => (
            <>
              {label} <div class="mono small muted">{id}</div>
            </>
          )],
          ["Role", ({ skip_reason, role }) => skip_reason === null ? role : `skipped: ${skip_reason}`],
          ["File", ({ path }) => path, "mono small"],
          matrix === undefined ? null : [isAdaptive ? "Errors, live" : "Replicates, live", ({ id }) => (
            <Progress
              of={matrix.progress.get(id)}
              cells={matrix.rows.get(id)}
              wanted={replication?.until_errors ?? null}
              replicates={isAdaptive ? null : matrix.replicates}
              ended={matrix.ended !== null}
            />
          )],
        ]}
      />
    </Section>
  );
}

interface RunBarProps {
  name: string;
  matrix: Matrix | undefined;
  jobId: string | null;
  onProblem(problem: string | null): void;
}

function RunBar({ name, matrix, jobId, onProblem }: RunBarProps) {
  const [replicates, setReplicates] = useState(""), [further, setFurther] = useState(false);
  const active = matrix !== undefined && matrix.ended === null;
  const wrong = replicates !== "" && !/^[1-9]\d*$/.test(replicates);
  const act = async (work: () => Promise<unknown>) => {
    onProblem(null);
    try {
      await work();
    } catch (error) {
      onProblem(messageOf(error));
    }
  };
  const run = async () => {
    const job = await startBenchmark(name, {
      ...(replicates === "" ? {} : { replicates: Number(replicates) }),
      ...(further ? { continue_on_error: true } : {}),
    });
    refine({ job });
  };
  const cells = [...matrix?.rows.values() ?? []].flatMap((row) => [...row.values()]);
  const done = cells.filter(({ state }) => state !== "running").length;
  return (
    <div class="panel row run-bar">
      <label class="row">
        Replicates
        <input
          size={6}
          inputMode="numeric"
          placeholder="as packed"
          value={replicates}
          aria-invalid={wrong}
          aria-describedby={wrong ? "replicates-wrong" : undefined}
          onInput={(event) => setReplicates(event.currentTarget.value.trim())}
        />
      </label>
      {wrong && <span id="replicates-wrong" class="state" data-tone="error">Enter a whole number above 0</span>}
      <Check label="Continue with the next row after a failure" checked={further} onChange={setFurther} />
      {active
        ? <button type="button" onClick={() => act(() => cancelBenchmark(jobId!))}>Cancel</button>
        : <button type="button" class="primary" disabled={wrong} onClick={() => act(run)}>Run the pack</button>}
      {matrix !== undefined && (
        <span class="row">
          <StateMark state={matrix.ended ?? "running"} />
          <span class="muted">{done} rows done</span>
          {matrix.resultId !== null && <a href={address("benchmarks", ["result", matrix.resultId])}>Open the result</a>}
        </span>
      )}
    </div>
  );
}

const ENOUGH: Readonly<Record<string, string>> = {
  errors: "enough errors",
  halfwidth: "interval narrow enough",
  max_bits: "most trials reached",
  replicates: "most replicates reached",
};

interface ProgressProps {
  of: StopProgress | undefined;
  cells: ReadonlyMap<number, Cell> | undefined;
  /** Errors at which the recipe stops; null where another rule ends it. */
  wanted: number | null;
  /** Its replicates; null where their number is adaptive. */
  replicates: number | null;
  ended: boolean;
}

/** A recipe on the way to its end: its errors or its replicates, with the value and its interval so far. */
export function Progress({ of, cells, wanted, replicates: all, ended }: ProgressProps) {
  const failed = [...cells?.values() ?? []].filter(({ state }) => state === "failed").length;
  if (of === undefined) {
    return (
      <StateMark state={failed > 0 ? "failed" : ended ? "not started" : cells === undefined ? "waiting" : "running"} />
    );
  }
  const { replicates, errors, trials, mean, ci_low, ci_high, upper_bound, stop_reason } = of;
  const target = wanted === null ? "" : ` (${valueText(wanted)} wanted)`;
  return (
    <span class="row">
      {wanted !== null && errors !== null && (
        <progress aria-label="Errors so far" max={wanted} value={Math.min(errors, wanted)} />
      )}
      {all !== null && all > 1 && <progress aria-label="Replicates so far" max={all} value={replicates} />}
      {errors !== null && <span>{valueText(Math.floor(errors))} errors in {valueText(trials)}{target}</span>}
      {(mean !== null || upper_bound !== null) && (
        <span class="mono">{estimateOf(mean, ci_low, ci_high, upper_bound ?? undefined)}</span>
      )}
      <span class="muted">
        {valueText(replicates)}
        {all !== null && all > 1 && ` of ${valueText(all)}`} {(all ?? replicates) === 1 ? "replicate" : "replicates"}
      </span>
      {failed > 0 && <StateMark state="failed" word={`${failed} failed`} />}
      {stop_reason !== undefined
        ? <StateMark state="completed" word={ENOUGH[stop_reason] ?? stop_reason} />
        : replicates === all && failed === 0 && <StateMark state="completed" />}
    </span>
  );
}
