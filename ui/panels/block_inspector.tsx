// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The selected block: contract, parameters, inputs and outputs. Loaded when a block is first selected. */
import { removeStep, rewire, sourcesFor } from "../../lib/contract/graph_edits.ts";
import { stepOutputKinds } from "../../lib/contract/output_kinds.ts";
import { isEffective, isShown, shownWhen } from "../../lib/contract/schema.ts";
import { type JsonObject, type Value } from "../../lib/contract/value.ts";
import type { Reply } from "../api.ts";
import { choicesOf, isSelector, SELECTORS } from "../form/choices.ts";
import { Field, isModified } from "../form/field.tsx";
import { FACETS } from "../form/presentation.ts";
import { bind, matrixFacts, unbind } from "../../lib/contract/matrix_edits.ts";
import { Check, Close, Facts, Hidden, Select, Trouble } from "../parts.tsx";
import { lazy, signal, useMemo, useState } from "../preact.ts";
import { address } from "../router.ts";
import { runtimesText } from "../runtimes.ts";
import { type Contract, contracts } from "../state/contracts.ts";
import { type Copy, edit, setParam, setUnread, type Step, stepsOf, update } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";
import { jobOf, type Output, shapeOf, useSummary } from "../state/summaries.ts";

const edits = () => import("./replace.tsx");
const ReplaceDialog = lazy(() => edits().then(({ ReplaceDialog }) => ReplaceDialog));
const InsertDialog = lazy(() => edits().then(({ InsertDialog }) => InsertDialog));

const Chooser = lazy(() => import("../data/chooser.tsx"));
const AdapterChooser = lazy(() => import("../data/adapters.tsx"));
const isOfAdapter = ({ external_adapter }: Contract) => external_adapter !== undefined;
const ArtifactChooser = lazy(() => import("../data/artifacts.tsx"));
/** Parameters that pin data. */
const PINS = /^(manifest|dataset|recording|code|checkpoint)_sha256$/;

/** Whether only modified parameters are shown. */
const modifiedOnly = signal(false);

export default function BlockInspector({ copy, step }: { copy: Copy; step: Step }) {
  const steps = stepsOf(copy.recipe), index = steps.findIndex(({ id }) => id === step.id);
  const summary = useSummary(jobOf(copy));
  const contract = contracts.value.get(step.op);
  const kinds = stepOutputKinds(steps, (op) => contracts.value.get(op))[index] ?? contract?.output_kinds ?? {};
  const measured = summary?.steps.find(({ id }) => id === step.id);
  return (
    <>
      <div class="row spread nowrap">
        <h2>{contract?.name ?? step.op}</h2>
        <Close label="Close the block, show the recipe" onClick={() => update(copy.id, { selected: null })} />
      </div>
      <p class="mono small">
        {step.id} ·{" "}
        {contract === undefined ? step.op : <a href={address("catalog", ["operations", step.op])}>{step.op}</a>}
      </p>
      {contract === undefined
        ? <p class="notice" data-tone="error">No operation of this name is known here.</p>
        : <p class="muted">{contract.description ?? ""}</p>}
      <Edits copy={copy} stepId={step.id} />
      {Object.keys(contract?.params_schema.properties ?? {}).some((name) => PINS.test(name)) && (
        <Chooser key={`${copy.id} ${step.id} ${step.op}`} copy={copy} step={step} />
      )}
      {contract?.trained_artifact_abi !== undefined && (
        <ArtifactChooser key={`${copy.id} ${step.id} ${step.op} artifact`} copy={copy} step={step} />
      )}
      {[...contracts.value.values()].some(isOfAdapter) && (
        <AdapterChooser key={`${copy.id} ${step.id} ${step.op} adapter`} copy={copy} step={step} />
      )}
      <Parameters copy={copy} step={step} index={index} contract={contract} />
      <h3>Inputs</h3>
      <Ports
        ports={{ ...contract?.input_kinds, ...contract?.optional_input_kinds }}
        wired={step.inputs}
        onFollow={(id) => update(copy.id, { selected: id })}
        sources={(port) => sourcesFor(copy.recipe, step.id, port, contracts.value)}
        optional={Object.keys(contract?.optional_input_kinds ?? {})}
        onChoose={async (port, from) =>
          (await edits()).perform(copy, rewire(copy.recipe, { step: step.id, port, from }, contracts.value))}
      />
      <h3>Outputs</h3>
      {Object.entries(kinds).map(([port, kind]) => (
        <OutputView key={`${summary?.run_id} ${port}`} port={port} kind={kind} facts={measured?.outputs[port]} />
      ))}
      {contract !== undefined && <ContractFacts contract={contract} />}
    </>
  );
}

