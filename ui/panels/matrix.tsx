// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The matrix of a recipe: its dimensions and their parameters, the variants, and their runs. */
import { canonicalJson } from "../../lib/contract/json.ts";
import type { Value } from "../../lib/contract/value.ts";
import { matrixFacts, MOST_VARIANTS, readValues, setDimension, unbind, writtenValues } from "../form/matrix.ts";
import { type Column, Diagnostics, Hidden, Shown, Table } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";
import { type Copy, edit, openCopy, textOf, update } from "../state/copies.ts";
import { isEnded, type Job, jobs } from "../state/events.ts";
import { useLoaded } from "../state/fetched.ts";
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
import { headlineMetrics } from "./headline.ts";
import { RunCommand } from "./run_command.tsx";
import { VariantCurve } from "./variant_curve.tsx";

export function Matrix({ copy }: { copy: Copy }) {
  const facts = matrixFacts(copy.recipe);
  const errors = (copy.verdict?.diagnostics ?? []).filter(({ code }) => code.startsWith("matrix_"));
  if (facts.dimensions.length === 0 && facts.bindings.length === 0) {
    return (
      <div class="empty">
        This recipe has no matrix. Select a block and press <strong>Sweep</strong>{" "}
        at a parameter: its values become a dimension, and each combination of values a run.
      </div>
    );
  }
  return (
    <div class="pad stack">
      <h2>Dimensions</h2>
      <Table
        rows={facts.dimensions}
        keyOf={({ name }) => `${copy.id} ${name}`}
        columns={[
          ["Dimension", ({ name }) => name, "mono"],
          ["Values", ({ name, values }) => <DimensionValues copy={copy} name={name} values={values} />],
          ["Parameters", ({ name }) => <Bindings copy={copy} name={name} />],
          [<Hidden>Actions</Hidden>, ({ name }) => (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove the dimension ${name}`}
              onClick={() => edit(copy.id, setDimension(copy.recipe, name, null))}
            >
              Remove
            </button>
          )],
        ]}
      />
      <p class="row">
        <strong>{facts.count} {facts.count === 1 ? "variant" : "variants"}</strong>
        <span class="muted">of at most {MOST_VARIANTS}</span>
        {facts.count > MOST_VARIANTS && <span class="tag" data-tone="error">too many: shorten a dimension</span>}
        {facts.unused.map((name) => <span key={name} class="tag" data-tone="error">no parameter uses {name}</span>)}
      </p>
      {errors.length > 0 && <Diagnostics label="Problems of the matrix" items={errors} />}
      {errors.length === 0 && <Variants copy={copy} />}
    </div>
  );
}

function DimensionValues({ copy, name, values }: { copy: Copy; name: string; values: Value[] }) {
  const written = writtenValues(values);
  const [text, setText] = useState(written), [problem, setProblem] = useState<string | null>(null);
  useEffect(() => setText(written), [written]);
  const id = `dimension-${name}`;
  const commit = () => {
    const read = readValues(text, typesOf(values));
    if ("problem" in read) return setProblem(read.problem);
    setProblem(null);
    edit(copy.id, setDimension(copy.recipe, name, read.values));
  };
  return (
    <>
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
    </>
  );
}

/** The parameters of a dimension. */
function Bindings({ copy, name }: { copy: Copy; name: string }) {
  const bindings = matrixFacts(copy.recipe).bindings.filter(({ dimension }) => dimension === name);
  return (
    <>
      {bindings.map(({ stepId, param }) => (
        <span key={`${stepId} ${param}`} class="row">
          <button type="button" class="quiet mono" onClick={() => update(copy.id, { selected: stepId })}>
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
    </>
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
  // The server is asked a moment after the last letter.
  const found = useLoaded(async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, EXPAND_AFTER_MS));
    return signal.aborted ? [] : await variantsOf(copy.recipe, signal);
  }, textOf(copy));
  return <Shown of={found} what="the variants">{(variants) => <VariantList copy={copy} variants={variants} />}</Shown>;
}

const EXPAND_AFTER_MS = 300;

const jobOf = ({ id }: Variant): Job | undefined => jobs.value.get(variantJobs.value.get(id) ?? "");

function VariantList({ copy, variants }: { copy: Copy; variants: readonly Variant[] }) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const ended = variants.flatMap((variant) => jobOf(variant) ?? []).filter(({ state }) => isEnded(state));
  useEffect(() => ended.forEach(wantSummary), [ended.length]);
  const metrics = headlineMetrics(copy).filter(({ id }) =>
    ended.length === 0 || [...summaries.value.values()].some((summary) => metricOf(summary, id) !== undefined)
  );
  const dimensions = Object.keys(variants[0]?.selection ?? {}), chosen = variants.filter(({ id }) => ticked.has(id));
  const run = (some: readonly Variant[]) => attempt(() => runInSequence(some.map((variant) => itemOf(copy, variant))));
  const tick = (id: string, on: boolean) => {
    const next = new Set(ticked);
    on ? next.add(id) : next.delete(id);
    setTicked(next);
  };
  const rows = variants.map((variant) => {
    const summary = summaries.value.get(jobOf(variant)?.run_id ?? "");
    return { variant, values: metrics.map(({ id }) => summary === undefined ? undefined : metricOf(summary, id)) };
  });
  type Row = typeof rows[number];
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
      <Table
        rows={rows}
        keyOf={({ variant }) => variant.id}
        columns={[
          [<Hidden>Choose</Hidden>, ({ variant: { id, index } }) => (
            <input
              type="checkbox"
              aria-label={`Choose variant ${index}`}
              checked={ticked.has(id)}
              onChange={(event) => tick(id, event.currentTarget.checked)}
            />
          )],
          ["No.", ({ variant }) => variant.index, "number"],
          ...dimensions.map((name): Column<Row> => [
            name,
            ({ variant }) => canonicalJson(variant.selection[name] ?? null),
            "number mono",
          ]),
          ["Variant", ({ variant }) => variant.id.slice(0, 16), "mono small", ({ variant }) => variant.id],
          ["State", ({ variant }) => <VariantState variant={variant} />],
          ...metrics.map(({ id, unit }, at): Column<Row> => [
            unit ? `${id} (${unit})` : id,
            ({ values }) => values[at]?.text,
            "number mono",
            ({ values }) => String(values[at]?.value ?? ""),
          ]),
          [
            <Hidden>Actions</Hidden>,
            ({ variant: { recipe, index } }) => (
              <button
                type="button"
                class="quiet"
                onClick={() => openCopy(recipe)}
              >
                Open<Hidden>variant {index}</Hidden>
              </button>
            ),
          ],
        ]}
      />
    </>
  );
}

function VariantState({ variant }: { variant: Variant }) {
  const job = jobOf(variant);
  if (job === undefined) {
    return <>{sequence.value?.items.find(({ variantId }) => variantId === variant.id)?.state ?? "not run"}</>;
  }
  return job.run_id === null ? <>{job.state}</> : <a href={address("runs", [job.run_id])}>{job.state}</a>;
}
