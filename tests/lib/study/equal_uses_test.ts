/** Compared methods with unequal channel uses are reported, before a run and with the result. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { channelUseRemark } from "../../../lib/study/pack/equal_uses.ts";
import { resultFindings } from "../../../lib/study/report/result_findings.ts";
import { reportTables } from "../../../lib/study/report/report_tables.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { loadBenchmarkPack } from "../../support/session.ts";
import { twoLinks, withPack } from "./packs.ts";
import { resultOf } from "./result_fixture.ts";

const LINK = `name: symbols
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 2000}}
  - {id: mapper, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: data.bits}}
  - {id: link, op: wireless.channel, params: {snr_db: 0.0}, inputs: {symbols: mapper.symbols}}
  - {id: demapper, op: demodulation.digital_demodulate, inputs: {rx_symbols: link.rx_symbols}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: demapper.bits}}
`;

async function warning(bits: number, metadata: JsonObject = {}): Promise<string | undefined> {
  const recipes: JsonObject[] = [
    { id: "low", path: "symbols.yaml", params: { method_id: "low" } },
    { id: "high", path: "symbols.yaml", params: { method_id: "high", step_params: { data: { bit_count: bits } } } },
  ];
  let message: string | undefined;
  await withPack(twoLinks({ recipes, metadata }), async ({ pack, projectRoot }) => {
    await Deno.writeTextFile(join(projectRoot, "symbols.yaml"), LINK);
    const { valid, diagnostics } = await loadBenchmarkPack(pack, { projectRoot });
    assert.ok(valid);
    message = diagnostics.find(({ code }) => code === "channel_uses_differ")?.message;
  });
  return message;
}

Deno.test("a pack warns where parameters give compared methods more than 2 % different channel uses", async () => {
  assert.equal(
    await warning(3000),
    "Cannot compare methods at equal channel uses: high has 1.5 times the channel uses of low",
  );
  assert.equal(await warning(2040), undefined);
  assert.match(await warning(2042) ?? "", /1\.02 times/);
  assert.match(await warning(1000) ?? "", /0\.5 times/);
  assert.equal(await warning(3000, { channel_uses: "unequal" }), undefined);
});

Deno.test("a result with unequal channel uses says so", () => {
  const result = (uses: number, metadata: JsonObject = {}) => {
    const method = (id: string, metrics: JsonObject) => ({
      id,
      method: id,
      metrics: () => ({ "quality.psnr_db": float(30), ...metrics as Record<string, number> }),
    });
    const made = resultOf(
      [
        method("base", { "channel.uses_per_pixel": float(0.5), "channel.channel_use_count": 32768 }),
        method("other", { "channel.uses_per_pixel": float(uses) }),
        method("unknown", {}),
      ],
      ["quality.psnr_db"],
    );
    return { ...made, benchmark: { ...made.benchmark, baselines: ["base"], metadata } };
  };
  assert.equal(channelUseRemark(result(0.492)), null);
  assert.equal(
    channelUseRemark(result(0.25)),
    "Compared methods have unequal channel uses: other has 0.5 times the channel uses of base",
  );
  assert.equal(channelUseRemark(result(0.25, { channel_uses: "unequal" })), null);
  const comparison = {
    candidate_id: "other",
    baseline_id: "base",
    metric: "quality.psnr_db",
    pairing: "replicate" as const,
    n: 1,
    mean_difference: float(0),
    ci_low: null,
    ci_high: null,
    confidence_level: float(0.95),
    p_value: null,
    p_value_holm: null,
    p_method: null,
    distinguishable: false,
    better: null,
  };
  const codes = (comparison: object) =>
    resultFindings({ ...result(0.25), comparisons: [comparison as never] }).map((
      { code, severity },
    ) => [code, severity]);
  assert.deepEqual(codes(comparison), [["channel_uses_differ", "warning"]]);
  // Two pairs of a sign-flip test cannot give less than 2 / 2^2.
  const tested = { ...comparison, p_method: "sign_flip", n: 2 };
  assert.deepEqual(codes(tested).map(([code]) => code), ["comparison_underpowered", "channel_uses_differ"]);
  assert.deepEqual(codes({ ...tested, n: 20 }).map(([code]) => code), ["channel_uses_differ"]);
  const tables = [...reportTables({ ...result(0.25), comparisons: [comparison] }, "unicode")];
  assert.match(tables.find(({ id }) => id === "comparisons")!.notes.join(), /unequal channel uses/);
});