interface ParametersProps {
  copy: Copy;
  step: Step;
  /** Of the step in the recipe. */
  index: number;
  contract: Contract | undefined;
}

function Parameters({ copy, step, index, contract }: ParametersProps) {
  const properties = (contract?.params_schema.properties ?? {}) as { [name: string]: JsonObject };
  const { bindings, dimensions } = matrixFacts(copy.recipe);
  const boundTo = (name: string) =>
    bindings.find(({ stepId, param }) => stepId === step.id && param.split(".")[0] === name);
  const dimensionOf = (name: string) => boundTo(name)?.dimension ?? null;
  const isChanged = (name: string) => isModified(step.params[name], properties[name]) || dimensionOf(name) !== null;
  // A part of a value may be swept, which leaves the others.
  const sweepOf = (name: string) => {
    const bound = boundTo(name);
    return bound?.param === name ? dimensions.find(({ name }) => name === bound.dimension)?.values : undefined;
  };
  // Set when the block is selected, so that a field stays in its place while it is edited.
  const [names, leading] = useMemo(() => {
    const order = (name: string) => rank(name, properties[name]) + (isChanged(name) ? 0 : HEADLINE.has(name) ? 10 : 20);
    const names = Object.keys(properties).sort((a, b) => order(a) - order(b));
    return [names, new Set(names.filter((name) => order(name) < 20))];
  }, [copy.id, step.id, contract]);
  const effective = copy.verdict?.forms?.effective.steps.find(({ id }) => id === step.id);
  const params = { ...(effective?.params as JsonObject ?? defaults(properties)), ...step.params };
  const findings = copy.verdict?.diagnostics ?? [];
  const hasEffect = (name: string) => isChanged(name) || isShown(contract!.params_schema, name, params);
  const shown = names.filter((name) => modifiedOnly.value ? isChanged(name) : hasEffect(name));
  const rest = shown.filter((name) => !leading.has(name));
  // Those that always have an effect come first.
  const groups = [...Map.groupBy(rest, (name) => controllersOf(properties[name]))]
    .sort(([a], [b]) => Number(a !== "") - Number(b !== ""));
  const idle = modifiedOnly.value ? [] : names.filter((name) => !hasEffect(name));
  const at = (name: string) => `/steps/${index}/params/${name}`;
  return (
    <>
      <div class="row spread">
        <h3>Parameters</h3>
        <Check
          look="small"
          label={`Modified only (${names.filter(isChanged).length})`}
          checked={modifiedOnly.value}
          onChange={(only) => modifiedOnly.value = only}
        />
      </div>
      {shown.length === 0 && (
        <p class="muted">
          {names.length === 0 ? "None" : "All have their defaults. "}
          {names.length > 0 && <button type="button" onClick={() => modifiedOnly.value = false}>Show all</button>}
        </p>
      )}
      {shown.filter((name) => leading.has(name)).map(field)}
      {groups.flatMap(([controllers, names]) => [
        controllers !== "" && <h4 key={`${copy.id} ${step.id} with ${controllers}`}>With {controllers}</h4>,
        ...names.map(field),
      ])}
      {idle.length > 0 && (
        <details>
          <summary>{idle.length} without effect under the chosen values</summary>
          {idle.map(field)}
        </details>
      )}
    </>
  );

  function field(name: string) {
    const key = `${step.id}.${name}`, schema = properties[name];
    return (
      <Field
        key={`${copy.id} ${key}`}
        id={`param-${step.id}-${name}`}
        name={name}
        schema={schema}
        value={step.params[name] as Value | undefined}
        effective={isEffective(contract!.params_schema, name, params)}
        choices={choicesOf(name, schema, contract!)}
        diagnostics={findings.filter(({ pointer }) => pointer === at(name) || pointer?.startsWith(`${at(name)}/`))}
        unread={copy.unread[key]}
        dimension={dimensionOf(name)}
        sweep={sweepOf(name)}
        dimensions={dimensions.map(({ name }) => name)}
        onChange={(value) => setParam(copy, step.id, name, value)}
        onUnread={(unread) =>
          setUnread(copy.id, key, unread === null ? null : { ...unread, stepId: step.id, param: name })}
        onSweep={(dimension, values) =>
          edit(copy.id, bind(copy.recipe, { stepId: step.id, param: name, dimension }, values))}
        onRelease={() => edit(copy.id, unbind(copy.recipe, step.id, name))}
      />
    );
  }
}

