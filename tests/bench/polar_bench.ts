/**
 * Polar list decoding in information bits a second on one thread: uplink control messages in N = 512 transmitted bits over AWGN,
 * eight paths, against the readable decoder, and exact check nodes against those of min-sum. The kernel's time has rate recovery,
 * rounding and the CRC in it.
 *
 *     deno run -A tests/bench/polar_bench.ts
 */
import { polarCode } from "../../lib/numeric/coding/polar/code.ts";
import { decodePolar } from "../../lib/numeric/coding/polar/decoder.ts";
import { encodePolar } from "../../lib/numeric/coding/polar/encoder.ts";
import { type CheckNode, decodeList } from "../../lib/numeric/coding/polar/list_reference.ts";
import { demodulateLlr, modulate } from "../../lib/numeric/link/modulation.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { row, sized, timesOf } from "./measure.ts";

const SENT = 512, LIST = 8, BLOCKS = sized(400, 4), ROUNDS = sized(15, 1), GROUP = 20;
const generator = Generator.seeded(1);

for (const [payload, snrDb] of [[256, 4], [384, 7]]) {
  const code = polarCode("uci", payload, SENT), variance = 10 ** (-snrDb / 10);
  const received = Array.from({ length: BLOCKS }, () => {
    const bits = generator.integers(0, 2, payload, "uint8") as Uint8Array;
    const symbols = modulate(encodePolar(bits, code, 0), "qpsk");
    return demodulateLlr(generator.addComplexNormal(symbols, variance), "qpsk", variance);
  });
  const rate = (blocks: number, checkNode: CheckNode, ...decoder: [Parameters<typeof decodePolar>[3]?]) => {
    const decode = (llr: Float32Array) => decodePolar(llr, code, { listSize: LIST, checkNode }, ...decoder).crcPassed;
    // The best time of every few blocks: other programs interrupt some of the rounds.
    let milliseconds = 0;
    for (let start = 0; start < blocks; start += GROUP) {
      const group = received.slice(start, Math.min(start + GROUP, blocks));
      milliseconds += Math.min(...timesOf(ROUNDS, () => group.forEach(decode)));
    }
    return blocks * payload / milliseconds / 1e3;
  };
  const lost = received.filter((llr) => !decodePolar(llr, code, { listSize: LIST }).crcPassed).length;
  if (lost > BLOCKS / 10) throw new Error(`${lost} of ${BLOCKS} messages are lost`);
  const kernel = rate(BLOCKS, "min_sum"), exact = rate(BLOCKS, "exact");
  const reference = rate(sized(20, 2), "min_sum", (...given) => decodeList(...given, "min_sum"));
  row(`kernel, rate ${payload / SENT}`, `${kernel.toFixed(2)} Mbit/s`, "aim 5");
  row(
    `exact check nodes, rate ${payload / SENT}`,
    `${exact.toFixed(2)} Mbit/s`,
    `${(kernel / exact).toFixed(1)} times the time`,
  );
  row(`readable decoder, rate ${payload / SENT}`, `${reference.toFixed(2)} Mbit/s`, "the same words");
}
