/** The filter above the list of runs, and the choice of the metric that it shows. */
import { useEffect, useRef, useState } from "../preact.ts";
import { place, refine } from "../router.ts";

const TYPING_MS = 150;

export function FilterBar({ text, names, metric }: { text: string; names: string[]; metric: string }) {
  // Typed text stands in for the text of the address that it began from or became; another address replaces it.
  const [draft, setDraft] = useState({ typed: text, over: text });
  const typed = draft.over === text ? draft.typed : text;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== "/" || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      clearTimeout(timer.current);
    };
  }, []);
  const type = (next: string) => {
    setDraft({ typed: next, over: text });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      if ((place.value.query.get("q") ?? "") !== text) return setDraft({ typed: text, over: text });
      setDraft({ typed: next, over: next.trim() });
      refine({ q: next.trim() });
    }, TYPING_MS);
  };
  return (
    <div class="filter-bar row" role="search">
      <label for="run-filter">Filter</label>
      <input
        id="run-filter"
        ref={field}
        type="search"
        class="mono grow"
        placeholder="words  state:failed  snr_db=6  after:2026-11-01  metric.channel.ber<1e-3"
        value={typed}
        aria-describedby="run-filter-help"
        onInput={(event) => type(event.currentTarget.value)}
      />
      <span id="run-filter-help" class="hidden-text">
        Words are searched in names, digests, tags and notes. Tokens: state, recipe, suite, task, mode, cache, tag,
        after, before, each with a colon; is:starred; metric, a point, its name, a relation and a number; a parameter,
        or its step, a point and the parameter, an equals sign and a value.
      </span>
      <span class="row nowrap">
        <label for="run-metric">Metric</label>
        <select
          id="run-metric"
          class="metric-choice"
          value={metric}
          onChange={(event) => refine({ metric: event.currentTarget.value })}
        >
          <option value="">the headline of each run</option>
          {metric !== "" && !names.includes(metric) && <option value={metric}>{metric}</option>}
          {names.map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
      </span>
    </div>
  );
}
