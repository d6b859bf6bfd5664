/**
 * Loops over OFDM grids: frequency responses, MIMO channels, MIMO detection and interpolation in time. Compiled to
 * ../grid.wasm by `deno task build:wasm`. Every sum has the order of its TypeScript reference, so results are bit-identical.
 * A complex number of binary64 is one vector; complex64 in memory is binary32, and becomes binary64 when it is loaded.
 */
import { loadComplex, storeComplex, times, turned } from "./grid_complex";
export { likeliest, likeliestRoom } from "./likeliest";
export { reserve } from "./linear_memory";

const LOST: f64 = 1e12, LEAST_PIVOT: f64 = 1e-14, LEAST: f64 = 1e-12;

/**
 * Rows of taps times rotations: out[row, k] = Σ_l taps[row, l]·turns[l, k], complex128.
 */
export function respond(taps: usize, turns: usize, out: usize, rows: i32, count: i32, subcarriers: i32): void {
  const width: usize = 16 * <usize>subcarriers;
  for (let row = 0; row < rows; row++, taps += 16 * <usize>count) {
    let k: usize = 0;
    for (; k + 64 <= width; k += 64, out += 64) {
      let a = f64x2.splat(0), b = a, c = a, d = a;
      let turn = turns + k;
      for (let tap = taps, end = taps + 16 * <usize>count; tap < end; tap += 16, turn += width) {
        const real = v128.load64_splat(tap), imaginary = turned(load<f64>(tap, 8));
        a = f64x2.add(a, times(real, imaginary, v128.load(turn)));
        b = f64x2.add(b, times(real, imaginary, v128.load(turn, 16)));
        c = f64x2.add(c, times(real, imaginary, v128.load(turn, 32)));
        d = f64x2.add(d, times(real, imaginary, v128.load(turn, 48)));
      }
      v128.store(out, a);
      v128.store(out, b, 16);
      v128.store(out, c, 32);
      v128.store(out, d, 48);
    }
    for (; k < width; k += 16, out += 16) {
      let a = f64x2.splat(0), turn = turns + k;
      for (let tap = taps, end = taps + 16 * <usize>count; tap < end; tap += 16, turn += width) {
        a = f64x2.add(a, times(v128.load64_splat(tap), turned(load<f64>(tap, 8)), v128.load(turn)));
      }
      v128.store(out, a);
    }
  }
}

/**
 * A grid through a MIMO channel: out[element, r] = noise[element, r] + Σ_l gains[k, r, l]·x[element, l], x and out complex64.
 * @param available symbols of the grid; those behind them are not sent
 */
export function mix(
  gains: usize,
  x: usize,
  noise: usize,
  out: usize,
  elements: i32,
  subcarriers: i32,
  rx: i32,
  layers: i32,
  available: i32,
): void {
  let gain = gains, k = 0;
  for (let element = 0; element < elements; element++, x += 8 * <usize>layers) {
    const sent = min(layers, max(0, available - element * layers));
    for (let r = 0; r < rx; r++, gain += 16 * <usize>layers, noise += 16, out += 8) {
      let sum = v128.load(noise);
      for (let l: usize = 0; l < <usize>sent; l++) {
        const g = gain + 16 * l;
        sum = f64x2.add(sum, times(v128.load64_splat(g), turned(load<f64>(g, 8)), loadComplex(x + 8 * l)));
      }
      storeComplex(out, sum);
    }
    if (++k == subcarriers) {
      k = 0;
      gain = gains;
    }
  }
}

/** AᴴA of binary64, as gram of ../../linalg/linear_algebra.ts. */
function gram(a: usize, rows: i32, columns: i32, out: usize): void {
  for (let i = 0; i < columns; i++) {
    for (let j = 0; j <= i; j++) {
      let real: f64 = 0, imaginary: f64 = 0;
      for (let k = 0; k < rows; k++) {
        const p = a + 16 * <usize>(k * columns + i), q = a + 16 * <usize>(k * columns + j);
        const pr = load<f64>(p), pi = load<f64>(p, 8), qr = load<f64>(q), qi = load<f64>(q, 8);
        real += pr * qr + pi * qi;
        imaginary += pr * qi - pi * qr;
      }
      if (i == j) imaginary = 0;
      const lower = out + 16 * <usize>(i * columns + j), upper = out + 16 * <usize>(j * columns + i);
      store<f64>(upper, real);
      store<f64>(upper, i == j ? 0 : -imaginary, 8);
      store<f64>(lower, real);
      store<f64>(lower, imaginary, 8);
    }
  }
}

