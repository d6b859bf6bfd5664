/** The matrix of a recipe: its dimensions and what takes them, the variants they make, and their runs. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { matrixFacts, MOST_VARIANTS, readValues, setDimension, unbind, writtenValues } from "../form/matrix.ts";
import { useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";
import { type Copy, edit, openCopy, textOf, update } from "../state/copies.ts";
import { isEnded, type Job, jobs } from "../state/events.ts";
import {
  isRunning,
  itemOf,
  runInSequence,
  sequence,
  type Variant,
  variantJobs,
  variantsOf,
} from "../state/sequence.ts";
import { metricOf, summaries, wantSummary } from "../state/summaries.ts";
import { attempt } from "./bar.tsx";
import { told } from "./files.tsx";
import { RunCommand } from "./run_command.tsx";
import { VariantCurve } from "./variant_curve.tsx";

export function Matrix({ copy }: { copy: Copy }) {
  const facts = matrixFacts(copy.recipe);
  const errors = (copy.verdict?.diagnostics ?? []).filter(({ code }) => code.startsWith("matrix_"));
  if (facts.dimensions.length === 0 && facts.bindings.length === 0) {
    return (
      <div class="empty">
        This recipe has no matrix. Select a block and press <strong>Sweep</strong>{" "}
        at a parameter: its values become a dimension, and every combination of dimensions one run.
      </div>
    );
  }
  return (
    <div class="pad stack">
      <h2>Dimensions</h2>
      <table>
        <thead>
          <tr>
            <th>Dimension</th>
            <th>Values</th>
            <th>Taken by</th>
            <th>
              <span class="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {facts.dimensions.map(({ name, values }) => (
            <DimensionRow key={`${copy.id} ${name}`} copy={copy} name={name} values={values} />
          ))}
        </tbody>
      </table>
      <p class="row">
        <strong>{facts.count} {facts.count === 1 ? "variant" : "variants"}</strong>
        <span class="muted">of at most {MOST_VARIANTS}</span>
        {facts.count > MOST_VARIANTS && <span class="tag" data-tone="error">too many: shorten a dimension</span>}
        {facts.unused.map((name) => <span key={name} class="tag" data-tone="error">no parameter uses {name}</span>)}
      </p>
      {errors.length > 0 && (
        <ul aria-label="Problems of the matrix">
          {errors.map(({ message, hint, pointer }) => (
            <li key={`${pointer} ${message}`} class="notice" data-tone="error">
              {message} {hint ? <span class="muted">· {hint}</span> : null}
            </li>
          ))}
        </ul>
      )}
      {errors.length === 0 && <Variants copy={copy} />}
    </div>
  );
}

function DimensionRow({ copy, name, values }: { copy: Copy; name: string; values: Value[] }) {
  const written = writtenValues(values);
  const [text, setText] = useState(written), [problem, setProblem] = useState<string | null>(null);
  useEffect(() => setText(written), [written]);
  const types = typesOf(values), id = `dimension-${name}`;
  const commit = () => {
    const read = readValues(text, types);
    if ("problem" in read) return setProblem(read.problem);
    setProblem(null);
    edit(copy.id, setDimension(copy.recipe, name, read.values));
  };
  const bindings = matrixFacts(copy.recipe).bindings.filter(({ dimension }) => dimension === name);
  return (
    <tr>
      <td class="mono">{name}</td>
      <td>
        <label class="hidden-text" for={id}>Values of {name}</label>
        <input
          id={id}
          class="mono wide"
          value={text}
          spellcheck={false}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : `${id}-problem`}
          onInput={(event) => setText(event.currentTarget.value)}
          onBlur={commit}
          onKeyDown={(event) => event.key === "Enter" && commit()}
        />
        {problem !== null && <span id={`${id}-problem`} class="tag" data-tone="error">{problem}</span>}
      </td>
      <td>
        {bindings.map(({ stepId, param }) => (
          <span key={`${stepId} ${param}`} class="row">
            <button
              type="button"
              class="quiet mono"
              onClick={() => update(copy.id, { selected: stepId })}
            >
              {stepId}.{param}
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Release ${stepId}.${param} from ${name}`}
              onClick={() => edit(copy.id, unbind(copy.recipe, stepId, param.split(".")[0]))}
            >
              ✕
            </button>
          </span>
        ))}
      </td>
      <td>
        <button
          type="button"
          class="quiet"
          aria-label={`Remove the dimension ${name}`}
          onClick={() => edit(copy.id, setDimension(copy.recipe, name, null))}
        >
          Remove
        </button>
      </td>
    </tr>
  );
}

/** The types that values are typed in: those that are there, so that a float stays one. */
function typesOf(values: readonly Value[]): string[] {
  const types = values.map((value) =>
    typeof value === "boolean"
      ? "boolean"
      : typeof value === "string"
      ? "string"
      : Number.isInteger(value)
      ? "integer"
      : "number"
  );
  // One float makes all of them floats.
  return types.includes("number") ? ["number"] : [...new Set(types)];
}

