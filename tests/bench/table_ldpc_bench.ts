/**
 * LDPC codes of IEEE 802.11 in coded bits a second on one thread: 1944 bits at rate 1/2, 20 iterations of layered normalised min-sum.
 *
 *     deno run -A tests/bench/table_ldpc_bench.ts
 *
 * Beside it the same decoder in plain C (table_ldpc_plain.c) by gcc -O2, where gcc is installed, and the readable decoder. Figures are the
 * best of several rounds, for other programs disturb both.
 */
import { Buffer } from "node:buffer";
import { shippedCode } from "../../lib/numeric/coding/ldpc/code.ts";
import { decodeLdpc, type LdpcOptions } from "../../lib/numeric/coding/ldpc/decoder.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { plainC, row, sized, timesOf } from "./measure.ts";

const ITERATIONS = 20, ROUNDS = sized(200, 1), code = shippedCode("ieee80211n_1944_1_2");
// The zero word over AWGN at 3 dB.
const llr = Float32Array.from(Generator.seeded(1).standardNormal(code.length), (z) => 4 + Math.sqrt(8) * z);
const options: LdpcOptions = {
  schedule: "layered",
  checkRule: "normalized_min_sum",
  iterations: ITERATIONS,
  scale: 0.75,
  offset: 0,
  earlyStop: false,
};

/** Coded bits a second, in millions. */
const rate = (rounds: number, readable: boolean) => {
  if (!decodeLdpc(llr, code, options, readable).passed) throw new Error("The block of the benchmark is lost");
  return code.length / Math.min(...timesOf(rounds, () => decodeLdpc(llr, code, options, readable))) / 1e3;
};
const megabits = (value: number) => `${value.toFixed(2)} Mbit/s`;
const kernel = rate(ROUNDS, false);
row(`kernel, ${ITERATIONS} iterations`, megabits(kernel), "the values of the readable decoder");
row(`readable decoder, ${ITERATIONS} iterations`, megabits(rate(sized(50, 1), true)));
const head = Int32Array.of(ROUNDS, ITERATIONS, code.length, code.starts.length - 1, code.columns.length);
const parts = [head, code.starts, code.columns, llr].map(({ buffer, byteOffset, byteLength }) =>
  new Uint8Array(buffer, byteOffset, byteLength)
);
const found = await plainC<{ seconds: number; wrong: number }>("table_ldpc_plain.c", ["-O2"], (folder) => {
  Deno.writeFileSync(`${folder}/block`, Buffer.concat(parts));
  return [`${folder}/block`];
});
if (typeof found === "string") {
  console.log(`plain C skipped: ${found}`);
} else {
  if (found.wrong > 0) throw new Error(`The C program loses ${found.wrong} bits`);
  const plain = code.length / found.seconds / 1e6;
  row(`plain C -O2, ${ITERATIONS} iterations`, megabits(plain), `C / kernel: ${(plain / kernel).toFixed(2)}, aim 1.5`);
}
