/** Transport block sizes, MCS tables and link adaptation against tables of public implementations. */
import assert from "node:assert/strict";
import {
  bitInterleavedStatistics,
  effectiveSnrDb,
  predictedBlockErrorRate,
} from "../../../lib/numeric/link/link_adaptation.ts";
import { gaussHermite } from "../../../lib/numeric/linalg/gauss_hermite.ts";
import {
  cqiRows,
  efficiency,
  mcsRows,
  type McsTable,
  transportFormat,
} from "../../../lib/numeric/link/nr_transport_format.ts";
import { MODULATION_BY_BITS } from "../../../lib/numeric/link/modulations.ts";
import { dbToLinear } from "../../../lib/numeric/link/decibel.ts";
import stored from "../../data/physical/tbs_mcs.json" with { type: "json" };
import adaptation from "../../data/physical/link_adaptation.json" with { type: "json" };

const PLAIN = { transformPrecoding: false, pi2Bpsk: false };

Deno.test("transport block sizes are those of two public implementations", () => {
  for (const row of stored.cases) {
    const mcs = mcsRows({ table: row.mcs_table as McsTable, ...PLAIN })[row.mcs_index];
    assert.deepEqual([...mcs], [row.num_bits_per_symbol, row.target_coderate_x1024]);
    const { blockBits } = transportFormat(mcs, {
      prbCount: row.prb_count,
      symbolCount: row.symbol_count,
      dmrsPerPrb: row.dmrs_re_per_prb,
      overheadPerPrb: row.overhead_re_per_prb,
      layers: row.layers,
      scaling: row.tb_scaling,
    });
    assert.equal(blockBits, row.tbs, JSON.stringify(row));
  }
});

Deno.test("MCS and CQI tables are the stored ones", () => {
  const tables = stored.mcs_tables as unknown as Record<string, [number, number, number, number][]>;
  const same = (name: string, rows: readonly (readonly [number, number])[]) =>
    assert.deepEqual(rows.map(([q, rate]) => [q, rate]), tables[name].map(([, q, rate]) => [q, rate]), name);
  for (const i of [1, 2, 3] as const) {
    same(`pdsch_table_${i}`, mcsRows({ table: `table_${i}`, ...PLAIN }));
    const cqi = (stored.cqi_tables as unknown as typeof tables)[`cqi_table_${i}`];
    const rows = cqiRows(`table_${i}`);
    assert.deepEqual(rows.map((row) => [...row]), cqi.map(([, q, rate]) => [q, rate]));
    rows.forEach((row, k) => assert.ok(Math.abs(efficiency(row) - cqi[k][3]) < 1e-4));
  }
  for (const [table, name] of [["table_1", "pusch_tp_table_1"], ["table_3", "pusch_tp_table_2"]] as const) {
    same(name, mcsRows({ table, transformPrecoding: true, pi2Bpsk: false }));
    same(`${name}_pi2bpsk`, mcsRows({ table, transformPrecoding: true, pi2Bpsk: true }));
  }
});

Deno.test("Gauss-Hermite: moments of the normal distribution", () => {
  for (const n of [1, 2, 5, 48, 64]) {
    const { nodes, weights } = gaussHermite(n);
    const moment = (k: number) =>
      weights.reduce((sum, w, i) => sum + w * (Math.SQRT2 * nodes[i]) ** k, 0) / Math.sqrt(Math.PI);
    assert.ok(Math.abs(moment(0) - 1) < 1e-13);
    if (n > 4) [2, 4, 6, 8].forEach((k, i) => assert.ok(Math.abs(moment(k) / [1, 3, 15, 105][i] - 1) < 1e-12));
    assert.ok(nodes.every((node, i) => i === 0 || node > nodes[i - 1]));
  }
});

Deno.test("mutual information and dispersion are the stored quadrature", () => {
  for (const row of adaptation.capacity) {
    const found = bitInterleavedStatistics(MODULATION_BY_BITS[row.num_bits_per_symbol], dbToLinear(row.snr_db));
    assert.ok(Math.abs(found.capacity - row.mutual_information) < 1e-9, JSON.stringify([row, found]));
    assert.ok(Math.abs(found.dispersion - row.dispersion) < 1e-7, JSON.stringify([row, found]));
  }
});

Deno.test("SNR thresholds of MCS rows lie within 0.02 dB of the stored ones", () => {
  for (const row of adaptation.thresholds) {
    const mcs = mcsRows({ table: row.mcs_table as McsTable, ...PLAIN })[row.mcs_index];
    const { parameters, blockBits } = transportFormat(mcs, {
      prbCount: row.prb_count,
      symbolCount: row.symbol_count,
      dmrsPerPrb: row.dmrs_re_per_prb,
      overheadPerPrb: 0,
      layers: row.layers,
      scaling: 1,
    });
    assert.equal(blockBits, row.tbs);
    const at = (db: number) => predictedBlockErrorRate(parameters, row.threshold_db_without_margin + db);
    assert.ok(at(0.02) <= row.target_bler && at(-0.02) > row.target_bler, `${row.mcs_table} ${row.mcs_index}`);
  }
});

Deno.test("the effective SNR lies between the elements, and equals one that all share", () => {
  assert.ok(Math.abs(effectiveSnrDb("qam64", [10, 10, 10]) - 10) < 1e-9);
  const mixed = effectiveSnrDb("qpsk", [1, 100]);
  // QPSK saturates at 2 bits: half of the elements at 20 dB are worth less than 17 dB on all.
  assert.ok(mixed > 0 && mixed < 7, String(mixed));
  assert.ok(effectiveSnrDb("qam256", [1, 100]) > mixed);
});
