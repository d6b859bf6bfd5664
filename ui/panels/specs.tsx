/** What the recipe is about: data, task, metrics, benchmark, profile, and where its random numbers come from. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import type { Copy } from "../state/copies.ts";

export function Specs({ copy }: { copy: Copy }) {
  const { verdict } = copy;
  if (verdict === null || verdict.specs === null || verdict.seedPolicy === null) {
    return <p class="empty">Shown once the recipe is valid.</p>;
  }
  const { specs, seedPolicy, effective } = verdict;
  const metrics = (specs.metrics ?? []) as JsonObject[];
  const streams = Object.entries((seedPolicy.steps ?? {}) as { [step: string]: JsonObject });
  const check = specs.catalog_validation as { errors: JsonObject[]; warnings: JsonObject[] } | undefined;
  return (
    <div class="pad specs">
      <section>
        <h2>Task</h2>
        <Facts of={specs.task} />
      </section>
      <section>
        <h2>Data</h2>
        <Facts of={specs.dataset} />
      </section>
      <section>
        <h2>Benchmark</h2>
        <Facts of={specs.benchmark} />
      </section>
      <section>
        <h2>Profile</h2>
        <Facts of={(effective?.execution_profile ?? null) as Value} />
        <p class="small">
          {check === undefined || check.errors.length === 0
            ? "It fits the research catalogue."
            : check.errors.map((one) => String(one.message ?? canonicalJson(one))).join("; ")}
          {(check?.warnings ?? []).map((one) => ` ${String(one.message ?? canonicalJson(one))}.`).join("")}
        </p>
      </section>
      <section class="whole">
        <h2>Metrics</h2>
        <table>
          <thead>
            <tr>
              <th>Metric</th>
              <th>Unit</th>
              <th>Better is</th>
              <th>Family</th>
              <th>Taken as</th>
            </tr>
          </thead>
          <tbody>
            {metrics.map(({ id, unit, direction, family, reduction }) => (
              <tr key={String(id)}>
                <td class="mono">{String(id)}</td>
                <td>{String(unit ?? "")}</td>
                <td>
                  {{ lower_is_better: "lower", higher_is_better: "higher" }[String(direction)] ?? String(direction)}
                </td>
                <td>{String(family ?? "")}</td>
                <td>{String(reduction ?? "")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section class="whole">
        <h2>Random streams</h2>
        <p>
          Master seed <strong class="mono">{String(seedPolicy.master_seed)}</strong> from{" "}
          {String(seedPolicy.master_seed_source)}, namespace{" "}
          <span class="mono">{String(seedPolicy.seed_namespace)}</span>
        </p>
        {streams.length === 0 ? <p class="muted">No step draws random numbers.</p> : (
          <table>
            <thead>
              <tr>
                <th>Step</th>
                <th>Stream</th>
                <th class="number">Seed</th>
                <th>From</th>
              </tr>
            </thead>
            <tbody>
              {streams.map(([step, { seed, stream, source }]) => (
                <tr key={step}>
                  <td class="mono">{step}</td>
                  <td>{String(stream ?? "")}</td>
                  <td class="number mono">{String(seed)}</td>
                  <td>{String(source ?? "")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}

function Facts({ of }: { of: Value | undefined }) {
  if (!isObject(of)) return <p class="muted">None</p>;
  return (
    <dl class="facts">
      {Object.entries(of).filter(([key]) => key !== "schema_version").map(([key, value]) => (
        <>
          <dt>{key}</dt>
          <dd class="mono small">{typeof value === "string" ? value : canonicalJson(value)}</dd>
        </>
      ))}
    </dl>
  );
}
