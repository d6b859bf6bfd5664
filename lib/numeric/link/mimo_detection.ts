/**
 * Detection of L layers on R receive antennas, y = G x + n, n ~ CN(0, N0 I), unit mean power per layer.
 *
 *     zf         x̂ = (GᴴG)⁻¹Gᴴ y, ν_i = N0 [(GᴴG)⁻¹]_ii
 *     mmse       W = (GᴴG + N0 I)⁻¹Gᴴ, d_i = (WG)_ii, x̂_i = (W y)_i / d_i, ν_i = (1 - d_i) / d_i: unbiased
 *     mmse_sic   MMSE over the layers that remain, the one of least ν first (ties: lowest layer); its nearest point times
 *                its column is subtracted
 *     ml         distances |y - G s|² of all vectors s
 *     kbest      QR of G, layers from the last one up, the K least partial distances; ties: lower path, then lower label
 *
 * LLRs of zf, mmse and mmse_sic are those of the demapper for x̂ and ν. ml and kbest compare the least distances (or
 * log-sums) of both values of a bit, over N0; a value that no kept vector has counts with the largest kept distance.
 *
 * Sources: Tse and Viswanath, Fundamentals of Wireless Communication, 2005, ch. 8; Wong et al., "A VLSI architecture of a
 * K-best lattice decoding algorithm for MIMO channels", ISCAS 2002.
 */
import { cholesky, gram, inverseLower, zeros } from "../linalg/linear_algebra.ts";
import { partLevels } from "./modulation.ts";
import { BITS_PER_SYMBOL, type Modulation } from "./modulations.ts";

/** Variance of a layer that cannot be separated. */
const LOST = 1e12;
/** Smallest squared pivot against the largest one of a regular GᴴG. */
const LEAST_PIVOT = 1e-14;

/** Points of a constellation by label, interleaved binary64, first bit highest. */
export function constellation(modulation: Modulation): Float64Array {
  const width = BITS_PER_SYMBOL[modulation], count = 2 ** width;
  if (modulation === "bpsk") return Float64Array.of(1, 0, -1, 0);
  const levels = partLevels(modulation), points = new Float64Array(2 * count);
  for (let label = 0; label < count; label++) {
    let real = 0, imaginary = 0;
    for (let bit = 0; bit < width; bit += 2) {
      real = 2 * real + (label >> (width - 1 - bit) & 1);
      imaginary = 2 * imaginary + (label >> (width - 2 - bit) & 1);
    }
    points[2 * label] = levels[real];
    points[2 * label + 1] = levels[imaginary];
  }
  return points;
}

/** Label of the nearest point; of equal ones the lowest. */
function nearest(points: Float64Array, re: number, im: number): number {
  let best = 0, least = Infinity;
  for (let label = 0; 2 * label < points.length; label++) {
    const distance = (re - points[2 * label]) ** 2 + (im - points[2 * label + 1]) ** 2;
    if (distance < least) {
      least = distance;
      best = label;
    }
  }
  return best;
}

interface LinearFilter {
  /** Interleaved, [layer, antenna]. */
  readonly weights: Float64Array;
  /** Noise variance of each layer after the filter. */
  readonly variance: Float64Array;
}

/** Matrices of one filter after another. */
const filterRoom = (rx: number, layers: number) => ({
  product: zeros(layers, layers),
  lower: zeros(layers, layers),
  root: zeros(layers, layers),
  inverse: zeros(layers, layers),
  weights: zeros(layers, rx),
  variance: new Float64Array(layers),
});

/**
 * The filter of zero forcing or of unbiased MMSE. A singular zero-forcing problem gives zeros of variance 1e12.
 * @param g R × L, interleaved
 * @param room receives the filter
 */
