import { strictEqual } from "node:assert/strict";
import { matrixTable } from "../../../lib/cli/matrix_table.ts";
import { rateMetadata } from "../../../lib/contract/metric_metadata.ts";
import { bitCounts } from "../../support/rates.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import type { MatrixRow } from "../../../lib/study/run_matrix.ts";

function row(
  index: number,
  selection: JsonObject,
  metrics: MatrixRow["metrics"],
  more: Partial<MatrixRow> = {},
): MatrixRow {
  return {
    index,
    variant_id: `mxv1-${index}`,
    selection,
    recipe_name: `demo_${index}`,
    run_id: `run_${index}`,
    status: "completed",
    reused: false,
    replaced: [],
    metrics,
    metric_metadata: Object.fromEntries(
      Object.entries(metrics).flatMap((
        [step, { "channel.error_count": events, "channel.compare_bit_count": trials }],
      ) =>
        events === undefined ? [] : [[
          step,
          rateMetadata({ "channel.ber": bitCounts(Number(events), Number(trials)) }).metric_metadata as JsonObject,
        ]]
      ),
    ),
    ...more,
  };
}

const measured = (errors: number, psnr: number): MatrixRow["metrics"] => ({
  ber: {
    "channel.ber": float(errors / 1000),
    "channel.error_count": BigInt(errors),
    "channel.compare_bit_count": 1000n,
  },
  evaluation: { "quality.psnr_db": float(psnr), "rate.payload_bpp": 1.25, "timing.step.wall_time_s": 0.1 },
  // The same number as above in every row, and another step's own.
  report: { "quality.psnr_db": float(psnr) },
  other: { "quality.psnr_db": float(psnr + 1) },
});

const VIEW = { task: [], filled: [], all: false };

const ROWS = [
  row(0, { snr_db: float(-2), mod: "a|b" }, measured(120, 11.71584)),
  row(1, { snr_db: float(10), mod: "c,d" }, measured(0, 34.2), { reused: true }),
  row(2, { snr_db: 12, mod: "e" }, {}, { status: "skipped", run_id: null }),
];

Deno.test("dimensions first, error rates with intervals or bounds, what never changes below", () => {
  strictEqual(
    matrixTable(ROWS, "table", VIEW),
    `\
snr_db  mod                                                             channel.ber  evaluation/quality.psnr_db  other/quality.psnr_db  status
  -2.0  a|b                                                    0.120 [0.101, 0.142]                       11.72                  12.72  completed
  10.0  c,d  0 errors in 1 000 bits: BER at most 0.003; about 30 000 bits give 1e-4                        34.2                   35.2  completed before
    12  e                                                                                                                               skipped

The same at every point:
  rate.payload_bpp 1.25 bit/pixel
`,
  );
  strictEqual(
    matrixTable(ROWS.slice(0, 1), "md", VIEW),
    `\
| snr\\_db | mod | channel.ber | evaluation/quality.psnr\\_db | other/quality.psnr\\_db | rate.payload\\_bpp |
| ---: | --- | ---: | ---: | ---: | ---: |
| -2.0 | a\\|b | 0.120 \\[0.101, 0.142\\] | 11.72 | 12.72 | 1.25 |
`,
  );
});

Deno.test("CSV has every number in full, intervals, and what names the runs", () => {
  const lines = matrixTable(ROWS, "csv", VIEW).trimEnd().split("\n");
  strictEqual(
    lines[0],
    "matrix_index,snr_db,mod,status,reused,run_id,variant_id,channel.ber,channel.ber.low,channel.ber.high," +
      "channel.ber.upper_bound,evaluation/quality.psnr_db,other/quality.psnr_db,rate.payload_bpp,channel.ber.shown",
  );
  // Wilson interval of 120 in 1000: centre (p + z²/2n) / (1 + z²/n), computed apart.
  const [, low, high] =
    /^0,-2\.0,a\|b,completed,false,run_0,mxv1-0,0\.12,([\d.]+),([\d.]+),,11\.71584,12\.71584,1\.25,"0\.120 \[0\.101, 0\.142\]"$/
      .exec(lines[1])!.map(Number);
  strictEqual(low.toFixed(5), "0.10130");
  strictEqual(high.toFixed(5), "0.14161");
  strictEqual(lines[2].startsWith('1,10.0,"c,d",completed,true,run_1,mxv1-1,,,,0.003,'), true);
  strictEqual(lines[3], "2,12,e,skipped,false,,mxv1-2,,,,,,,,");
});
