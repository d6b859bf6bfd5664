/** Stored runs of any number, without running anything: what the index reads of them. */
import { join } from "node:path";
import type { JsonObject } from "../../lib/contract/value.ts";

export const idOf = (i: number) =>
  `${new Date(Date.UTC(2026, 0, 1) + 1000 * i).toISOString().replaceAll(/[-:]|\.\d+/g, "")}_link__${i % 100}`;
export const timeOf = (i: number) => new Date(Date.UTC(2026, 0, 1) + 1000 * i).toISOString();
const DIGEST = "0".repeat(64);
const summaryOf = (i: number, runs: number) => ({
  schema_version: 1,
  kind: "svc.run_summary",
  run_id: idOf(i),
  job_id: null,
  recipe_name: `link__${i % 100}`,
  status: "completed",
  created_at_utc: timeOf(i),
  completed_at_utc: timeOf(i),
  manifest: "manifest.json",
  recipe_sha256: DIGEST,
  authored_recipe_sha256: DIGEST,
  effective_recipe_sha256: DIGEST,
  execution_plan: {},
  seed_policy: {},
  metrics: {},
  measurement_evidence: {},
  steps: [{
    id: "ber",
    op: "metrics.bit_error_rate",
    status: "completed",
    execution_binding: {
      step_id: "ber",
      operation_id: "metrics.bit_error_rate",
      runner: "benchmark_run",
      backend: "python",
      implementation: "builtin",
      implementation_identity: "builtin",
      implementation_metadata: {},
      operation_contract_sha256: DIGEST,
      binding_sha256: DIGEST,
    },
    outputs: {},
    metrics: { "channel.ber": i / runs },
    metadata: {},
  }],
});

/** Writes the documents that an index reads of run number `i`; its error rate is `i / runs`. */
export function writeBundle(stateDir: string, i: number, runs: number): void {
  const directory = join(stateDir, "runs", idOf(i));
  Deno.mkdirSync(directory, { recursive: true });
  const step = (id: string, op: string, params: JsonObject) => ({ id, op, params, inputs: {} });
  const recipe = {
    schema_version: 1,
    name: `link__${i % 100}`,
    execution_profile: {},
    metadata: {},
    steps: [
      step("channel", "wireless.channel", { snr_db: i % 1000 }),
      step("link", "modulation.digital_modulate", { modulation: "qpsk" }),
    ],
  };
  Deno.writeTextFileSync(join(directory, "recipe.authored.json"), JSON.stringify(recipe));
  Deno.writeTextFileSync(join(directory, "summary.json"), JSON.stringify(summaryOf(i, runs)));
}
