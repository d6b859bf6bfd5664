/**
 * Block error rates of the NR LDPC decoder against those of flooding sum-product, at every stored point:
 *
 *     deno run -A tests/soak/ldpc_bler.ts [--errors 100] [--seconds 600] [--point 1032:2.0 …] [--native]
 *
 * Without --point, all points. --native decodes with the native extension (`deno task build:native`), which decides every bit as
 * the portable kernel does, in less time.
 *
 * QPSK over AWGN, rate 1/2, 20 iterations; a block is wrong when one of its bits is. A point passes when the upper end of its
 * 95 % interval lies below the sum-product rate 0.1 dB further left. Where the stored decoder made fewer than 100 errors, its
 * rate is the upper end of an interval, too. Gap: how much more Eb/N0 than sum-product the rate needs; negative is better.
 * Exits 1 when a point fails.
 */
import { parseArgs } from "node:util";
import { nativeKernels } from "../../lib/numeric/native/kernels.ts";
import { decodeCodeBlock } from "../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { wilsonInterval } from "../../lib/numeric/scores/statistics.ts";
import {
  measureBlockErrors,
  qpskBlock,
  type RatePoint,
  storedRate,
  storedRates,
} from "../lib/numeric/nr_ldpc/_blocks.ts";

const ALLOWED_DB = 0.1;
const { values: asked } = parseArgs({
  args: Deno.args,
  options: {
    errors: { type: "string", default: "100" },
    seconds: { type: "string", default: "600" },
    point: { type: "string", multiple: true },
    native: { type: "boolean", default: false },
  },
});
const errors = Number(asked.errors), seconds = Number(asked.seconds);
const decodeBlock = asked.native ? nativeKernels().decodeCodeBlock : decodeCodeBlock;
const wanted = (blockBits: number, ebNoDb: number) =>
  asked.point === undefined ||
  asked.point.some((point) => point.split(":").map(Number).every((value, i) => value === [blockBits, ebNoDb][i]));

/** Eb/N0 at which the stored curve, drawn on beyond its ends, has a rate. */
function storedEbNo(points: readonly RatePoint[], rate: number): number {
  let low = -5, high = 10;
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (storedRate(points, middle) > rate) low = middle;
    else high = middle;
  }
  return low;
}

let failed = 0;
for (const id of ["sionna_tbs1032", "sionna_tbs16136"]) {
  const { block_bits, coded_bits, points } = storedRates(id);
  const parameters = qpskBlock(block_bits, 0.5);
  if (parameters.codedBits !== coded_bits) throw new Error(`${id} has ${coded_bits} coded bits`);
  console.log(`\n${block_bits} bits, ${coded_bits} coded`);
  console.log(
    " Eb/N0   errors     blocks   BLER (95 %)                      sum-product   gap      iterations undetected",
  );
  for (const point of points) {
    if (!wanted(block_bits, point.ebno_db)) continue;
    const started = performance.now();
    const total = { blocks: 0, blockErrors: 0, undetected: 0, iterations: 0 };
    for (let seed = 1; total.blockErrors < errors && performance.now() - started < 1e3 * seconds; seed++) {
      const limits = { errors: errors - total.blockErrors, blocks: 2000, seed: 1000 * point.ebno_db + 1e6 * seed };
      const part = measureBlockErrors(parameters, point.ebno_db, limits, decodeBlock);
      total.iterations += part.meanIterations * part.blocks;
      total.blocks += part.blocks;
      total.blockErrors += part.blockErrors;
      total.undetected += part.undetected;
    }
    const rate = total.blockErrors / total.blocks, { low, high } = wilsonInterval(total.blockErrors, total.blocks);
    const few = point.block_errors < 100;
    const reference = few
      ? wilsonInterval(point.block_errors, point.blocks).high
      : storedRate(points, point.ebno_db - ALLOWED_DB);
    const passes = high < reference;
    if (!passes) failed++;
    const gap = total.blockErrors > 0 && !few ? `${(point.ebno_db - storedEbNo(points, rate)).toFixed(3)} dB` : "-";
    console.log([
      point.ebno_db.toFixed(2).padStart(6),
      String(total.blockErrors).padStart(8),
      String(total.blocks).padStart(10),
      `  ${rate.toExponential(2)} (${low.toExponential(1)} … ${high.toExponential(1)})`.padEnd(34),
      `${point.bler.toExponential(2)}${few ? "*" : " "}`.padStart(11),
      gap.padStart(10),
      (total.iterations / total.blocks).toFixed(2).padStart(10),
      String(total.undetected).padStart(9),
      passes ? "" : "  FAILS",
    ].join(" "));
  }
}
console.log(`\n* fewer than 100 stored errors\n${failed === 0 ? "every point passes" : `${failed} points fail`}`);
Deno.exit(failed === 0 ? 0 : 1);
