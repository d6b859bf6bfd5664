/** How every step was carried out, and whether the plan was new. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import type { RunDocuments } from "./documents.ts";

export function Plan({ documents: { summary } }: { documents: RunDocuments }) {
  const cache = isObject(summary.execution_plan.cache as JsonObject)
    ? summary.execution_plan.cache as JsonObject
    : null;
  return (
    <div class="stack">
      <dl class="facts panel">
        <dt>Plan cache</dt>
        <dd>
          {cache === null ? "no evidence" : (
            <>
              <strong>{String(cache.outcome)}</strong>, {String(cache.reason).replaceAll("_", " ")}
            </>
          )}
        </dd>
        <dt>Runner</dt>
        <dd class="mono">{String(summary.execution_plan.runner)}</dd>
        <dt>Mode</dt>
        <dd>
          {String(summary.execution.mode)}, {String(summary.execution.parallel_workers)}{" "}
          {Number(summary.execution.parallel_workers) === 1 ? "worker" : "workers"}
        </dd>
        <dt>Plan SHA-256</dt>
        <dd class="mono">{String(summary.execution_plan.sha256)}</dd>
      </dl>
      <div class="scroll-x panel" tabIndex={0} role="region" aria-label="Bindings of the steps">
        <table>
          <thead>
            <tr>
              <th>Step</th>
              <th>Operation</th>
              <th>Backend</th>
              <th>Implementation</th>
              <th>Chosen by</th>
              <th>Source SHA-256</th>
            </tr>
          </thead>
          <tbody>
            {summary.steps.map(({ id, op, execution_binding: binding }) => {
              const metadata = isObject(binding.implementation_metadata) ? binding.implementation_metadata : {};
              const selection = isObject(metadata.selection) ? metadata.selection : {};
              return (
                <tr key={id}>
                  <td class="mono">{id}</td>
                  <td class="mono">{op}</td>
                  <td>{String(binding.backend ?? "")}</td>
                  <td class="mono small">{String(binding.implementation ?? "")}</td>
                  <td>{String(selection.source ?? "").replaceAll("_", " ")}</td>
                  <td class="mono small" title={String(metadata.source_sha256 ?? "")}>
                    {String(metadata.source_sha256 ?? "").slice(0, 12)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}
