/**
 * The entropy coder in millions of integers a second, and what it wastes: latents as a learned codec has them, one normal
 * table of 64 for each, on one thread: `deno run -A tests/bench/entropy_bench.ts`.
 *
 * Beside it the same coder in plain C (entropy_plain.c), where gcc is installed. Best of several rounds.
 */
import { decodeIntegers, encodeIntegers, normalTable } from "../../lib/numeric/coding/frequency_table.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { RangeDecoder, RangeEncoder } from "../../lib/numeric/coding/range_coder.ts";
import { informationBits } from "../support/information_bits.ts";
import { ms, plainC, row, sized, timesOf } from "./measure.ts";

const COUNT = sized(1_000_000, 2_000), ROUNDS = sized(7, 1);
const scales = Array.from({ length: 64 }, (_, index) => 0.11 * (64 / 0.11) ** (index / 63));
const tables = scales.map(normalTable);
const generator = Generator.seeded(23);
// Most latents of a codec at low rate are nearly certain zeros: the square brings small scales forward.
const indexes = Uint8Array.from(generator.random(COUNT), (u) => Math.floor(64 * u * u));
const values = Int32Array.from(generator.standardNormal(COUNT), (x, at) => {
  const { smallest, cumulative } = tables[indexes[at]];
  const largest = smallest + cumulative.length - 3;
  return Math.max(smallest, Math.min(largest, Math.round(x * scales[indexes[at]])));
});

function encode(): Uint8Array {
  const encoder = new RangeEncoder();
  encodeIntegers(encoder, values, indexes, tables);
  return encoder.finish();
}

const best = (work: () => unknown) => Math.min(...timesOf(ROUNDS, work));

/** Milliseconds of the C program, or the reason why there are none. */
async function peer(): Promise<{ encode: number; decode: number } | string> {
  const found = await plainC<{ encode: number; decode: number; failures: number }>("entropy_plain.c", [], (folder) => {
    const words = [COUNT, tables.length, ROUNDS];
    for (const { smallest, cumulative } of tables) words.push(smallest, cumulative.length - 1, ...cumulative);
    const all = new Int32Array(words.length + 2 * COUNT);
    all.set(words);
    all.set(values, words.length);
    all.set(indexes, words.length + COUNT);
    Deno.writeFileSync(`${folder}/integers`, new Uint8Array(all.buffer));
    return [`${folder}/integers`];
  });
  return typeof found === "string" || found.failures === 0 ? found : `it loses ${found.failures} integers`;
}

const bytes = encode();
const decoded = decodeIntegers(new RangeDecoder(bytes), indexes, tables);
if (decoded.some((value, at) => value !== values[at])) throw new Error("An integer of the benchmark is lost");
const information = informationBits(values, indexes, tables);
const plain = await peer();
if (typeof plain === "string") console.log(`plain C skipped: ${plain}`);
const own = {
  encode: best(encode),
  decode: best(() => decodeIntegers(new RangeDecoder(bytes), indexes, tables)),
};
for (const what of ["encode", "decode"] as const) {
  const note = typeof plain === "string"
    ? ""
    : `plain C ${ms(plain[what])}, ${(plain[what] / own[what]).toFixed(2)} times ours`;
  row(`${what} ${COUNT} integers, 64 normal tables`, ms(own[what]), note);
}
row(
  "bits beyond the information content",
  `${(bytes.length * 8 - information).toFixed(1)}`,
  `of ${information.toFixed(0)}`,
);
