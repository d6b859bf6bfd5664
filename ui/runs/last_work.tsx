/** The latest work of a project: open recipes, sweeps, runs and results of benchmarks, each with what it gave. */
import type { Reply } from "../api.ts";
import { Section, StateMark, Trouble } from "../parts.tsx";
import { type ComponentChildren, useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";
import { activeId, copies, isUnsaved, nameOf } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";
import { columnOf } from "./columns.tsx";
import type { RunRow } from "./filter.ts";
import { listed, nameOf as nameOfRun, stateOf } from "./groups.ts";
import { loadMetrics, timeText } from "./metrics.ts";

/** Entries of a list. */
const MOST = 6;
/** Runs that are read for them: the variants of a sweep are one entry. */
const READ = 100;

interface Entry {
  key: string;
  href: string;
  name: string;
  state: string;
  time: string;
  shown: ComponentChildren;
  /** The run whose image stands for it. */
  run?: string;
}

/**
 * The list, and what is below it: that comes with it, so that nothing moves once it is painted. No list where a project has no
 * work yet.
 */
export function LastWork({ children }: { children: ComponentChildren }) {
  const query = { limit: READ, fields: "metrics,task_id,matrix_recipe,changed" };
  const { value: stored, problem } = useFetched("/api/runs", { query });
  const { value: benchmarks, problem: other } = useFetched("/api/benchmarks/results");
  const [named, setNamed] = useState(false);
  // Without the catalogue, metrics have their ids.
  useEffect(() => void loadMetrics().catch(() => {}).finally(() => setNamed(true)), []);
  if (!named || (stored === null && problem === null) || (benchmarks === null && other === null)) {
    return <p class="muted" aria-busy="true">Reading the last runs</p>;
  }
  return (
    <>
      <Trouble tone="warn" text={problem ?? other} />
      <Latest runs={stored?.runs ?? []} results={benchmarks?.results ?? []} />
      {children}
    </>
  );
}

function Latest({ runs: rows, results: stored }: {
  runs: readonly RunRow[];
  results: Reply<"/api/benchmarks/results">["results"];
}) {
  const metric = columnOf("metric", "")!;
  const runs = listed(rows, new Set()).map((item): Entry => {
    if (!("sweep" in item)) {
      const { run_id, status, created_at_utc } = item.run;
      const href = address("runs", [run_id]), time = created_at_utc ?? "";
      return {
        key: run_id,
        href,
        name: nameOfRun(item.run),
        state: status,
        time,
        shown: metric.cell(item.run),
        run: run_id,
      };
    }
    const { sweep } = item, { family, runs: [{ run_id, created_at_utc }] } = sweep;
    return {
      key: run_id,
      href: address("sweeps", [], { recipe: family }),
      name: family,
      state: stateOf(sweep),
      time: created_at_utc ?? "",
      shown: metric.sweep!(sweep),
      run: run_id,
    };
  });
  const results = stored.map((result): Entry => ({
    key: result.result_id,
    href: address("benchmarks", ["result", result.result_id]),
    name: result.result_id,
    state: result.status,
    time: result.created_at_utc ?? "",
    shown: `${result.completed_rows} of ${result.rows} rows`,
  }));
  const last = [...runs, ...results].sort((a, b) => a.time < b.time ? 1 : -1).slice(0, MOST);
  const open = copies.value, images = useImages(last.flatMap(({ run }) => run ?? []).join(","));
  if (last.length === 0 && open.length === 0) return null;
  return (
    <Section title="Last work" look="panel" actions={<a href={address("runs")}>All runs</a>}>
      {open.length > 0 && (
        <p class="row">
          <span class="muted">Open recipes</span>
          {open.map((copy) => (
            <a key={copy.id} href={address("editor")} onClick={() => activeId.value = copy.id}>
              {nameOf(copy)}
              {isUnsaved(copy) ? " (not saved)" : ""}
            </a>
          ))}
        </p>
      )}
      <ul class="last-work">
        {last.map(({ key, href, name, state, time, shown, run = "" }) => (
          <li key={key}>
            <span class="received">
              {images.has(run) && <img src={images.get(run)} alt={`Received in ${name}`} />}
            </span>
            <a class="clip" href={href}>{name}</a>
            <span>{shown}</span>
            <StateMark state={state} />
            <span class="mono small muted">{timeText(time)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Addresses of images by run. */
function useImages(ids: string): ReadonlyMap<string, string> {
  const [images, setImages] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    const stop = new AbortController(), made: string[] = [];
    const load = async () => {
      const { runPictures } = await import("./run_pictures.ts");
      for await (const [run, url] of runPictures(ids, stop.signal)) {
        made.push(url);
        if (stop.signal.aborted) return URL.revokeObjectURL(url);
        setImages((others) => new Map(others).set(run, url));
      }
    };
    // The list is complete without images; a run that was removed meanwhile has none.
    if (ids !== "") load().catch(() => {});
    return () => {
      stop.abort();
      made.forEach((url) => URL.revokeObjectURL(url));
    };
  }, [ids]);
  return images;
}
