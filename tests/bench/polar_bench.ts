/**
 * Polar list decoding in information bits a second on one thread: uplink control messages in N = 512 and 1024 transmitted bits over AWGN,
 * eight paths, against the readable decoder, and exact check nodes against those of min-sum with 1 to 32 paths. The kernel's time has rate recovery,
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

const LIST = 8, BLOCKS = sized(24, 4), ROUNDS = sized(40, 1);
const generator = Generator.seeded(1);

for (const [sent, rate, snrDb] of [512, 1024].flatMap((sent) => [[sent, 0.25, 1], [sent, 0.5, 4], [sent, 0.75, 7]])) {
  const payload = rate * sent, code = polarCode("uci", payload, sent), variance = 10 ** (-snrDb / 10);
  const received = Array.from({ length: BLOCKS }, () => {
    const bits = generator.integers(0, 2, payload, "uint8") as Uint8Array;
    const symbols = modulate(encodePolar(bits, code, 0), "qpsk");
    return demodulateLlr(generator.addComplexNormal(symbols, variance), "qpsk", variance);
  });
  // The best time of every block, of all decoders in turn: other programs interrupt some of the rounds.
  const rates = (blocks: number, decoders: ((llr: Float32Array) => unknown)[]): number[] => {
    const milliseconds = decoders.map(() => 0);
    for (const llr of received.slice(0, blocks)) {
      const best = decoders.map(() => Infinity);
      for (let round = 0; round < ROUNDS; round++) {
        decoders.forEach((decode, i) => best[i] = Math.min(best[i], ...timesOf(1, () => decode(llr), 0)));
      }
      best.forEach((time, i) => milliseconds[i] += time);
    }
    return milliseconds.map((time) => blocks * payload / time / 1e3);
  };
  const decoder = (listSize: number, checkNode: CheckNode) => (llr: Float32Array) =>
    decodePolar(llr, code, { listSize, checkNode });
  const lost = received.filter((llr) => !decodePolar(llr, code, { listSize: LIST }).crcPassed).length;
  if (lost > BLOCKS / 10) throw new Error(`${lost} of ${BLOCKS} messages are lost`);
  for (const listSize of [1, 2, 4, 8, 16, 32]) {
    const [least, exact] = rates(BLOCKS, [decoder(listSize, "min_sum"), decoder(listSize, "exact")]);
    const name = `N ${sent}, rate ${rate}, ${listSize} paths`,
      ratio = `${(least / exact).toFixed(1)} times the time, at most 4`;
    row(`kernel, ${name}`, `${least.toFixed(2)} Mbit/s`, listSize === LIST ? "aim 5" : "");
    row(`exact check nodes, ${name}`, `${exact.toFixed(2)} Mbit/s`, ratio);
  }
  const readable = (llr: Float32Array) =>
    decodePolar(llr, code, { listSize: LIST }, (...given) => decodeList(...given, "min_sum"));
  row(
    `readable decoder, N ${sent}, rate ${rate}`,
    `${rates(2, [readable])[0].toFixed(2)} Mbit/s`,
    "the same words",
  );
}
