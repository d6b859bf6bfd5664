/**
 * The portable kernels against plain C on one thread, the same values in, arrays of 1e7: `deno run -A tests/bench/plain_bench.ts`.
 * The C program (plain.c) is compiled with -O3 for any x86-64, and once more for this machine. Its results lie in arrays that
 * are there; ours do where a function takes an array for its results, with the time for a new array beside it, which costs
 * its page faults. Other results of ours are new arrays, at most as long as the bits. LDPC has its own comparison (ldpc_bench.ts), LAPACK stands beside linear_bench.ts.
 */
import { crc32Of } from "../../lib/artifact/crc32.ts";
import { packBits, unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { sampleErrors } from "../../lib/numeric/scores/image_quality.ts";
import { demodulateLlr, hardBits, modulate } from "../../lib/numeric/link/modulation.ts";
import { zigguratTables } from "../../lib/numeric/native/build.ts";
import { majorityBits } from "../../lib/numeric/coding/repetition.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { ms, plainC, row, sized, timesOf } from "./measure.ts";

const COUNT = sized(1e7, 1e4), ROUNDS = 5, WIDTH = sized(512, 8);

const generator = Generator.seeded(23);
const bits = generator.integers(0, 2, COUNT, "uint8") as Uint8Array;
const symbols = modulate(bits, "qpsk"), qam = modulate(bits, "qam16");
const received = generator.addComplexNormal(symbols, 0.1), llr = demodulateLlr(received, "qpsk", 0.1);
const packed = packBits(bits);
const picture = generator.integers(0, 256, WIDTH * WIDTH, "uint8") as Uint8Array;
const other = generator.integers(0, 256, WIDTH * WIDTH, "uint8") as Uint8Array;

const drawn = new Uint8Array(COUNT), normals = new Float64Array(COUNT), mapped = new Float32Array(COUNT / 2);
const values = new Float32Array(COUNT);

/** Name, the kernel, and the same with a new array where the first writes to one that is there. */
const kernels: [string, () => unknown, (() => unknown)?][] = [
  [
    "random bits",
    () => generator.fillIntegers(0, 2, drawn, "uint8"),
    () => generator.integers(0, 2, COUNT, "uint8"),
  ],
  ["normal values", () => generator.standardNormal(normals), () => generator.standardNormal(COUNT)],
  ["map to QPSK", () => modulate(bits, "qpsk", values), () => modulate(bits, "qpsk")],
  ["map to 16QAM", () => modulate(bits, "qam16", mapped), () => modulate(bits, "qam16")],
  [
    "add complex noise",
    () => generator.addComplexNormal(symbols, 0.1, values),
    () => generator.addComplexNormal(symbols, 0.1),
  ],
  ["QPSK LLRs", () => demodulateLlr(received, "qpsk", 0.1, values), () => demodulateLlr(received, "qpsk", 0.1)],
  ["16QAM LLRs, max-log", () => demodulateLlr(qam, "qam16", 0.1, values), () => demodulateLlr(qam, "qam16", 0.1)],
  ["hard decisions", () => hardBits(llr)],
  ["majority of 4 copies", () => majorityBits(bits, 4)],
  ["pack bits", () => packBits(bits)],
  ["unpack bits", () => unpackBits(packed)],
  ["CRC-32", () => crc32Of(bits)],
  ["squared and absolute errors", () => {
    for (let round = 0; round < 40; round++) sampleErrors(picture, other);
  }],
];

/** Milliseconds of the C program by name, or the reason why there are none. */
const plain = (flags: string[]) =>
  plainC<Record<string, number>>("plain.c", [...flags, "-fno-strict-aliasing", `-DCOUNT=${COUNT}`], (folder) => {
    const tables = zigguratTables().replace("<cstdint>", "<stdint.h>");
    const views = "#define NORMAL_WIDTH ((const double *)NORMAL_W)\n#define NORMAL_HEIGHT ((const double *)NORMAL_F)\n";
    Deno.writeTextFileSync(`${folder}/ziggurat.inc`, tables + views);
    return [];
  });

const peers = { "plain C": await plain([]), "C for this machine": await plain(["-march=native"]) };
for (const [name, found] of Object.entries(peers)) {
  if (typeof found === "string") console.log(`${name} skipped: ${found}`);
}
for (const [name, run, fresh] of kernels) {
  const own = Math.min(...timesOf(ROUNDS, run));
  const added = fresh === undefined ? [] : [`a new array ${ms(Math.min(...timesOf(ROUNDS, fresh)))}`];
  const notes = Object.entries(peers).flatMap(([peer, found]) =>
    typeof found === "string" ? [] : [`${peer} ${ms(found[name])}, ${(found[name] / own).toFixed(2)} times ours`]
  );
  row(name, ms(own), [...added, ...notes].join("; "));
}