function linearFilter(
  g: Float64Array,
  rx: number,
  layers: number,
  noise: number,
  mmse: boolean,
  room = filterRoom(rx, layers),
): LinearFilter {
  const { product, lower, root, inverse, weights, variance } = room;
  const lost = () => {
    weights.fill(0);
    variance.fill(LOST);
    return room;
  };
  gram(g, rx, layers, { out: product });
  if (mmse) { for (let i = 0; i < layers; i++) product[2 * (i * layers + i)] += Math.max(noise, 1e-12); }
  try {
    cholesky(product, layers, lower);
  } catch (error) {
    if (error instanceof RangeError) return lost();
    throw error;
  }
  let least = Infinity, most = 0;
  for (let i = 0; i < layers; i++) {
    const pivot = lower[2 * (i * layers + i)] ** 2;
    least = Math.min(least, pivot);
    most = Math.max(most, pivot);
  }
  if (least < LEAST_PIVOT * most) return lost();
  inverseLower(lower, layers, root);
  gram(root, layers, layers, { out: inverse });
  for (let i = 0; i < layers; i++) {
    const own = inverse[2 * (i * layers + i)];
    // 1 - d_i = N0 [(GᴴG + N0 I)⁻¹]_ii
    const bias = mmse ? Math.max(noise, 1e-12) * own : 0, gain = Math.max(1 - bias, 1e-12);
    variance[i] = mmse ? bias / gain : noise * own;
    for (let r = 0; r < rx; r++) {
      let real = 0, imaginary = 0;
      for (let k = 0; k < layers; k++) {
        const p = 2 * (i * layers + k), q = 2 * (r * layers + k);
        real += inverse[p] * g[q] + inverse[p + 1] * g[q + 1];
        imaginary += inverse[p + 1] * g[q] - inverse[p] * g[q + 1];
      }
      weights[2 * (i * rx + r)] = real / gain;
      weights[2 * (i * rx + r) + 1] = imaginary / gain;
    }
  }
  return room;
}

/** A detector with soft or linear outputs, prepared for one channel matrix at a time. */
export interface Detector {
  prepare(g: Float64Array, noise: number): void;
  /**
   * Detects one vector.
   * @param symbols receives x̂ or hard decisions, interleaved, from complex index `at` on
   * @param variance receives ν of linear detectors at the same index
   * @param llr receives LLRs of list detectors from `at` times the bits per symbol on
   */
  detect(y: Float32Array, from: number, out: DetectorOutput, at: number): void;
}

export interface DetectorOutput {
  symbols: Float32Array;
  variance: Float32Array;
  llr: Float32Array;
}

/** zf and mmse, the reference of the kernel that detects whole grids. Exported for tests. */
export function linearDetector(rx: number, layers: number, mmse: boolean): Detector {
  const room = filterRoom(rx, layers), { weights } = room;
  return {
    prepare(g, noise) {
      linearFilter(g, rx, layers, noise, mmse, room);
    },
    detect(y, from, { symbols, variance }, at) {
      for (let i = 0; i < layers; i++) {
        let real = 0, imaginary = 0;
        for (let r = 0; r < rx; r++) {
          const w = 2 * (i * rx + r), p = from + 2 * r;
          real += weights[w] * y[p] - weights[w + 1] * y[p + 1];
          imaginary += weights[w] * y[p + 1] + weights[w + 1] * y[p];
        }
        symbols[2 * (at + i)] = real;
        symbols[2 * (at + i) + 1] = imaginary;
        variance[at + i] = room.variance[i];
      }
    },
  };
}

interface Stage {
  layer: number;
  weights: Float64Array;
  variance: number;
  column: Float64Array;
}