/** Replaces or removes the block, or inserts one after it. */
function Edits({ copy, stepId }: { copy: Copy; stepId: string }) {
  const [open, setOpen] = useState<{ stepId: string; edit: "replace" | "insert" } | null>(null);
  const close = () => setOpen(null), shown = open?.stepId === stepId ? open.edit : null;
  return (
    <p class="row">
      <button type="button" onClick={() => setOpen({ stepId, edit: "replace" })}>Replace …</button>
      <button type="button" onClick={() => setOpen({ stepId, edit: "insert" })}>Insert after …</button>
      <button
        type="button"
        onClick={async () => (await edits()).perform(copy, removeStep(copy.recipe, stepId, contracts.value))}
      >
        Remove
      </button>
      {shown === "replace" && <ReplaceDialog copy={copy} stepId={stepId} onClose={close} />}
      {shown === "insert" && <InsertDialog copy={copy} stepId={stepId} onClose={close} />}
    </p>
  );
}

function ContractFacts({ contract }: { contract: Contract }) {
  return (
    <>
      <h3>Contract</h3>
      <Facts
        of={[
          ["Status", contract.status],
          ["Runs in", runtimesText(contract.backends.benchmark_run)],
          ["Thread-safe", contract.execution_safety.thread_safe ? "yes" : "no, runs alone"],
          ["Equivalence", String(contract.equivalence.type)],
        ]}
      />
    </>
  );
}

/** Parameters that studies turn, shown behind the modified ones. */
const HEADLINE: ReadonlySet<string> = new Set(FACETS.flatMap(({ params }) => params));

/** The parameters whose values give this one an effect; empty for none. */
const controllersOf = (schema: JsonObject): string => Object.keys(shownWhen(schema) ?? {}).join(", ");

const rank = (name: string, schema: JsonObject) =>
  isSelector(name, schema) ? SELECTORS.indexOf(name) : SELECTORS.length;

const defaults = (properties: { [name: string]: JsonObject }): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      schema.default === undefined ? [] : [[name, schema.default]]
    ),
  );

interface PortsProps {
  ports: { [port: string]: string[] };
  wired: { [port: string]: string };
  onFollow(id: string): void;
  /** The outputs that a port can read. */
  sources(port: string): string[];
  optional: readonly string[];
  onChoose(port: string, from: string | null): void;
}

function Ports({ ports, wired, onFollow, sources, optional, onChoose }: PortsProps) {
  if (Object.keys(ports).length === 0) return <p class="muted">None</p>;
  const choicesOf = (port: string) => {
    const from = wired[port], found = sources(port);
    return [
      ...(from === undefined || optional.includes(port) ? [["", "not wired"] as const] : []),
      ...[...new Set(from === undefined ? found : [from, ...found])].map((one) => [one, one] as const),
    ];
  };
  return (
    <Facts
      of={Object.entries(ports).map(([port, kinds]) => [
        <span class="mono" title={kinds.join(", ")}>{port}</span>,
        <span class="row">
          <Select
            label={<Hidden>Source of {port}</Hidden>}
            value={wired[port] ?? ""}
            options={choicesOf(port)}
            onChoose={(from) => onChoose(port, from === "" ? null : from)}
          />
          {wired[port] !== undefined && (
            <button
              type="button"
              onClick={() => onFollow(wired[port].split(".")[0])}
            >
              Show<Hidden>{wired[port]}</Hidden>
            </button>
          )}
        </span>,
      ])}
    />
  );
}

/** An output: its kind, and its array of the last run. */
function OutputView({ port, kind, facts }: { port: string; kind: string; facts: Output | undefined }) {
  const [wanted, setWanted] = useState(false);
  const { value, problem } = useFetched(wanted ? "/api/artifact" : null, { query: { path: facts?.path } });
  return (
    <div class="output">
      <span class="mono">{port}</span> <span class="mono small muted">{kind}</span>
      {facts !== undefined && (
        <Facts
          mono="mono small"
          of={[
            ["Last run", shapeOf(facts) || "no array"],
            ["SHA-256", <span title={facts.sha256}>{facts.sha256.slice(0, 16)}…</span>],
          ]}
        />
      )}
      {facts !== undefined && value === null && problem === null && (
        <button
          type="button"
          onClick={() => setWanted(true)}
        >
          First values<Hidden>of {port}</Hidden>
        </button>
      )}
      <Trouble text={problem} />
      {value !== null && <pre class="preview small" tabindex={0}>{firstOf(value.preview)}</pre>}
    </div>
  );
}

const MOST_CHARACTERS = 400;

function firstOf(preview: Reply<"/api/artifact">["preview"]): string {
  const text = preview?.arrays === undefined
    ? preview?.text ?? "no preview"
    : preview.arrays.map(({ name, values }) => `${name}: ${values.slice(0, 16).map(String).join(", ")}`).join("\n");
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
