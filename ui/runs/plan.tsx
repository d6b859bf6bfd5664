// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The binding of every step, and the outcome of the plan cache. */
import { isObject } from "../../lib/contract/value.ts";
import { Facts, Table } from "../parts.tsx";
import { runtimesText } from "../runtimes.ts";
import type { RunDocuments } from "./documents.ts";

export function Plan({ documents: { summary } }: { documents: RunDocuments }) {
  const { execution_plan: plan, execution: { mode, parallel_workers: workers }, steps } = summary;
  const rows = steps.map(
    ({ id, op, execution_binding: { backend, implementation, implementation_metadata: facts } }) => {
      const { source } = isObject(facts.selection) ? facts.selection : {};
      const text = (value: unknown) => String(value ?? "");
      return { id, op, backend, implementation, source: text(source), sha256: text(facts.source_sha256) };
    },
  );
  return (
    <div class="stack">
      <Facts
        look="panel"
        of={[
          [
            "Plan cache",
            plan.cache === undefined
              ? "no evidence"
              : `${plan.cache.outcome}, ${plan.cache.reason.replaceAll("_", " ")}`,
          ],
          ["Runner", <span class="mono">{plan.runner}</span>],
          ["Mode", `${mode}, ${workers} ${Number(workers) === 1 ? "worker" : "workers"}`],
          ["Plan SHA-256", <span class="mono">{plan.sha256}</span>],
        ]}
      />
      <Table
        label="Bindings of the steps"
        rows={rows}
        columns={[
          ["Step", ({ id }) => id, "mono"],
          ["Operation", ({ op }) => op, "mono"],
          ["Runs in", ({ backend }) => runtimesText([backend]), "", ({ backend }) => backend],
          ["Implementation", ({ implementation }) => implementation, "mono small"],
          ["Chosen by", ({ source }) => source.replaceAll("_", " ")],
          ["Source SHA-256", ({ sha256 }) => sha256.slice(0, 12), "mono small", ({ sha256 }) => sha256],
        ]}
      />
    </div>
  );
}
