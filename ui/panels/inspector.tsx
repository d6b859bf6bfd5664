/** What a block is and how it is set: contract, parameters, inputs and outputs. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isEffective } from "../../lib/contract/schema.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { get } from "../api.ts";
import { choicesOf, isSelector, SELECTORS } from "../form/choices.ts";
import { Field } from "../form/field.tsx";
import { bind, matrixFacts, unbind } from "../form/matrix.ts";
import { signal, useState } from "../preact.ts";
import { address } from "../router.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, edit, setParam, setUnread, stepsOf, update } from "../state/copies.ts";
import { ReplaceDialog } from "./replace.tsx";
import { jobOf, type OutputFacts, shapeOf, useSummary } from "../state/summaries.ts";

/** Whether only what the author wrote is shown. */
const modifiedOnly = signal(false);

export function Inspector({ copy }: { copy: Copy }) {
  const steps = stepsOf(copy.recipe), index = steps.findIndex(({ id }) => id === copy.selected), step = steps[index];
  const summary = useSummary(jobOf(copy));
  const [replacing, setReplacing] = useState<string | null>(null);
  if (step === undefined) return <RecipeForm copy={copy} />;
  const contract = contracts.value.get(step.op);
  const properties = (contract?.params_schema.properties ?? {}) as { [name: string]: JsonObject };
  const names = Object.keys(properties).sort((a, b) => rank(a, properties[a]) - rank(b, properties[b]));
  const { bindings, dimensions } = matrixFacts(copy.recipe);
  const dimensionOf = (name: string) =>
    bindings.find(({ stepId, param }) => stepId === step.id && param.split(".")[0] === name)?.dimension ?? null;
  const isModified = (name: string) => step.params[name] !== undefined || dimensionOf(name) !== null;
  const shown = modifiedOnly.value ? names.filter(isModified) : names;
  const measured = summary?.steps.find(({ id }) => id === step.id);
  const effectiveStep = (copy.verdict?.effective?.steps as JsonObject[] | undefined)?.find(({ id }) => id === step.id);
  const params = { ...(effectiveStep?.params as JsonObject ?? defaults(properties)), ...step.params };
  const own = (copy.verdict?.diagnostics ?? []).filter(({ pointer }) => pointer?.startsWith(`/steps/${index}/params/`));
  return (
    <section class="inspector" aria-label="Inspector">
      <h2>{contract?.name ?? step.op}</h2>
      <p class="mono small">
        {step.id} ·{" "}
        {contract === undefined ? step.op : <a href={address("catalog", ["operations", step.op])}>{step.op}</a>}
      </p>
      {contract === undefined
        ? <p class="notice" data-tone="error">No operation of this name is known here.</p>
        : <p class="muted">{String(contract.description ?? "")}</p>}
      <div class="row spread">
        <h3>Parameters</h3>
        <label class="row small">
          <input
            type="checkbox"
            checked={modifiedOnly.value}
            onChange={(event) => modifiedOnly.value = event.currentTarget.checked}
          />
          Modified only ({names.filter(isModified).length})
        </label>
      </div>
      {shown.length === 0 && (
        <p class="muted">
          {names.length === 0 ? "None" : "All have their defaults. "}
          {names.length > 0 && (
            <button type="button" class="quiet" onClick={() => modifiedOnly.value = false}>Show all</button>
          )}
        </p>
      )}
      {shown.map((name) => {
        const key = `${step.id}.${name}`, schema = properties[name];
        return (
          <Field
            key={`${copy.id} ${key}`}
            id={`param-${step.id}-${name}`}
            name={name}
            schema={schema}
            value={step.params[name] as Value | undefined}
            effective={isEffective(contract!.params_schema, name, params)}
            choices={isSelector(name, schema) ? choicesOf(name, schema, contract!.materializations) : undefined}
            diagnostics={own.filter(({ pointer }) =>
              pointer === `/steps/${index}/params/${name}` || pointer!.startsWith(`/steps/${index}/params/${name}/`)
            )}
            unread={copy.unread[key]}
            dimension={dimensionOf(name)}
            dimensions={dimensions.map(({ name }) => name)}
            onChange={(value) => setParam(copy, step.id, name, value)}
            onUnread={(unread) =>
              setUnread(copy.id, key, unread === null ? null : { ...unread, stepId: step.id, param: name })}
            onSweep={(dimension, values) =>
              edit(copy.id, bind(copy.recipe, { stepId: step.id, param: name, dimension }, values))}
            onRelease={() => edit(copy.id, unbind(copy.recipe, step.id, name))}
          />
        );
      })}
      <h3>Inputs</h3>
      <Ports
        ports={{ ...contract?.input_kinds, ...contract?.optional_input_kinds }}
        wired={step.inputs}
        onFollow={(id) => update(copy.id, { selected: id })}
      />
      <h3>Outputs</h3>
      {Object.entries(contract?.output_kinds ?? {}).map(([port, kind]) => (
        <Output key={`${summary?.run_id} ${port}`} port={port} kind={kind} facts={measured?.outputs?.[port]} />
      ))}
      {contract !== undefined && (
        <>
          <button type="button" class="small" onClick={() => setReplacing(step.id)}>
            Duplicate as custom recipe …
          </button>
          {replacing === step.id && <ReplaceDialog copy={copy} stepId={step.id} onClose={() => setReplacing(null)} />}
          <h3>Contract</h3>
          <dl class="facts">
            <dt>Status</dt>
            <dd>{contract.status}</dd>
            <dt>Backends</dt>
            <dd>{(contract.backends.benchmark_run ?? []).join(", ")}</dd>
            <dt>Runs beside others</dt>
            <dd>
              {isObject(contract.execution_safety) && contract.execution_safety.thread_safe ? "yes" : "no, alone"}
            </dd>
            <dt>Equivalence</dt>
            <dd>{isObject(contract.equivalence) ? String(contract.equivalence.type) : ""}</dd>
          </dl>
        </>
      )}
    </section>
  );
}

