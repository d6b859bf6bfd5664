/** What a block is and how it is set: contract, parameters, inputs and outputs. */
import { isEffective } from "../../lib/contract/schema.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { Field } from "../form/field.tsx";
import { contracts } from "../state/contracts.ts";
import { type Copy, setParam, stepsOf, update } from "../state/copies.ts";
import { address } from "../router.ts";

/** Parameters that choose how a block works come first. */
const SELECTORS = ["mode", "policy", "model", "runtime", "channel", "modulation", "backend"];

export function Inspector({ copy }: { copy: Copy }) {
  const steps = stepsOf(copy.recipe), index = steps.findIndex(({ id }) => id === copy.selected), step = steps[index];
  if (step === undefined) {
    return (
      <section class="inspector" aria-label="Inspector">
        <h2>{String(copy.recipe.name ?? "Recipe")}</h2>
        <p class="muted">{String(copy.recipe.description ?? "")}</p>
        <p>Select a block to see and change its parameters. Wiring is changed in Raw JSON.</p>
      </section>
    );
  }
  const contract = contracts.value.get(step.op);
  const properties = (contract?.params_schema.properties ?? {}) as { [name: string]: JsonObject };
  const names = Object.keys(properties).sort((a, b) => rank(a) - rank(b));
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
      <h3>Parameters</h3>
      {names.length === 0 && <p class="muted">None</p>}
      {names.map((name) => (
        <Field
          key={`${copy.id} ${step.id} ${name}`}
          id={`param-${step.id}-${name}`}
          name={name}
          schema={properties[name]}
          value={step.params[name] as Value | undefined}
          effective={isEffective(contract!.params_schema, name, params)}
          diagnostics={own.filter(({ pointer }) =>
            pointer === `/steps/${index}/params/${name}` || pointer!.startsWith(`/steps/${index}/params/${name}/`)
          )}
          onChange={(value) => setParam(copy, step.id, name, value)}
        />
      ))}
      <h3>Inputs</h3>
      <Ports
        ports={{ ...contract?.input_kinds, ...contract?.optional_input_kinds }}
        wired={step.inputs}
        onFollow={(id) => update(copy.id, { selected: id })}
      />
      <h3>Outputs</h3>
      <dl class="facts">
        {Object.entries(contract?.output_kinds ?? {}).map(([port, kind]) => (
          <>
            <dt class="mono">{port}</dt>
            <dd class="mono small">{kind}</dd>
          </>
        ))}
      </dl>
      {contract !== undefined && (
        <>
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

const rank = (name: string) => SELECTORS.includes(name) ? SELECTORS.indexOf(name) : SELECTORS.length;

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
