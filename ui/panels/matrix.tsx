// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The matrix of a recipe: its dimensions and their parameters, the variants, and their runs. */
import { asObject, canonicalJson } from "../../lib/contract/json.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import { ask } from "../api.ts";
import { useComparedRuns } from "../compare/load.ts";
import type { ComparedRun } from "../compare/table.ts";
import { matrixFacts, setDimension, unbind } from "../../lib/contract/matrix_edits.ts";
import { MOST_VARIANTS } from "../form/matrix.ts";
import { Check, Close, type Column, Diagnostics, Hidden, Shown, Table, Trouble } from "../parts.tsx";
import { lazy, useEffect, useMemo, useRef, useState } from "../preact.ts";
import { address } from "../router.ts";
import { FailedVariants } from "../runs/failure.tsx";
import { entryOf, loadMetrics, shownMetric } from "../runs/metrics.ts";
import { type Copy, edit, nameOf, openCopy, textOf, update } from "../state/copies.ts";
import { isEnded, type VariantRun } from "../state/events.ts";
import { useLoaded } from "../state/fetched.ts";
import { sweepOf } from "../state/ran.ts";
import { startRun } from "../state/runs.ts";
import { useVariantRuns } from "../state/variant_runs.ts";
import { attempt, whyNotRun } from "./bar.tsx";
import { DimensionValues } from "./dimension_values.tsx";
import { headlineMetrics } from "./headline.ts";
import { RunCommand } from "./run_command.tsx";
import { SweepLine } from "./sweep_result.tsx";

const VariantCurve = lazy(() => import("./variant_curve.tsx"), "Loading the figure");

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
          [
            "Values",
            ({ name, values }) => <DimensionValues id={`dimension-${name}`} copy={copy} name={name} values={values} />,
          ],
          ["Parameters", ({ name }) => <Bindings copy={copy} name={name} />],
          [<Hidden>Actions</Hidden>, ({ name }) => (
            <button
              type="button"
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
        <Check
          label="Same noise in all variants"
          look="small"
          checked={isNamed(copy.recipe)}
          onChange={(same) => edit(copy.id, withNamespace(copy.recipe, same ? nameOf(copy) : null))}
        />
        {facts.unused.map((name) => <span key={name} class="tag" data-tone="error">no parameter uses {name}</span>)}
      </p>
      {errors.length > 0 && <Diagnostics label="Problems of the matrix" items={errors} />}
      {errors.length === 0 && <Variants copy={copy} />}
    </div>
  );
}

/** Whether variants share a namespace of seeds: seeds that derive from the master seed are then equal in all of them. */
const isNamed = ({ metadata }: JsonObject) => String(asObject(metadata).seed_namespace ?? "").trim() !== "";

/** A recipe whose variants share a namespace of seeds, or whose variants draw their own noise (null). */
function withNamespace(recipe: JsonObject, name: string | null): JsonObject {
  const { seed_namespace: _, ...others } = asObject(recipe.metadata);
  return { ...recipe, metadata: name === null ? others : { ...others, seed_namespace: name } };
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
          <Close
            label={`Release ${stepId}.${param} from ${name}`}
            onClick={() => edit(copy.id, unbind(copy.recipe, stepId, param.split(".")[0]))}
          />
        </span>
      ))}
    </>
  );
}

interface Variant {
  id: string;
  name: string;
  index: number;
  selection: { [dimension: string]: Value };
  recipe: JsonObject;
}

/** The variants of a recipe, verbatim from the server. @throws Problem */
async function variantsOf(recipe: JsonObject, stop: AbortSignal): Promise<Variant[]> {
  const { recipes } = await ask("/api/recipe/matrix/expand", { recipe }, { signal: stop });
  return recipes.map((variant, index) => ({
    id: String(variant.metadata.matrix_variant_id ?? index),
    name: variant.name,
    index,
    selection: (variant.metadata.matrix_selection ?? {}) as Variant["selection"],
    recipe: variant,
  }));
}

function Variants({ copy }: { copy: Copy }) {
  // The server is asked a moment after the last letter.
  const found = useLoaded(async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, EXPAND_AFTER_MS));
    return signal.aborted ? [] : await variantsOf(copy.recipe, signal);
  }, textOf(copy));
  // Those before stay until then, with their curve.
  const before = useRef<{ id: string; value: Variant[] } | null>(null);
  if (found.value !== null) before.current = { id: copy.id, value: found.value };
  const value = before.current?.id === copy.id && found.problem === null ? before.current.value : found.value;
  return (
    <Shown of={{ ...found, value }} what="the variants">
      {(variants) => <VariantList copy={copy} variants={variants} />}
    </Shown>
  );
}

const EXPAND_AFTER_MS = 300;

/** A metric of a run as it names it, of the last step that measured it. */
const namedIn = ({ metrics }: ComparedRun, metric: string): string | undefined =>
  metrics.has(metric) ? metric : [...metrics.keys()].findLast((name) => name.endsWith(`:${metric}`));