/** MMSE with ordered successive cancellation; the order depends on the channel only. */
export function successiveDetector(rx: number, layers: number, modulation: Modulation): Detector {
  const points = constellation(modulation), residual = new Float64Array(2 * rx);
  let stages: Stage[] = [];
  return {
    prepare(g, noise) {
      const left = Array.from({ length: layers }, (_, i) => i);
      stages = [];
      while (left.length > 0) {
        const part = new Float64Array(2 * rx * left.length);
        left.forEach((layer, i) => {
          for (let r = 0; r < rx; r++) {
            part[2 * (r * left.length + i)] = g[2 * (r * layers + layer)];
            part[2 * (r * left.length + i) + 1] = g[2 * (r * layers + layer) + 1];
          }
        });
        const { weights, variance } = linearFilter(part, rx, left.length, noise, true);
        const best = variance.indexOf(Math.min(...variance)), [layer] = left.splice(best, 1);
        const column = new Float64Array(2 * rx);
        for (let r = 0; r < rx; r++) {
          column[2 * r] = g[2 * (r * layers + layer)];
          column[2 * r + 1] = g[2 * (r * layers + layer) + 1];
        }
        stages.push({
          layer,
          weights: weights.slice(2 * best * rx, 2 * (best + 1) * rx),
          variance: variance[best],
          column,
        });
      }
    },
    detect(y, from, { symbols, variance }, at) {
      for (let r = 0; r < 2 * rx; r++) residual[r] = y[from + r];
      for (const { layer, weights, variance: own, column } of stages) {
        let real = 0, imaginary = 0;
        for (let r = 0; r < 2 * rx; r += 2) {
          real += weights[r] * residual[r] - weights[r + 1] * residual[r + 1];
          imaginary += weights[r] * residual[r + 1] + weights[r + 1] * residual[r];
        }
        symbols[2 * (at + layer)] = real;
        symbols[2 * (at + layer) + 1] = imaginary;
        variance[at + layer] = own;
        const label = nearest(points, real, imaginary), sr = points[2 * label], si = points[2 * label + 1];
        for (let r = 0; r < 2 * rx; r += 2) {
          residual[r] -= column[r] * sr - column[r + 1] * si;
          residual[r + 1] -= column[r] * si + column[r + 1] * sr;
        }
      }
    },
  };
}

/** Least distances and, for the exact method, sums of each label of each layer. */
class Marginals {
  readonly least: Float64Array;
  readonly sums: Float64Array;

  constructor(readonly layers: number, readonly order: number, readonly width: number) {
    this.least = new Float64Array(layers * order);
    this.sums = new Float64Array(layers * order);
  }

  /** LLRs of all bits; labels without a vector count with `absent`. */
  write(llr: Float32Array, at: number, noise: number, { exact, absent }: { exact: boolean; absent: number }): void {
    const { order, width } = this;
    for (let layer = 0; layer < this.layers; layer++) {
      for (let bit = 0; bit < width; bit++) {
        const mask = order >> (bit + 1);
        llr[(at + layer) * width + bit] = (this.#side(layer, mask, mask, noise, exact, absent) -
          this.#side(layer, mask, 0, noise, exact, absent)) / noise;
      }
    }
  }

  /** The least distance of a bit value, less N0 times the log of the sum relative to it. */
  #side(layer: number, mask: number, wanted: number, noise: number, exact: boolean, absent: number): number {
    const start = layer * this.order;
    let least = Infinity;
    for (let label = 0; label < this.order; label++) {
      if ((label & mask) === wanted) least = Math.min(least, this.least[start + label]);
    }
    if (least === Infinity) return absent;
    if (!exact) return least;
    let sum = 0;
    for (let label = 0; label < this.order; label++) {
      const own = this.least[start + label];
      if ((label & mask) === wanted && own < Infinity) {
        sum += Math.exp((least - own) / noise) * this.sums[start + label];
      }
    }
    return least - noise * Math.log(sum);
  }
}

