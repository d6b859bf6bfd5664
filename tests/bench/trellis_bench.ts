/**
 * Viterbi decoding of the code (133, 171) of 64 states, and turbo decoding of LTE by max-log with 6144 bits and eight iterations, in
 * information bits a second on one thread, without errors.
 *
 *     deno run -A tests/bench/trellis_bench.ts
 *
 * Beside them the same decoders in plain C (trellis_plain.c) by gcc -O2, where gcc is installed, and the readable decoders. Figures are the
 * best of several rounds, for other programs disturb both.
 */
import { Buffer } from "node:buffer";
import { convolutionalCode, decodeConvolutional, encodeConvolutional } from "../../lib/numeric/coding/convolutional.ts";
import { viterbi } from "../../lib/numeric/coding/convolutional.ts";
import { decodeTurbo, encodeTurbo, turboCode, type TurboOptions } from "../../lib/numeric/coding/turbo.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { plainC, row, sized, timesOf } from "./measure.ts";

const SIZE = sized(6144, 64), ITERATIONS = 8, ROUNDS = sized(60, 1);
const generator = Generator.seeded(1), code = convolutionalCode(["133", "171"]), turbo = turboCode(SIZE, 0, 0);
const bits = generator.integers(0, 2, SIZE, "uint8") as Uint8Array;
/** Values of sent bits over AWGN at 4 dB, with the sent bits in front. */
function received(sent: Uint8Array): Float32Array {
  const noise = generator.standardNormal(sent.length);
  return Float32Array.from(sent, (bit, i) => 5 * (1 - 2 * bit) + Math.sqrt(10) * noise[i]);
}
const convolved = received(encodeConvolutional(bits, code, "zero_tail"));
const values = received(encodeTurbo(bits, turbo));
const options: TurboOptions = { algorithm: "max_log_map", iterations: ITERATIONS, scale: 0.75, earlyStop: false };

/** Information bits a second, in millions. */
const rate = (rounds: number, work: () => { bits: Uint8Array }) => {
  if (work().bits.subarray(0, SIZE).some((bit, i) => bit !== bits[i])) {
    throw new Error("A block of the benchmark is lost");
  }
  return SIZE / Math.min(...timesOf(rounds, work)) / 1e3;
};

async function peer() {
  const streams = new Float32Array(3 * SIZE);
  turbo.places.forEach((place, i) => {
    const length = SIZE + 4, at = place % length;
    if (at < SIZE) streams[Math.floor(place / length) * SIZE + at] = values[i];
  });
  const head = new Uint8Array(Int32Array.of(ROUNDS, SIZE, ITERATIONS, SIZE, ...turbo.permutation).buffer);
  const parts = [head, new Uint8Array(streams.buffer), new Uint8Array(convolved.buffer), bits, bits];
  return await plainC<{ viterbi: number; turbo: number; wrong: number }>("trellis_plain.c", ["-O2"], (folder) => {
    Deno.writeFileSync(`${folder}/blocks`, Buffer.concat(parts));
    return [`${folder}/blocks`];
  });
}

const megabits = (value: number) => `${value.toFixed(2)} Mbit/s`;
const kernels = {
  viterbi: rate(ROUNDS, () => decodeConvolutional(convolved, SIZE, code, "zero_tail", "viterbi")),
  turbo: rate(ROUNDS, () => decodeTurbo(values, turbo, options)),
};
const readable = {
  viterbi: rate(sized(5, 1), () => viterbi(convolved, SIZE + code.memory, code, { start: 0, end: 0 })),
  turbo: rate(sized(2, 1), () => decodeTurbo(values, turbo, options, true)),
};
const found = await peer();
if (typeof found === "string") console.log(`plain C skipped: ${found}`);
else if (found.wrong > 0) throw new Error(`The C program loses ${found.wrong} bits`);
for (const [kind, name] of [["viterbi", "Viterbi, 64 states"], ["turbo", `turbo, ${ITERATIONS} iterations`]] as const) {
  row(`kernel, ${name}`, megabits(kernels[kind]), "the values of the readable decoder");
  row(`readable decoder, ${name}`, megabits(readable[kind]));
  if (typeof found === "string") continue;
  const plain = SIZE / found[kind] / 1e6;
  row(`plain C -O2, ${name}`, megabits(plain), `C / kernel: ${(plain / kernels[kind]).toFixed(2)}, aim 2`);
}
