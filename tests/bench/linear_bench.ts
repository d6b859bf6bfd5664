/**
 * Transforms and decompositions against NumPy on one thread: `deno run -A tests/bench/linear_bench.ts`. Sizes are those of
 * antenna arrays and OFDM grids; NumPy calls LAPACK and pocketfft, each call with some overhead of its own. `solve` is a square
 * system: least squares by QR here, LU with half the operations in LAPACK.
 */
import { Fft } from "../../lib/numeric/linalg/fft.ts";
import { hermitianEigen } from "../../lib/numeric/linalg/hermitian_eigen.ts";
import { gram } from "../../lib/numeric/linalg/linear_algebra.ts";
import { leastSquares, qr } from "../../lib/numeric/linalg/qr.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { svd } from "../../lib/numeric/linalg/svd.ts";
import { sized } from "./measure.ts";
import { medianMs, numpyTimings, printComparison, type Timings } from "./numpy.ts";

const SIZES = [8, 64], LENGTHS = [64, 1024, 1000, 65_536], REPEATS = sized(100, 1);
const FFT_VALUES = sized(100_000, 1);

for (const name of ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"]) Deno.env.set(name, "1");
const numpy = numpyTimings(`
g = np.random.default_rng(1)
def c(*shape): return g.standard_normal(shape) + 1j * g.standard_normal(shape)
def times(n, f):
    def run():
        for _ in range(n): f()
    return run
for n in (${SIZES}):
    k = ${REPEATS} if n < 32 else 1
    a = c(n, n)
    h = a.conj().T @ a
    b = c(n)
    measure(f"{k} Hermitian eigen {n}", times(k, lambda: np.linalg.eigh(h)))
    measure(f"{k} SVD {n}", times(k, lambda: np.linalg.svd(a, full_matrices=False)))
    measure(f"{k} QR {n}", times(k, lambda: np.linalg.qr(a)))
    measure(f"{k} solve {n}", times(k, lambda: np.linalg.solve(a, b)))
for n in (${LENGTHS}):
    k = max(1, ${FFT_VALUES} // n)
    x = c(n)
    measure(f"{k} FFT {n}", times(k, lambda: np.fft.fft(x)))
`);

const generator = Generator.seeded(1), ours: Timings = {};
const complex = (count: number) => generator.standardNormal(2 * count) as Float64Array<ArrayBuffer>;
const time = (name: string, repeats: number, run: () => unknown) => {
  ours[`${repeats} ${name}`] = medianMs(() => {
    for (let i = 0; i < repeats; i++) run();
  });
};
for (const n of SIZES) {
  const repeats = n < 32 ? REPEATS : 1, a = complex(n * n), h = gram(a, n, n), b = complex(n);
  time(`Hermitian eigen ${n}`, repeats, () => hermitianEigen(h, n));
  time(`SVD ${n}`, repeats, () => svd(a, n, n));
  time(`QR ${n}`, repeats, () => qr(a, n, n));
  time(`solve ${n}`, repeats, () => leastSquares(a, b, n, n));
}
for (const n of LENGTHS) {
  const plan = new Fft(n), x = complex(n), out = new Float64Array(2 * n);
  time(`FFT ${n}`, Math.max(1, Math.floor(FFT_VALUES / n)), () => plan.forward(x, out));
}
printComparison(ours, numpy);
