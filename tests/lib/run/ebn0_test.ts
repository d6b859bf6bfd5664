import assert from "node:assert/strict";
import { ebn0Metric } from "../../../lib/run/ebn0.ts";
import { bitErrorRateAwgn } from "../../../lib/numeric/link/theory.ts";
import { theoryCurves } from "../../../lib/figure/theory_curves.ts";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { svc } from "../../support/cli.ts";

const rows = (...metrics: JsonObject[]) => metrics.map((one) => ({ metrics: one }));

Deno.test("Eb/N0 is Es/N0 less code rate and bits per symbol", () => {
  const link = { "channel.snr_db": float(6) };
  const half = { "channel.code_rate": float(0.5), "channel.bits_per_symbol": float(4) };
  const { "channel.ebn0_db": found } = ebn0Metric(rows(link, half));
  assert.ok(Math.abs(toNumber(found as number) - (6 - 10 * Math.log10(2))) < 1e-12);
  assert.deepEqual(ebn0Metric(rows(link)), {});
  assert.deepEqual(ebn0Metric(rows(half)), {});
  assert.deepEqual(ebn0Metric(rows(link, { "channel.snr_db": float(3) }, half)), {});
});

Deno.test("the theory of an uncoded link stands over either axis", () => {
  const points = (offset: number) =>
    [0, 4, 8].map((snrDb) => ({
      x: snrDb - offset,
      link: { modulation: "qpsk", channel: "awgn", snrDb, copies: 1, majority: false } as const,
    }));
  for (const offset of [0, 10 * Math.log10(2)]) {
    const [{ points: [first] }] = theoryCurves([points(offset)]);
    assert.ok(Math.abs(first.y / bitErrorRateAwgn("qpsk", 1) - 1) < 1e-9);
  }
  assert.deepEqual(theoryCurves([points(1)]), []);
});

Deno.test("a run with accounting records it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const stdin = `name: link
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
  - {id: encoder, op: channel.identity_encoder, inputs: {bits: data.bits}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: encoder.coded_bits}}
  - {id: link, op: wireless.channel, params: {snr_db: 7.0}, inputs: {symbols: modulator.symbols}}
  - id: accounting
    op: channel.communication_resource_accounting
    inputs: {payload_bits: data.bits, framed_bits: data.bits, coded_bits: encoder.coded_bits, symbols: modulator.symbols}
`;
    const { json, stderr } = await svc(["recipe", "run", "-", "--json"], { cwd: folder, stdin });
    assert.ok(json.summary_path, stderr);
    const { metrics } = JSON.parse(await Deno.readTextFile(json.summary_path));
    assert.ok(Math.abs(metrics["channel.ebn0_db"] - (7 - 10 * Math.log10(2))) < 1e-12);
    assert.equal((await svc(["runs", "verify", json.run_id], { cwd: folder })).code, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