/** The lower triangle of the Cholesky factor in place; false for a matrix that is not positive definite. */
function cholesky(a: usize, n: i32): bool {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const at = a + 16 * <usize>(i * n + j);
      let real = load<f64>(at), imaginary = load<f64>(at, 8);
      for (let k = 0; k < j; k++) {
        const p = a + 16 * <usize>(i * n + k), q = a + 16 * <usize>(j * n + k);
        const pr = load<f64>(p), pi = load<f64>(p, 8), qr = load<f64>(q), qi = load<f64>(q, 8);
        real -= pr * qr + pi * qi;
        imaginary -= pi * qr - pr * qi;
      }
      if (i == j) {
        if (!(real > 0)) return false;
        store<f64>(at, Math.sqrt(real));
        store<f64>(at, 0, 8);
      } else {
        const pivot = load<f64>(a + 16 * <usize>(j * n + j));
        store<f64>(at, real / pivot);
        store<f64>(at, imaginary / pivot, 8);
      }
    }
  }
  return true;
}

/** L⁻¹, as inverseLower of ../../linalg/linear_algebra.ts. */
function inverseLower(lower: usize, n: i32, out: usize): void {
  memory.fill(out, 0, 16 * <usize>(n * n));
  for (let j = 0; j < n; j++) {
    store<f64>(out + 16 * <usize>(j * n + j), 1 / load<f64>(lower + 16 * <usize>(j * n + j)));
    for (let i = j + 1; i < n; i++) {
      let real: f64 = 0, imaginary: f64 = 0;
      for (let k = j; k < i; k++) {
        const p = lower + 16 * <usize>(i * n + k), q = out + 16 * <usize>(k * n + j);
        const pr = load<f64>(p), pi = load<f64>(p, 8), qr = load<f64>(q), qi = load<f64>(q, 8);
        real += pr * qr - pi * qi;
        imaginary += pr * qi + pi * qr;
      }
      const pivot = load<f64>(lower + 16 * <usize>(i * n + i)), at = out + 16 * <usize>(i * n + j);
      store<f64>(at, -real / pivot);
      store<f64>(at, -imaginary / pivot, 8);
    }
  }
}

/**
 * The filter of zero forcing or unbiased MMSE, as linearFilter of ../../link/mimo_detection.ts.
 * @param g rx × layers of binary64
 * @param room three matrices of layers × layers
 * @param weights receives layers × rx, `variance` one value a layer
 */
function linearFilter(
  g: usize,
  rx: i32,
  layers: i32,
  noise: f64,
  mmse: bool,
  room: usize,
  weights: usize,
  variance: usize,
): void {
  const size: usize = 16 * <usize>(layers * layers), product = room, root = room + size, inverse = root + size;
  const loaded = Math.max(noise, LEAST);
  gram(g, rx, layers, product);
  if (mmse) {
    for (let i = 0; i < layers; i++) {
      const at = product + 16 * <usize>(i * layers + i);
      store<f64>(at, load<f64>(at) + loaded);
    }
  }
  let regular = cholesky(product, layers);
  if (regular) {
    let least = f64.MAX_VALUE, most: f64 = 0;
    for (let i = 0; i < layers; i++) {
      const root = load<f64>(product + 16 * <usize>(i * layers + i)), pivot = root * root;
      least = Math.min(least, pivot);
      most = Math.max(most, pivot);
    }
    regular = !(least < LEAST_PIVOT * most);
  }
  if (!regular) {
    memory.fill(weights, 0, 16 * <usize>(layers * rx));
    for (let i = 0; i < layers; i++) store<f64>(variance + 8 * <usize>i, LOST);
    return;
  }
  inverseLower(product, layers, root);
  gram(root, layers, layers, inverse);
  for (let i = 0; i < layers; i++) {
    const own = load<f64>(inverse + 16 * <usize>(i * layers + i));
    const bias = mmse ? loaded * own : 0, gain = Math.max(1 - bias, LEAST);
    store<f64>(variance + 8 * <usize>i, mmse ? bias / gain : noise * own);
    for (let r = 0; r < rx; r++) {
      let real: f64 = 0, imaginary: f64 = 0;
      for (let k = 0; k < layers; k++) {
        const p = inverse + 16 * <usize>(i * layers + k), q = g + 16 * <usize>(r * layers + k);
        const pr = load<f64>(p), pi = load<f64>(p, 8), qr = load<f64>(q), qi = load<f64>(q, 8);
        real += pr * qr + pi * qi;
        imaginary += pi * qr - pr * qi;
      }
      const to = weights + 16 * <usize>(i * rx + r);
      store<f64>(to, real / gain);
      store<f64>(to, imaginary / gain, 8);
    }
  }
}

