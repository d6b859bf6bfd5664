import assert from "node:assert/strict";
import { recipes } from "../../../lib/api/calls/recipes.ts";
import { runs } from "../../../lib/api/calls/runs.ts";
import { headlineTable } from "../../../lib/cli/headline.ts";
import { headlineView } from "../../../lib/cli/headline_view.ts";
import { matrixTable } from "../../../lib/cli/matrix_table.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import type { MatrixRow } from "../../../lib/study/run_matrix.ts";
import { open } from "../../../mod.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const step = (id: string, metrics: JsonObject) => ({ id, metrics, metadata: {} });
const VIEW = { task: [] as string[], filled: [], all: false };
const lines = (steps: JsonObject[], view = {}) =>
  headlineTable(steps, { ...VIEW, ...view }).trimEnd().split("\n").slice(1).map((line) => line.split(/ {2,}/));

const OFFERED = "channel.effective_payload_bits_per_channel_use";

Deno.test("the metrics of the task stand first, every metric on request, with its step where several give it", () => {
  const steps = [
    step("a", { "channel.ber": 0.5, "resource.fairness_jain": 0.25 }),
    step("b", { "resource.theoretical_shannon_sum_bits_per_ofdm_symbol": 7.5, "task.score": 0.75 }),
    step("c", { "channel.ber": 0.5 }),
  ];
  const ids = (view = {}) => lines(steps, view).map(([id]) => id);
  assert.deepEqual(ids({ task: ["task.score"] }), [
    "task.score",
    "a/channel.ber",
    "c/channel.ber",
    "resource.theoretical_shannon_sum_bits_per_ofdm_symbol",
  ]);
  assert.deepEqual(ids({ all: true }).at(-1), "resource.fairness_jain");
});

Deno.test("the offered rate is marked where nothing was delivered, in a run and in a matrix", () => {
  const at = (success: number) => ({
    crc: { "channel.packet_success_rate": float(success) },
    resources: { [OFFERED]: 0.625 },
  });
  const remark = (success: number) =>
    lines(Object.entries(at(success)).map(([id, metrics]) => step(id, metrics))).find(([id]) => id === OFFERED)!.slice(
      2,
    );
  assert.deepEqual(remark(0), ["offered; nothing was delivered"]);
  assert.deepEqual(remark(0.5), []);
  const rows = [0, 1].map((success, index): MatrixRow => ({
    index,
    variant_id: `mxv1-${index}`,
    selection: { snr_db: float(index) },
    recipe_name: "demo",
    run_id: `run_${index}`,
    status: "completed",
    reused: false,
    replaced: [],
    metrics: at(success),
    metric_metadata: {},
  }));
  const table = matrixTable(rows, "table", VIEW);
  assert.match(table, / 0\.625\*\n/);
  assert.match(table, new RegExp(`\\* ${OFFERED}: offered; nothing was delivered\n`));
  assert.match(matrixTable(rows, "csv", VIEW), /,0\.625,offered; nothing was delivered\n/);
});

const link = (snr: string, policy: string) => `
name: link
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 4096}}
  - {id: packets, op: channel.packetize_crc32, params: {packet_payload_bits: 1024}, inputs: {bits: data.bits}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: packets.bits}}
  - {id: radio, op: wireless.channel, params: {channel: awgn, snr_db: ${snr}}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: radio.rx_symbols}}
  - {id: check, op: channel.crc32_check, params: {on_decode_failure: ${policy}}, inputs: {bits: demodulator.bits}}
  - {id: before, op: metrics.bit_error_rate, params: {label: raw.ber}, inputs: {reference: packets.bits, candidate: demodulator.bits}}
  - {id: after, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: check.bits}}
`;

const MATRIX = "{seed: 23, matrix: {dimensions: {n: [4096]}, step_params: {data: {bit_count: {matrix: n}}}}}";

Deno.test("zeros in place of failed blocks are stated beside the error rate that counts them", async () => {
  const projectRoot = temporaryFolder("svc-headline-");
  await using svc = await open({ projectRoot });
  const notes = async (snr: string, policy: string) => {
    const run = await svc.recipes.run(link(snr, policy)), { run_id, summary } = run;
    // The document of the run, of its later reading and of a matrix of it has the same remarks.
    const { diagnostics, rows } = await svc.recipes.runMatrix(link(snr, policy).replace("{seed: 23}", MATRIX));
    assert.equal(rows[0].status, "completed");
    const shown = await svc.runs.show(run_id);
    for (const found of [recipes.run.findings!(run), runs.show.findings!(shown), diagnostics]) {
      const warned = found.filter(({ code }) => code === "metric_qualified").map(({ step_id }) => step_id);
      assert.deepEqual([...new Set(warned)], policy === "erasure" && snr === "0.0" ? ["after"] : []);
    }
    const table = headlineTable(summary.steps as JsonObject[], await headlineView(svc, run_id, false));
    return table.split("\n").filter((line) => line.includes("count as zeros")).map((line) => line.split(" ")[0]);
  };
  assert.deepEqual(await notes("0.0", "erasure"), ["channel.ber"]);
  assert.deepEqual(await notes("0.0", "report_outage"), []);
  assert.deepEqual(await notes("20.0", "erasure"), []);
});
