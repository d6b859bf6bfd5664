/**
 * The portable kernels against plain C on one thread, the same values in, arrays of 1e7: `deno run -A tests/bench/plain_bench.ts`.
 * The C program (plain.c) is compiled with -O3 for any x86-64, and once more for this machine. Results of ours are new arrays,
 * those of C lie in arrays that are there. LDPC has its own comparison (ldpc_bench.ts), LAPACK stands beside linear_bench.ts.
 */
import { crc32Of } from "../../lib/artifact/crc32.ts";
import { packBits, unpackBits } from "../../lib/numeric/bit_packing.ts";
import { sampleErrors } from "../../lib/numeric/image_quality.ts";
import { demodulateLlr, hardBits, modulate } from "../../lib/numeric/modulation.ts";
import { zigguratTables } from "../../lib/numeric/native/build.ts";
import { Generator } from "../../lib/numeric/random.ts";
import { combineRepetition } from "../../lib/numeric/repetition.ts";
import { ms, row } from "./measure.ts";

const COUNT = 1e7, ROUNDS = 5, WIDTH = 512;

const generator = Generator.seeded(23);
const bits = generator.integers(0, 2, COUNT, "uint8") as Uint8Array;
const symbols = modulate(bits, "qpsk"), qam = modulate(bits, "qam16");
const received = generator.addComplexNormal(symbols, 0.1), llr = demodulateLlr(received, "qpsk", 0.1);
const packed = packBits(bits);
const picture = generator.integers(0, 256, WIDTH * WIDTH, "uint8") as Uint8Array;
const other = generator.integers(0, 256, WIDTH * WIDTH, "uint8") as Uint8Array;

const kernels: [string, () => unknown][] = [
  ["random bits", () => generator.integers(0, 2, COUNT, "uint8")],
  ["normal values", () => generator.standardNormal(COUNT)],
  ["map to QPSK", () => modulate(bits, "qpsk")],
  ["map to 16QAM", () => modulate(bits, "qam16")],
  ["add complex noise", () => generator.addComplexNormal(symbols, 0.1)],
  ["QPSK LLRs", () => demodulateLlr(received, "qpsk", 0.1)],
  ["16QAM LLRs, max-log", () => demodulateLlr(qam, "qam16", 0.1)],
  ["hard decisions", () => hardBits(llr)],
  ["combine 4 repetitions", () => combineRepetition(llr, 4)],
  ["pack bits", () => packBits(bits)],
  ["unpack bits", () => unpackBits(packed)],
  ["CRC-32", () => crc32Of(bits)],
  ["squared and absolute errors", () => {
    for (let round = 0; round < 40; round++) sampleErrors(picture, other);
  }],
];

function best(run: () => unknown): number {
  let least = Infinity;
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    run();
    if (round > 0) least = Math.min(least, performance.now() - start);
  }
  return least;
}

/** Milliseconds of the C program by name, or why there are none. */
async function plain(flags: string[]): Promise<Record<string, number> | string> {
  const folder = await Deno.makeTempDir({ prefix: "svc-plain-" });
  try {
    const tables = zigguratTables().replace("<cstdint>", "<stdint.h>");
    const views = "#define NORMAL_WIDTH ((const double *)NORMAL_W)\n#define NORMAL_HEIGHT ((const double *)NORMAL_F)\n";
    await Deno.writeTextFile(`${folder}/ziggurat.inc`, tables + views);
    const source = new URL("plain.c", import.meta.url).pathname;
    const compile = ["-O3", ...flags, "-fno-strict-aliasing", `-I${folder}`, source, "-o", `${folder}/plain`, "-lm"];
    const built = await new Deno.Command("gcc", { args: compile }).output();
    if (!built.success) return new TextDecoder().decode(built.stderr);
    const { stdout } = await new Deno.Command(`${folder}/plain`).output();
    return JSON.parse(new TextDecoder().decode(stdout));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "gcc is not installed";
    throw error;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const peers = { "plain C": await plain([]), "C for this machine": await plain(["-march=native"]) };
for (const [name, found] of Object.entries(peers)) {
  if (typeof found === "string") console.log(`${name} skipped: ${found}`);
}
for (const [name, run] of kernels) {
  const own = best(run);
  const notes = Object.entries(peers).flatMap(([peer, found]) =>
    typeof found === "string" ? [] : [`${peer} ${ms(found[name])}, ${(found[name] / own).toFixed(2)} times ours`]
  );
  row(name, ms(own), notes.join("; "));
}