const rank = (name: string, schema: JsonObject) =>
  isSelector(name, schema) ? SELECTORS.indexOf(name) : SELECTORS.length;

const defaults = (properties: { [name: string]: JsonObject }): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      schema.default === undefined ? [] : [[name, schema.default]]
    ),
  );

function Ports(
  { ports, wired, onFollow }: {
    ports: { [port: string]: string[] };
    wired: { [port: string]: string };
    onFollow(id: string): void;
  },
) {
  if (Object.keys(ports).length === 0) return <p class="muted">None</p>;
  return (
    <dl class="facts">
      {Object.entries(ports).map(([port, kinds]) => (
        <>
          <dt class="mono" title={kinds.join(", ")}>{port}</dt>
          <dd>
            {wired[port] === undefined
              ? <span class="muted">not wired</span>
              : (
                <button type="button" class="quiet mono" onClick={() => onFollow(wired[port].split(".")[0])}>
                  {wired[port]}
                </button>
              )}
          </dd>
        </>
      ))}
    </dl>
  );
}

/** An output: its kind, and what the last run gave it. */
function Output({ port, kind, facts }: { port: string; kind: string; facts: OutputFacts | undefined }) {
  const [preview, setPreview] = useState<JsonObject | null>(null),
    [problem, setProblem] = useState<string | null>(null);
  const load = () =>
    get<{ preview: JsonObject }>(`/api/artifact?path=${encodeURIComponent(facts!.path)}`).then(
      ({ preview }) => setPreview(preview),
      (error) => setProblem(error.message),
    );
  return (
    <div class="output">
      <span class="mono">{port}</span> <span class="mono small muted">{kind}</span>
      {facts !== undefined && (
        <dl class="facts">
          <dt>Last run</dt>
          <dd class="mono small">{shapeOf(facts) || "no array"}</dd>
          <dt>SHA-256</dt>
          <dd class="mono small" title={facts.sha256}>{facts.sha256.slice(0, 16)}…</dd>
        </dl>
      )}
      {facts !== undefined && preview === null && problem === null && (
        <button type="button" class="small" onClick={load}>
          First values<span class="hidden-text">of {port}</span>
        </button>
      )}
      {problem !== null && <p class="notice" data-tone="error">{problem}</p>}
      {preview !== null && <pre class="preview small" tabindex={0}>{firstOf(preview)}</pre>}
    </div>
  );
}

const MOST_CHARACTERS = 400;

function firstOf(preview: JsonObject): string {
  const arrays = Array.isArray(preview.arrays) ? preview.arrays as JsonObject[] : null;
  const text = arrays === null
    ? canonicalJson(preview)
    : arrays.map(({ name, values }) => `${name}: ${(values as Value[]).slice(0, 16).map(String).join(", ")}`).join(
      "\n",
    );
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

/** What the recipe as such says; shown while no block is selected. */
function RecipeForm({ copy }: { copy: Copy }) {
  const { recipe } = copy, metadata = isObject(recipe.metadata) ? recipe.metadata : {};
  const text = (key: "name" | "description") => (
    <div class="field">
      <label for={`recipe-${key}`}>{key === "name" ? "Name" : "Description"}</label>
      <input
        id={`recipe-${key}`}
        value={String(recipe[key] ?? "")}
        onInput={(event) => {
          const { [key]: _, ...others } = recipe, { value } = event.currentTarget;
          edit(copy.id, value === "" && key !== "name" ? others : { ...recipe, [key]: value }, key);
        }}
      />
    </div>
  );
  return (
    <section class="inspector" aria-label="Inspector">
      <h2>Recipe</h2>
      {text("name")}
      {text("description")}
      <Field
        key={copy.id}
        id="recipe-seed"
        name="seed"
        schema={SEED}
        value={metadata.seed}
        effective
        diagnostics={(copy.verdict?.diagnostics ?? []).filter(({ pointer }) => pointer === "/metadata/seed")}
        unread={copy.unread.seed}
        onChange={(value) => {
          const { seed: _, ...others } = metadata;
          const next = value === undefined ? others : { ...metadata, seed: value };
          edit(copy.id, { ...recipe, metadata: next }, "seed");
        }}
        onUnread={(unread) =>
          setUnread(copy.id, "seed", unread === null ? null : { ...unread, stepId: "", param: "seed" })}
      />
      <dl class="facts spaced">
        <dt>File</dt>
        <dd class="mono small">{copy.file?.path ?? "not saved yet"}</dd>
        <dt>Profile</dt>
        <dd class="mono small">
          {isObject(recipe.execution_profile) ? String(recipe.execution_profile.id) : "custom"}
        </dd>
        <dt>Blocks</dt>
        <dd>{stepsOf(recipe).length}</dd>
      </dl>
      <p class="muted">
        Select a block to see and change its parameters. Wiring is changed in Raw JSON; a recipe that is wired otherwise
        than its profile says has the profile custom, with based_on.
      </p>
    </section>
  );
}

const SEED: JsonObject = {
  type: "integer",
  minimum: 0,
  description: "master seed; every step's stream follows from it",
};
