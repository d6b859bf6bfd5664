/**
 * The whole chain in memory, 1e7 random bits -> QPSK -> AWGN at 10 dB -> LLR, against the same chain in NumPy:
 * `deno run -A tests/bench/chain_bench.ts`. Two NumPy spellings: complex128 throughout, as one writes it, and parts in
 * preallocated binary64 arrays without temporaries.
 */
import { demodulateLlr, modulate } from "../../lib/numeric/modulation.ts";
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

measure("chain", plain, 5)
measure("chain, tuned NumPy", tuned, 5)
`);

function chain(): Float32Array {
  const generator = Generator.seeded(1);
  const bits = generator.integers(0, 2, BITS, "uint8");
  const received = generator.addComplexNormal(modulate(bits, "qpsk"), NOISE_VARIANCE);
  return demodulateLlr(received, "qpsk", NOISE_VARIANCE);
}

const whole = medianMs(chain, 5);
printComparison({ "chain": whole, "chain, tuned NumPy": whole }, numpy);
console.log(`${(BITS / whole / 1e3).toFixed(0)} Mbit/s`);

const generator = Generator.seeded(1);
const bits = generator.integers(0, 2, BITS, "uint8");
const symbols = modulate(bits, "qpsk");
const parts: Timings = {
  "  integers": medianMs(() => generator.integers(0, 2, BITS, "uint8"), 5),
  "  modulate": medianMs(() => modulate(bits, "qpsk"), 5),
  "  addComplexNormal": medianMs(() => generator.addComplexNormal(symbols, NOISE_VARIANCE), 5),
  "  demodulateLlr": medianMs(() => demodulateLlr(symbols, "qpsk", NOISE_VARIANCE), 5),
};
printComparison(parts, { skipped: "parts of ours alone" });
