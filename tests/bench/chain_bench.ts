/**
 * The whole chain in memory, 1e7 random bits -> QPSK -> AWGN at 10 dB -> LLR, against the same chain in NumPy:
 * `deno run -A tests/bench/chain_bench.ts`. Two NumPy spellings, both on one thread: complex128 throughout, and parts in
 * preallocated arrays without temporaries. Ours: the kernels of the operations, on one thread and on all.
 */
import assert from "node:assert/strict";
import { addComplexNormalParallel, integersParallel } from "../../lib/numeric/parallel/draws.ts";
import { demodulateLlrParallel, modulateParallel } from "../../lib/numeric/parallel/modulation.ts";
import { availableThreads } from "../../lib/numeric/parallel/team.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { ms, row, sized } from "./measure.ts";
import { medianMs, numpyTimings, printComparison } from "./numpy.ts";

const BITS = sized(10_000_000, 10_000);
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

const all = availableThreads();

function chain(threads: number): Float32Array {
  const generator = Generator.seeded(1);
  const bits = integersParallel(generator, 0, 2, BITS, "uint8", { threads });
  const symbols = modulateParallel(bits, "qpsk", { threads });
  const received = addComplexNormalParallel(generator, symbols, NOISE_VARIANCE, { threads });
  return demodulateLlrParallel(received, "qpsk", NOISE_VARIANCE, { threads });
}

const started = performance.now();
const first = chain(all);
const firstMs = performance.now() - started;
assert.deepEqual(first, chain(1));

const plainMs = "skipped" in numpy ? NaN : numpy.timings.plain;
const tunedMs = "skipped" in numpy ? NaN : numpy.timings.tuned;

function tell(name: string, taken: number) {
  const rate = `${(BITS / taken / 1e3).toFixed(0)} Mbit/s`;
  const ratios = `${(plainMs / taken).toFixed(2)} times plain NumPy, ${(tunedMs / taken).toFixed(2)} times tuned NumPy`;
  row(name, ms(taken), "skipped" in numpy ? rate : `${rate}, ${ratios}`);
}

if ("skipped" in numpy) console.log(`NumPy skipped: ${numpy.skipped}`);
else {
  tell("NumPy, plain, one thread", plainMs);
  tell("NumPy, tuned, one thread", tunedMs);
}
tell("one thread", medianMs(() => chain(1)));
tell(`${all} threads`, medianMs(() => chain(all)));
tell(`${all} threads, the first time`, firstMs);

const generator = Generator.seeded(1);
const bits = integersParallel(generator, 0, 2, BITS, "uint8");
const symbols = modulateParallel(bits, "qpsk");
const parts: Record<string, (threads: number) => unknown> = {
  integers: (threads) => integersParallel(generator, 0, 2, BITS, "uint8", { threads }),
  modulate: (threads) => modulateParallel(bits, "qpsk", { threads }),
  addComplexNormal: (threads) => addComplexNormalParallel(generator, symbols, NOISE_VARIANCE, { threads }),
  demodulateLlr: (threads) => demodulateLlrParallel(symbols, "qpsk", NOISE_VARIANCE, { threads }),
};
printComparison(
  Object.fromEntries(
    Object.entries(parts).flatMap(([name, part]) =>
      [1, all].map((threads) => [`  ${name}, threads: ${threads}`, medianMs(() => part(threads), 5)])
    ),
  ),
  { skipped: "parts of ours alone" },
);