/** All vectors; with max-log LLRs the reference of the kernel that detects whole grids. */
export function maximumLikelihoodDetector(
  rx: number,
  layers: number,
  modulation: Modulation,
  exact: boolean,
): Detector {
  const points = constellation(modulation), order = points.length / 2, total = order ** layers;
  const marginals = new Marginals(layers, order, BITS_PER_SYMBOL[modulation]);
  const distances = new Float64Array(total), residuals = new Float64Array(2 * rx * (layers + 1));
  let g: Float64Array, noise = 1;
  const { least, sums } = marginals;
  const visit = (layer: number, index: number) => {
    const own = 2 * rx * layer, next = own + 2 * rx;
    if (layer === layers) {
      let distance = 0;
      for (let r = 0; r < 2 * rx; r++) distance += residuals[own + r] ** 2;
      distances[index] = distance;
      return;
    }
    for (let label = 0; label < order; label++) {
      const sr = points[2 * label], si = points[2 * label + 1];
      for (let r = 0; r < rx; r++) {
        const gr = g[2 * (r * layers + layer)], gi = g[2 * (r * layers + layer) + 1];
        residuals[next + 2 * r] = residuals[own + 2 * r] - (gr * sr - gi * si);
        residuals[next + 2 * r + 1] = residuals[own + 2 * r + 1] - (gr * si + gi * sr);
      }
      visit(layer + 1, index * order + label);
    }
  };
  const labelAt = (index: number, layer: number) => Math.floor(index / order ** (layers - 1 - layer)) % order;
  return {
    prepare(matrix, variance) {
      g = matrix.slice();
      noise = Math.max(variance, 1e-12);
    },
    detect(y, from, { symbols, llr }, at) {
      for (let r = 0; r < 2 * rx; r++) residuals[r] = y[from + r];
      visit(0, 0);
      least.fill(Infinity);
      let best = 0;
      for (let index = 0; index < total; index++) {
        const distance = distances[index];
        if (distance < distances[best]) best = index;
        for (let layer = layers - 1, rest = index; layer >= 0; layer--, rest = Math.floor(rest / order)) {
          const place = layer * order + rest % order;
          if (distance < least[place]) least[place] = distance;
        }
      }
      if (exact) {
        sums.fill(0);
        for (let index = 0; index < total; index++) {
          for (let layer = layers - 1, rest = index; layer >= 0; layer--, rest = Math.floor(rest / order)) {
            const place = layer * order + rest % order;
            sums[place] += Math.exp((least[place] - distances[index]) / noise);
          }
        }
      }
      for (let layer = 0; layer < layers; layer++) {
        const label = labelAt(best, layer);
        symbols[2 * (at + layer)] = points[2 * label];
        symbols[2 * (at + layer) + 1] = points[2 * label + 1];
      }
      marginals.write(llr, at, noise, { exact, absent: Infinity });
    },
  };
}

/**
 * The selection of the smallest scores, by a heap.
 * @param scores of the candidates path · order + label
 * @param room most candidates that are kept
 * @returns a function of the number of candidates that gives the kept ones, in ascending order of their index, so that ties of
 *   the next layer go to the lower path
 */
function selection(scores: Float64Array, room: number): (count: number) => Int32Array {
  const heap = new Int32Array(room);
  /** Whether candidate a ranks behind candidate b. */
  const behind = (a: number, b: number) => scores[a] > scores[b] || (scores[a] === scores[b] && a > b);
  return (count) => {
    const size = Math.min(room, count);
    for (let i = 0; i < size; i++) heap[i] = i;
    const sink = (start: number) => {
      const moved = heap[start];
      let at = start;
      for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && behind(heap[child + 1], heap[child])) child++;
        if (!behind(heap[child], moved)) break;
        heap[at] = heap[child];
        at = child;
      }
      heap[at] = moved;
    };
    for (let i = (size >> 1) - 1; i >= 0; i--) sink(i);
    for (let i = size; i < count; i++) {
      if (scores[i] < scores[heap[0]]) {
        heap[0] = i;
        sink(0);
      }
    }
    return heap.subarray(0, size).sort();
  };
}