function Variants({ copy }: { copy: Copy }) {
  const [variants, setVariants] = useState<Variant[] | null>(null),
    [problem, setProblem] = useState<string | null>(null);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const text = textOf(copy);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(
      () =>
        variantsOf(copy.recipe, stop.signal).then(
          (found) => (setVariants(found), setProblem(null)),
          (error) => (error as Error).name !== "AbortError" && setProblem(told(error)),
        ),
      300,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  const jobsOf = (variant: Variant) => {
    const id = variantJobs.value.get(variant.id);
    return id === undefined ? undefined : jobs.value.get(id);
  };
  const ended = (variants ?? []).map(jobsOf).filter((job): job is Job => job !== undefined && isEnded(job.state));
  useEffect(() => ended.forEach(wantSummary), [ended.length]);
  if (problem !== null) return <p class="notice" data-tone="error" role="alert">{problem}</p>;
  if (variants === null) return <p class="muted">Expanding</p>;
  const metrics = headlineMetrics(copy.verdict?.specs ?? null).filter((metric) =>
    ended.length === 0 || [...summaries.value.values()].some((summary) => metricOf(summary, metric.id) !== undefined)
  );
  const dimensions = Object.keys(variants[0]?.selection ?? {});
  const run = (chosen: readonly Variant[]) =>
    attempt(() => runInSequence(chosen.map((variant) => itemOf(copy, variant))));
  const chosen = variants.filter(({ id }) => ticked.has(id));
  const rows = variants.map((variant) => {
    const job = jobsOf(variant), summary = job?.run_id == null ? undefined : summaries.value.get(job.run_id);
    return { variant, job, values: metrics.map(({ id }) => summary === undefined ? undefined : metricOf(summary, id)) };
  });
  return (
    <>
      <div class="row">
        <h2>Variants</h2>
        <button type="button" class="primary" disabled={isRunning()} onClick={() => run(variants)}>
          Run matrix ({variants.length})
        </button>
        <button type="button" disabled={isRunning() || chosen.length === 0} onClick={() => run(chosen)}>
          Run selected ({chosen.length})
        </button>
        {isRunning() && <span class="small muted">one after another</span>}
        <RunCommand copy={copy} />
      </div>
      <VariantCurve
        dimensions={dimensions}
        metrics={metrics}
        rows={rows.map(({ variant, values }) => ({ variant, values: values.map((found) => found?.value) }))}
      />
      <table>
        <thead>
          <tr>
            <th>
              <span class="hidden-text">Choose</span>
            </th>
            <th class="number">No.</th>
            {dimensions.map((name) => <th key={name} class="number">{name}</th>)}
            <th>Variant</th>
            <th>State</th>
            {metrics.map(({ id, unit }) => <th key={id} class="number">{id}{unit ? ` (${unit})` : ""}</th>)}
            <th>
              <span class="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ variant, job, values }) => (
            <tr key={variant.id}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Choose variant ${variant.index}`}
                  checked={ticked.has(variant.id)}
                  onChange={(event) => {
                    const next = new Set(ticked);
                    event.currentTarget.checked ? next.add(variant.id) : next.delete(variant.id);
                    setTicked(next);
                  }}
                />
              </td>
              <td class="number">{variant.index}</td>
              {dimensions.map((name) => (
                <td key={name} class="number mono">{canonicalJson(variant.selection[name] ?? null)}</td>
              ))}
              <td class="mono small" title={variant.id}>{variant.id.slice(0, 16)}</td>
              <td>
                {job === undefined
                  ? waiting(variant)
                  : job.run_id === null
                  ? job.state
                  : <a href={address("runs", [job.run_id])}>{job.state}</a>}
              </td>
              {values.map((value, index) => (
                <td key={metrics[index].id} class="number mono" title={value === undefined ? "" : String(value.value)}>
                  {value?.text}
                </td>
              ))}
              <td>
                <button type="button" class="quiet" onClick={() => openCopy(variant.recipe)}>
                  Open<span class="hidden-text">variant {variant.index}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const waiting = ({ id }: Variant) =>
  sequence.value?.items.find(({ variantId }) => variantId === id)?.state ?? "not run";

/** Four significant digits; the whole number is in the title. */
export const brief = (value: Value): string => {
  if (typeof value === "number" || (typeof value === "object" && value !== null && "value" in value)) {
    const number = toNumber(value as number);
    if (Number.isInteger(number) && Math.abs(number) < 1e6) return String(value);
    return number !== 0 && (Math.abs(number) < 1e-3 || Math.abs(number) >= 1e6)
      ? number.toExponential(3)
      : String(Number(number.toPrecision(4)));
  }
  return typeof value === "string" ? value : canonicalJson(value);
};

export interface Metric {
  id: string;
  unit: string | null;
  direction: string | null;
}

/** The metrics that a recipe is about. */
export const headlineMetrics = (specs: JsonObject | null): Metric[] =>
  ((specs?.metrics ?? []) as JsonObject[]).map(({ id, unit, direction }) => ({
    id: String(id),
    unit: unit === null || unit === undefined ? null : String(unit),
    direction: direction === undefined ? null : String(direction),
  }));
