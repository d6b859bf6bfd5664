/**
 * Draws of 10 million values against NumPy's: `deno run -A tests/bench/random_bench.ts`. NumPy draws on one thread; rows of
 * several threads say so. A new array of this size costs page faults, which NumPy mostly avoids: it asks for large pages.
 */
import { complexNormal64Parallel, integersParallel } from "../../lib/numeric/parallel/draws.ts";
import { availableThreads } from "../../lib/numeric/parallel/team.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { sized } from "./measure.ts";
import { medianMs, numpyTimings, printComparison } from "./numpy.ts";

const COUNT = sized(10_000_000, 1_000);

const numpy = numpyTimings(`
n = ${COUNT}
g = np.random.default_rng(1)
measure("random", lambda: g.random(n))
z = np.empty(n // 2, np.complex128)
def complex_normal():
    z.real = g.standard_normal(n // 2)
    z.imag = g.standard_normal(n // 2)
measure("complex normal", complex_normal)
measure("random float32", lambda: g.random(n, dtype=np.float32))
measure("standard_normal", lambda: g.standard_normal(n))
measure("standard_exponential", lambda: g.standard_exponential(n))
measure("integers uint8 0..2", lambda: g.integers(0, 2, n, dtype=np.uint8))
measure("integers uint8 0..200", lambda: g.integers(0, 200, n, dtype=np.uint8))
measure("integers int64 0..4", lambda: g.integers(0, 4, n))
measure(f"permutation of {n // 10}", lambda: g.permutation(n // 10))
`);

const generator = Generator.seeded(1);
const threads = availableThreads();
const several = `${threads} threads`;
printComparison({
  "random": medianMs(() => generator.random(COUNT)),
  "random float32": medianMs(() => generator.randomFloat32(COUNT)),
  "standard_normal": medianMs(() => generator.standardNormal(COUNT)),
  "complex normal": medianMs(() => generator.complexNormal64(COUNT / 2, 1)),
  [`complex normal, ${several}`]: medianMs(() => complexNormal64Parallel(generator, COUNT / 2, 1)),
  "standard_exponential": medianMs(() => generator.standardExponential(COUNT)),
  "integers uint8 0..2": medianMs(() => generator.integers(0, 2, COUNT, "uint8")),
  [`integers uint8 0..2, ${several}`]: medianMs(() => integersParallel(generator, 0, 2, COUNT, "uint8")),
  "integers uint8 0..200": medianMs(() => generator.integers(0, 200, COUNT, "uint8")),
  "integers int64 0..4": medianMs(() => generator.integers(0, 4, COUNT, "int64")),
  [`integers int64 0..4, ${several}`]: medianMs(() => integersParallel(generator, 0, 4, COUNT, "int64")),
  [`permutation of ${COUNT / 10}`]: medianMs(() => generator.permutation(COUNT / 10)),
}, numpy);