function VariantList({ copy, variants }: { copy: Copy; variants: readonly Variant[] }) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const reason = whyNotRun(copy), sweep = sweepOf(copy), active = sweep !== undefined && !isEnded(sweep.state);
  const started = useVariantRuns(copy, sweep, variants.length);
  const ids = variants.flatMap(({ id }) => {
    const { run_id = null, status } = started[id] ?? {};
    return status === "completed" && run_id !== null ? [run_id] : [];
  });
  const { runs, problems } = useComparedRuns(ids), runOf = new Map(runs.map((run) => [run.id, run]));
  useEffect(() => void loadMetrics().catch(() => {}), []);
  const rows = variants.map((variant): Row => {
    const run = started[variant.id], compared = runOf.get(run?.run_id ?? "");
    return { variant, run, compared };
  });
  // The curve is drawn again when it has a point more.
  const swept = useMemo(
    () =>
      rows.flatMap(({ variant: { selection }, compared }) =>
        compared === undefined ? [] : [{ ...compared, parameters: new Map(Object.entries(selection)) }]
      ),
    [runs.map(({ id }) => id).join()],
  );
  const metrics = headlineMetrics(copy).filter(({ id }) =>
    runs.length === 0 || runs.some((run) => namedIn(run, id) !== undefined)
  );
  const dimensions = Object.keys(variants[0]?.selection ?? {}), chosen = variants.filter(({ id }) => ticked.has(id));
  const tick = (id: string, on: boolean) => {
    const next = new Set(ticked);
    on ? next.add(id) : next.delete(id);
    setTicked(next);
  };
  return (
    <>
      <div class="row">
        <h2>Variants</h2>
        <button
          type="button"
          class="primary"
          disabled={active || reason !== null}
          title={reason ?? undefined}
          onClick={() => attempt(() => startRun(copy))}
        >
          Run matrix ({variants.length})
        </button>
        <button
          type="button"
          disabled={active || reason !== null || chosen.length === 0}
          onClick={() => attempt(() => startRun(copy, chosen.map(({ id }) => id)))}
        >
          Run selected ({chosen.length})
        </button>
        <RunCommand copy={copy} />
      </div>
      {sweep !== undefined && <SweepLine job={sweep} count={variants.length} started={started} />}
      {sweep !== undefined && <FailedVariants job={sweep} />}
      <Trouble tone="warn" text={problems.join(". ")} />
      {swept.length > 1 && (
        <div class="sweep-curve">
          <VariantCurve runs={swept} metric={metrics[0] && namedIn(swept[0], metrics[0].id)} tall />
        </div>
      )}
      <Table
        rows={rows}
        keyOf={({ variant }) => variant.id}
        columns={variantColumns({ dimensions, metrics, active, ticked, tick })}
      />
    </>
  );
}

/** A variant with its run of the latest sweep. */
interface Row {
  variant: Variant;
  run: VariantRun | undefined;
  compared: ComparedRun | undefined;
}

function variantColumns({ dimensions, metrics, active, ticked, tick }: {
  dimensions: readonly string[];
  metrics: ReturnType<typeof headlineMetrics>;
  active: boolean;
  ticked: ReadonlySet<string>;
  tick(id: string, on: boolean): void;
}): Column<Row>[] {
  return [
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
      ({ variant: { selection: { [name]: value = null } } }) =>
        typeof value === "string" ? value : canonicalJson(value),
      "number mono",
    ]),
    ["State", ({ run }) => <VariantState run={run} active={active} />],
    ...metrics.map(({ id, unit }): Column<Row> => {
      const valueOf = ({ compared }: Row) => {
        const name = compared && namedIn(compared, id);
        return name === undefined ? undefined : { value: compared!.metrics.get(name), rate: compared!.rates.get(name) };
      };
      return [
        <span title={id}>{entryOf(id)?.name ?? id}{unitText(unit ?? "") && ` (${unitText(unit ?? "")})`}</span>,
        (row) => {
          const found = valueOf(row);
          return found && shownMetric(found.value, found.rate);
        },
        "number mono",
        (row) => String(valueOf(row)?.value ?? ""),
      ];
    }),
    ["Variant", ({ variant }) => variant.id.slice(0, 16), "mono small", ({ variant }) => variant.id],
    [
      <Hidden>Actions</Hidden>,
      ({ variant: { recipe, index } }) => (
        <button
          type="button"
          onClick={() => openCopy(recipe)}
        >
          Open<Hidden>variant {index}</Hidden>
        </button>
      ),
    ],
  ];
}

function VariantState({ run, active }: { run: VariantRun | undefined; active: boolean }) {
  if (run === undefined) return <>{active ? "waiting" : "not run"}</>;
  // Nothing runs in a job that was ended from outside.
  const text = run.status === "running" && !active ? "interrupted" : run.status;
  return run.run_id === null ? <>{text}</> : <a href={address("runs", [run.run_id])}>{text}</a>;
}