/**
 * Linear detection of a grid. Elements of a subcarrier share a matrix, or each has its own.
 * @param g complex64 [subcarrier or element, rx, layer]
 * @param y complex64 [row, subcarrier, rx]
 * @param noise binary64, one value or one an element where each has its own matrix
 * @param place int32 [row, subcarrier]: index of the data element, -1 without data
 * @param limit data elements of the grid; those behind them are left out
 * @param symbols receives complex64 [data element, layer], `variance` binary32
 * @param room for rx·layers, layers·rx and three times layers² complex values and `layers` values
 */
export function separate(
  g: usize,
  y: usize,
  noise: usize,
  place: usize,
  symbols: usize,
  variance: usize,
  room: usize,
  rows: i32,
  subcarriers: i32,
  rx: i32,
  layers: i32,
  limit: i32,
  own: bool,
  mmse: bool,
): void {
  const size = rx * layers, matrix = room, weights = matrix + 16 * <usize>size, spread = weights + 16 * <usize>size;
  const inner = spread + 8 * <usize>layers;
  for (let k = 0; k < subcarriers; k++) {
    let prepared = false;
    for (let row = 0; row < rows; row++) {
      const element = row * subcarriers + k, at = load<i32>(place + 4 * <usize>element);
      if (at < 0 || at >= limit) continue;
      if (own || !prepared) {
        const from = g + 8 * <usize>((own ? element : k) * size);
        for (let i: usize = 0; i < <usize>size; i++) v128.store(matrix + 16 * i, loadComplex(from + 8 * i));
        const n0 = load<f64>(noise + (own ? 8 * <usize>element : 0));
        linearFilter(matrix, rx, layers, n0, mmse, inner, weights, spread);
        prepared = true;
      }
      const received = y + 8 * <usize>(element * rx);
      let weight = weights;
      for (let i = 0; i < layers; i++) {
        let sum = f64x2.splat(0);
        for (let r: usize = 0; r < <usize>rx; r++, weight += 16) {
          const product = times(v128.load64_splat(weight), turned(load<f64>(weight, 8)), loadComplex(received + 8 * r));
          sum = f64x2.add(sum, product);
        }
        const to = <usize>(at * layers + i);
        storeComplex(symbols + 8 * to, sum);
        store<f32>(variance + 4 * to, <f32>load<f64>(spread + 8 * <usize>i));
      }
    }
  }
}

/**
 * Rows on places of a grid, on all of its OFDM symbols: (1 - share)·first + share·second, rounded to complex64.
 * @param values complex128 [place, subcarrier]
 * @param places int32 [symbol, 2]: the two places of a symbol
 * @param shares binary64 [symbol]
 * @param out first complex64 value; the next one is `stride` values further
 */
export function spread(
  values: usize,
  places: usize,
  shares: usize,
  out: usize,
  symbols: i32,
  subcarriers: i32,
  stride: i32,
): void {
  const step: usize = 8 * <usize>stride, width: usize = 16 * <usize>subcarriers;
  for (let s = 0; s < symbols; s++, places += 8, shares += 8) {
    const share = load<f64>(shares), first = f64x2.splat(1 - share), second = f64x2.splat(share);
    let a = values + <usize>load<i32>(places) * width, b = values + <usize>load<i32>(places, 4) * width;
    for (const end = a + width; a < end; a += 16, b += 16, out += step) {
      storeComplex(out, f64x2.add(f64x2.mul(first, v128.load(a)), f64x2.mul(second, v128.load(b))));
    }
  }
}