/** The K best vectors of a tree search; rx >= layers. */
export function kBestDetector(
  rx: number,
  layers: number,
  modulation: Modulation,
  keep: number,
  exact: boolean,
): Detector {
  const points = constellation(modulation), order = points.length / 2;
  const marginals = new Marginals(layers, order, BITS_PER_SYMBOL[modulation]);
  const { least, sums } = marginals;
  const q = new Float64Array(2 * rx * layers), triangle = new Float64Array(2 * layers * layers);
  const room = Math.min(keep, order ** layers);
  // Two generations of paths: distances and labels [path, layer].
  let distances = new Float64Array(room), following = new Float64Array(room);
  let labels = new Uint8Array(room * layers), next = new Uint8Array(room * layers);
  const rotated = new Float64Array(2 * layers), scores = new Float64Array(room * order);
  const select = selection(scores, room);
  let noise = 1, outside = 0;
  return {
    prepare(g, variance) {
      noise = Math.max(variance, 1e-12);
      gramSchmidt(g, rx, layers, q, triangle);
    },
    detect(y, from, { symbols, llr }, at) {
      let energy = 0;
      for (let r = 0; r < 2 * rx; r++) energy += y[from + r] ** 2;
      outside = energy;
      for (let i = 0; i < layers; i++) {
        let real = 0, imaginary = 0;
        for (let r = 0; r < rx; r++) {
          const p = 2 * (r * layers + i), s = from + 2 * r;
          real += q[p] * y[s] + q[p + 1] * y[s + 1];
          imaginary += q[p] * y[s + 1] - q[p + 1] * y[s];
        }
        rotated[2 * i] = real;
        rotated[2 * i + 1] = imaginary;
        outside -= real * real + imaginary * imaginary;
      }
      let paths = 1;
      distances[0] = Math.max(outside, 0);
      for (let i = layers - 1; i >= 0; i--) {
        const diagonal = triangle[2 * (i * layers + i)];
        for (let path = 0; path < paths; path++) {
          let real = rotated[2 * i], imaginary = rotated[2 * i + 1];
          for (let j = i + 1; j < layers; j++) {
            const rr = triangle[2 * (i * layers + j)], ri = triangle[2 * (i * layers + j) + 1];
            const label = labels[path * layers + j], sr = points[2 * label], si = points[2 * label + 1];
            real -= rr * sr - ri * si;
            imaginary -= rr * si + ri * sr;
          }
          for (let label = 0; label < order; label++) {
            const dr = real - diagonal * points[2 * label], di = imaginary - diagonal * points[2 * label + 1];
            scores[path * order + label] = distances[path] + dr * dr + di * di;
          }
        }
        const kept = select(paths * order), size = kept.length;
        for (let k = 0; k < size; k++) {
          const path = Math.floor(kept[k] / order);
          following[k] = scores[kept[k]];
          for (let j = i + 1; j < layers; j++) next[k * layers + j] = labels[path * layers + j];
          next[k * layers + i] = kept[k] - path * order;
        }
        [distances, following] = [following, distances];
        [labels, next] = [next, labels];
        paths = size;
      }
      least.fill(Infinity);
      let best = 0, largest = 0;
      for (let path = 0; path < paths; path++) {
        if (distances[path] < distances[best]) best = path;
        largest = Math.max(largest, distances[path]);
        for (let layer = 0; layer < layers; layer++) {
          const place = layer * order + labels[path * layers + layer];
          if (distances[path] < least[place]) least[place] = distances[path];
        }
      }
      if (exact) {
        sums.fill(0);
        for (let path = 0; path < paths; path++) {
          for (let layer = 0; layer < layers; layer++) {
            const place = layer * order + labels[path * layers + layer];
            sums[place] += Math.exp((least[place] - distances[path]) / noise);
          }
        }
      }
      for (let layer = 0; layer < layers; layer++) {
        const label = labels[best * layers + layer];
        symbols[2 * (at + layer)] = points[2 * label];
        symbols[2 * (at + layer) + 1] = points[2 * label + 1];
      }
      marginals.write(llr, at, noise, { exact, absent: largest });
    },
  };
}

/** G = QR with a real diagonal of R, by modified Gram-Schmidt; a dependent column gets a zero diagonal. */
function gramSchmidt(g: Float64Array, rx: number, layers: number, q: Float64Array, triangle: Float64Array): void {
  q.set(g);
  triangle.fill(0);
  for (let j = 0; j < layers; j++) {
    for (let i = 0; i < j; i++) {
      let real = 0, imaginary = 0;
      for (let r = 0; r < rx; r++) {
        const a = 2 * (r * layers + i), b = 2 * (r * layers + j);
        real += q[a] * q[b] + q[a + 1] * q[b + 1];
        imaginary += q[a] * q[b + 1] - q[a + 1] * q[b];
      }
      triangle[2 * (i * layers + j)] = real;
      triangle[2 * (i * layers + j) + 1] = imaginary;
      for (let r = 0; r < rx; r++) {
        const a = 2 * (r * layers + i), b = 2 * (r * layers + j);
        q[b] -= q[a] * real - q[a + 1] * imaginary;
        q[b + 1] -= q[a] * imaginary + q[a + 1] * real;
      }
    }
    let energy = 0;
    for (let r = 0; r < rx; r++) energy += q[2 * (r * layers + j)] ** 2 + q[2 * (r * layers + j) + 1] ** 2;
    const length = Math.sqrt(energy);
    triangle[2 * (j * layers + j)] = length;
    for (let r = 0; r < rx && length > 0; r++) {
      q[2 * (r * layers + j)] /= length;
      q[2 * (r * layers + j) + 1] /= length;
    }
  }
}
