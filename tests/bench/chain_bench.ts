/**
 * The whole chain in memory, 1e7 random bits -> QPSK -> AWGN at 10 dB -> LLR, against the same chain in NumPy:
 * `deno run -A tests/bench/chain_bench.ts`. Two NumPy spellings, both on one thread: complex128 throughout, as one writes
 * it, and parts in preallocated arrays without temporaries. Ours: a new array from each step, or one array that the steps
 * work on in place, each on one thread and on all. All of ours give the same values to the bit.
 */
import assert from "node:assert/strict";
import { demodulateLlr, modulate } from "../../lib/numeric/modulation.ts";
import { addComplexNormalParallel, integersParallel } from "../../lib/numeric/parallel/draws.ts";
import { demodulateLlrParallel, modulateParallel } from "../../lib/numeric/parallel/modulation.ts";
import { availableThreads } from "../../lib/numeric/parallel/team.ts";
import { Generator } from "../../lib/numeric/random.ts";
import { medianMs, numpyTimings, printComparison, type Timings } from "./numpy.ts";

const BITS = 10_000_000;
const NOISE_VARIANCE = 0.1;

const numpy = numpyTimings(`
n, m, n0 = ${BITS}, ${BITS / 2}, ${NOISE_VARIANCE}

def plain():
    g = np.random.default_rng(1)
    bits = g.integers(0, 2, n, dtype=np.uint8)
    symbols = ((1.0 - 2.0 * bits[0::2]) + 1j * (1.0 - 2.0 * bits[1::2])) / np.sqrt(2)
    noise = np.empty(m, np.complex128)
    noise.real = g.standard_normal(m)
    noise.imag = g.standard_normal(m)
    received = (symbols + np.sqrt(n0 / 2) * noise).astype(np.complex64)
    llr = np.empty(n, np.float32)
    llr[0::2] = 2 * np.sqrt(2) / n0 * received.real
    llr[1::2] = 2 * np.sqrt(2) / n0 * received.imag
    return llr

received, part, llr = np.empty((m, 2), np.float32), np.empty(m), np.empty(n, np.float32)
LEVELS = np.array([1, -1], np.float32) / np.float32(np.sqrt(2))

def tuned():
    g = np.random.default_rng(1)
    bits = g.integers(0, 2, n, dtype=np.uint8)
    np.take(LEVELS, bits, out=received.reshape(-1), mode="clip")
    for axis in (0, 1):
        g.standard_normal(out=part)
        np.multiply(part, np.sqrt(n0 / 2), out=part)
        np.add(received[:, axis], part, out=received[:, axis], casting="same_kind")
    np.multiply(received.reshape(-1), np.float32(2 * np.sqrt(2) / n0), out=llr)
    return llr

measure("plain", plain, 7)
measure("tuned", tuned, 7)
`);

const threads = availableThreads();
/** What the ways in place work on. */
const space = new Float32Array(new SharedArrayBuffer(4 * BITS));

function chain(): Float32Array {
  const generator = Generator.seeded(1);
  const bits = generator.integers(0, 2, BITS, "uint8");
  const received = generator.addComplexNormal(modulate(bits, "qpsk"), NOISE_VARIANCE);
  return demodulateLlr(received, "qpsk", NOISE_VARIANCE);
}

function chainInPlace(): Float32Array {
  const generator = Generator.seeded(1);
  const symbols = modulate(generator.integers(0, 2, BITS, "uint8"), "qpsk", space);
  generator.addComplexNormal(symbols, NOISE_VARIANCE, symbols);
  return demodulateLlr(symbols, "qpsk", NOISE_VARIANCE, symbols);
}

function chainParallel(): Float32Array {
  const generator = Generator.seeded(1);
  const bits = integersParallel(generator, 0, 2, BITS, "uint8");
  const received = addComplexNormalParallel(generator, modulateParallel(bits, "qpsk"), NOISE_VARIANCE);
  return demodulateLlrParallel(received, "qpsk", NOISE_VARIANCE);
}

function chainParallelInPlace(): Float32Array {
  const generator = Generator.seeded(1);
  const bits = integersParallel(generator, 0, 2, BITS, "uint8");
  modulateParallel(bits, "qpsk", { out: space });
  addComplexNormalParallel(generator, space, NOISE_VARIANCE, { out: space });
  return demodulateLlrParallel(space, "qpsk", NOISE_VARIANCE, { out: space });
}

const started = performance.now();
const first = chainParallel();
const firstMs = performance.now() - started;
const expected = chain();
for (const llr of [first, chainInPlace(), chainParallelInPlace()]) assert.deepEqual(llr, expected);

const plainMs = "skipped" in numpy ? NaN : numpy.timings.plain;
const tunedMs = "skipped" in numpy ? NaN : numpy.timings.tuned;

function row(name: string, ms: number) {
  const ratio = (theirs: number) => (theirs / ms).toFixed(2).padStart(7);
  const rate = (BITS / ms / 1e3).toFixed(0).padStart(7);
  console.log(`${name.padEnd(36)} ${ms.toFixed(1).padStart(7)} ${rate} ${ratio(plainMs)} ${ratio(tunedMs)}`);
}

console.log("skipped" in numpy ? `NumPy skipped: ${numpy.skipped}` : `NumPy ${numpy.version}`);
console.log(`${"".padEnd(36)}      ms  Mbit/s × plain × tuned`);
row("NumPy, plain, one thread", plainMs);
row("NumPy, tuned, one thread", tunedMs);
row("one thread", medianMs(chain));
row("one thread, in place", medianMs(chainInPlace));
row(`${threads} threads`, medianMs(chainParallel));
row(`${threads} threads, in place`, medianMs(chainParallelInPlace));
row(`${threads} threads, the first time`, firstMs);

const generator = Generator.seeded(1);
const bits = generator.integers(0, 2, BITS, "uint8");
const symbols = modulate(bits, "qpsk");
const sharedBits = integersParallel(generator, 0, 2, BITS, "uint8");
const parts: Timings = {
  "  integers": medianMs(() => generator.integers(0, 2, BITS, "uint8"), 5),
  [`  integers, ${threads} threads`]: medianMs(() => integersParallel(generator, 0, 2, BITS, "uint8"), 5),
  "  modulate": medianMs(() => modulate(bits, "qpsk"), 5),
  [`  modulate, ${threads} threads`]: medianMs(() => modulateParallel(sharedBits, "qpsk"), 5),
  "  addComplexNormal": medianMs(() => generator.addComplexNormal(symbols, NOISE_VARIANCE), 5),
  "  addComplexNormal, in place": medianMs(() => generator.addComplexNormal(symbols, NOISE_VARIANCE, symbols), 5),
  [`  addComplexNormal, ${threads} threads`]: medianMs(
    () => addComplexNormalParallel(generator, space, NOISE_VARIANCE),
    5,
  ),
  "  demodulateLlr": medianMs(() => demodulateLlr(symbols, "qpsk", NOISE_VARIANCE), 5),
  [`  demodulateLlr, ${threads} threads`]: medianMs(() => demodulateLlrParallel(space, "qpsk", NOISE_VARIANCE), 5),
};
printComparison(parts, { skipped: "parts of ours alone" });
