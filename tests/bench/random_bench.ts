/**
 * Draws of 10 million values against NumPy's: `deno run -A tests/bench/random_bench.ts`. NumPy draws on one thread; rows of
 * several threads say so. A new array of this size costs page faults, which NumPy mostly avoids: it asks for large pages.
 * The rows "into an array" show the draws alone on both sides.
 */
import { integersParallel, randomParallel, standardNormalParallel } from "../../lib/numeric/parallel/draws.ts";
import { availableThreads } from "../../lib/numeric/parallel/team.ts";
import { Generator } from "../../lib/numeric/random.ts";
import { medianMs, numpyTimings, printComparison } from "./numpy.ts";

const COUNT = 10_000_000;

const numpy = numpyTimings(`
n = ${COUNT}
g = np.random.default_rng(1)
measure("random", lambda: g.random(n))
out = np.empty(n)
measure("random into an array", lambda: g.random(out=out))
measure("standard_normal into an array", lambda: g.standard_normal(out=out))
measure("standard_exponential into an array", lambda: g.standard_exponential(out=out))
measure("random float32", lambda: g.random(n, dtype=np.float32))
measure("standard_normal", lambda: g.standard_normal(n))
measure("standard_exponential", lambda: g.standard_exponential(n))
measure("integers uint8 0..2", lambda: g.integers(0, 2, n, dtype=np.uint8))
measure("integers uint8 0..200", lambda: g.integers(0, 200, n, dtype=np.uint8))
measure("integers int64 0..4", lambda: g.integers(0, 4, n))
measure("permutation of 1e6", lambda: g.permutation(1000000))
`);

const generator = Generator.seeded(1);
const out = new Float64Array(COUNT);
const threads = availableThreads();
const several = `${threads} threads`;
printComparison({
  "random": medianMs(() => generator.random(COUNT)),
  [`random, ${several}`]: medianMs(() => randomParallel(generator, COUNT)),
  "random into an array": medianMs(() => generator.random(out)),
  "random float32": medianMs(() => generator.randomFloat32(COUNT)),
  "standard_normal": medianMs(() => generator.standardNormal(COUNT)),
  [`standard_normal, ${several}`]: medianMs(() => standardNormalParallel(generator, COUNT)),
  "standard_normal into an array": medianMs(() => generator.standardNormal(out)),
  "standard_exponential": medianMs(() => generator.standardExponential(COUNT)),
  "standard_exponential into an array": medianMs(() => generator.standardExponential(out)),
  "integers uint8 0..2": medianMs(() => generator.integers(0, 2, COUNT, "uint8")),
  [`integers uint8 0..2, ${several}`]: medianMs(() => integersParallel(generator, 0, 2, COUNT, "uint8")),
  "integers uint8 0..200": medianMs(() => generator.integers(0, 200, COUNT, "uint8")),
  "integers int64 0..4": medianMs(() => generator.integers(0, 4, COUNT, "int64")),
  [`integers int64 0..4, ${several}`]: medianMs(() => integersParallel(generator, 0, 4, COUNT, "int64")),
  "permutation of 1e6": medianMs(() => generator.permutation(1_000_000)),
}, numpy);
