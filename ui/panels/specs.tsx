/** The specifications of a recipe: data, task, metrics, benchmark, profile, and the sources of its random numbers. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { Facts, Table } from "../parts.tsx";
import { directionText } from "../runs/metrics.ts";
import { Seeds } from "../runs/seeds.tsx";
import type { Copy } from "../state/copies.ts";

export function Specs({ copy }: { copy: Copy }) {
  const forms = copy.verdict?.forms ?? null;
  if (forms === null) return <p class="empty">Shown once the recipe is valid.</p>;
  const { specs, seed_policy: seeds, effective } = forms, { errors, warnings } = specs.catalog_validation;
  const parts: [title: string, of: Value][] = [
    ["Task", specs.task],
    ["Data", specs.dataset],
    ["Benchmark", specs.benchmark],
    ["Profile", effective.execution_profile],
  ];
  return (
    <div class="pad specs">
      {parts.map(([title, of]) => (
        <section key={title}>
          <h2>{title}</h2>
          {isObject(of) ? <Facts of={factsOf(of)} mono="mono small" /> : <p class="muted">None</p>}
        </section>
      ))}
      <section class="whole">
        <h2>Metrics</h2>
        <p class="small">
          {errors.length === 0
            ? "The research catalogue accepts the recipe."
            : errors.map(({ message }) => message).join("; ")}
          {warnings.map(({ message }) => ` ${message}.`).join("")}
        </p>
        <Table
          rows={specs.metrics}
          columns={[
            ["Metric", ({ id }) => String(id), "mono"],
            ["Unit", ({ unit }) => String(unit ?? "")],
            ["Direction", ({ direction }) => directionText(String(direction))],
            ["Family", ({ family }) => String(family ?? "")],
            ["Reduction", ({ reduction }) => String(reduction ?? "")],
          ]}
        />
      </section>
      <section class="whole">
        <h2>Random streams</h2>
        <p>
          Master seed <strong class="mono">{String(seeds.master_seed)}</strong> from{" "}
          {String(seeds.master_seed_source)}, namespace <span class="mono">{String(seeds.seed_namespace)}</span>
        </p>
        <Seeds policy={seeds} />
      </section>
    </div>
  );
}

const factsOf = (of: JsonObject) =>
  Object.entries(of).filter(([key]) => key !== "schema_version")
    .map(([key, value]) => [key, typeof value === "string" ? value : canonicalJson(value)] as const);
