/**
 * Maximum likelihood detection of MIMO grids with max-log LLRs, as maximumLikelihoodDetector of ../../link/mimo_detection.ts. The
 * labels of all layers but the last one count up; two labels of the last layer share a vector, in which their distances
 * are summed in the order of the antennas. Every result has the bits of the reference.
 */
import { loadComplex, times, turned } from "./grid_complex";

const LEAST: f64 = 1e-12;

/**
 * Detects the data elements of a grid.
 * @param g complex64 [subcarrier or element, rx, layer], `own` for a matrix of each element
 * @param y complex64 [row, subcarrier, rx]
 * @param noise binary64, one value or one an element where each has its own matrix
 * @param place int32 [row, subcarrier]: index of the data element, -1 without data
 * @param points complex128 by label, an even number
 * @param symbols receives complex64 [data element, layer], `llr` binary32 [data element, layer, bit]
 * @param room of likeliestRoom bytes
 * @param limit data elements of the grid
 */
export function likeliest(
  g: usize,
  y: usize,
  noise: usize,
  place: usize,
  points: usize,
  symbols: usize,
  llr: usize,
  room: usize,
  rows: i32,
  subcarriers: i32,
  rx: i32,
  layers: i32,
  width: i32,
  limit: i32,
  own: bool,
): void {
  const order = 1 << width, size = rx * layers, least = room + likeliestTables(rx, layers, width);
  for (let k = 0; k < subcarriers; k++) {
    let prepared = false, n0: f64 = 0;
    for (let row = 0; row < rows; row++) {
      const element = row * subcarriers + k, at = load<i32>(place + 4 * <usize>element);
      if (at < 0 || at >= limit) continue;
      if (own || !prepared) {
        prepare(g + 8 * <usize>((own ? element : k) * size), points, room, rx, layers, order);
        n0 = Math.max(load<f64>(noise + (own ? 8 * <usize>element : 0)), LEAST);
        prepared = true;
      }
      const best = search(y + 8 * <usize>(element * rx), room, least, rx, layers, order);
      for (let layer = 0, rest = best; layer < layers; layer++) {
        const shift = width * (layers - 1 - layer), label = <usize>((rest >> shift) & (order - 1));
        const to = <usize>(at * layers + layer), point = points + 16 * label;
        store<f32>(symbols + 8 * to, <f32>load<f64>(point));
        store<f32>(symbols + 8 * to, <f32>load<f64>(point, 8), 4);
        for (let bit = 0; bit < width; bit++) {
          const mask = order >> (bit + 1);
          let one = f64.MAX_VALUE, zero = f64.MAX_VALUE;
          for (let label = 0; label < order; label++) {
            const distance = load<f64>(least + 8 * <usize>(layer * order + label));
            if (label & mask) one = Math.min(one, distance);
            else zero = Math.min(zero, distance);
          }
          store<f32>(llr + 4 * (to * <usize>width + <usize>bit), <f32>((one - zero) / n0));
        }
      }
    }
  }
}

/** Bytes of the sent parts of every label of every layer and of the residuals behind them. */
function likeliestTables(rx: i32, layers: i32, width: i32): usize {
  return 16 * <usize>rx * (<usize>layers << width) + 16 * <usize>(rx * layers);
}

/** Bytes of the room of a detection. */
export function likeliestRoom(rx: i32, layers: i32, width: i32): usize {
  return likeliestTables(rx, layers, width) + 8 * (<usize>layers << width);
}

/** G times each point of each layer: complex [layer, label, rx], of the last layer real numbers [rx, part, label]. */
function prepare(g: usize, points: usize, room: usize, rx: i32, layers: i32, order: i32): void {
  const last = layers - 1, table = room + 16 * <usize>(last * order * rx);
  for (let layer = 0; layer < layers; layer++) {
    for (let label = 0; label < order; label++) {
      const point = v128.load(points + 16 * <usize>label);
      for (let r = 0; r < rx; r++) {
        const gain = loadComplex(g + 8 * <usize>(r * layers + layer));
        const real = f64x2.splat(f64x2.extract_lane(gain, 0));
        const sent = times(real, turned(f64x2.extract_lane(gain, 1)), point);
        if (layer < last) v128.store(room + 16 * <usize>((layer * order + label) * rx + r), sent);
        else {
          store<f64>(table + 8 * <usize>(2 * r * order + label), f64x2.extract_lane(sent, 0));
          store<f64>(table + 8 * <usize>((2 * r + 1) * order + label), f64x2.extract_lane(sent, 1));
        }
      }
    }
  }
}

/** The joint label of the least distance, and the least distances of each label of each layer. */
function search(y: usize, room: usize, least: usize, rx: i32, layers: i32, order: i32): i32 {
  const last = layers - 1, table = room + 16 * <usize>(last * order * rx), residuals = table + 16 * <usize>(order * rx);
  for (let i = 0; i < layers * order; i++) store<f64>(least + 8 * <usize>i, f64.MAX_VALUE);
  for (let r: usize = 0; r < <usize>rx; r++) v128.store(residuals + 16 * r, loadComplex(y + 8 * r));
  let groups = 1;
  for (let layer = 0; layer < last; layer++) groups *= order;
  let best = 0, bestDistance = f64.MAX_VALUE;
  for (let group = 0; group < groups; group++) {
    // Layers whose label has changed: the last of them changes with every group.
    let first = last - 1;
    for (let rest = group; first > 0 && rest % order == 0; rest /= order) first--;
    if (group == 0) first = 0;
    for (let layer = first; layer < last; layer++) {
      const label = digit(group, last - 1 - layer, order);
      const sent = room + 16 * <usize>((layer * order + label) * rx), own = residuals + 16 * <usize>(layer * rx);
      for (let r: usize = 0; r < <usize>rx; r++) {
        v128.store(own + 16 * (<usize>rx + r), f64x2.sub(v128.load(own + 16 * r), v128.load(sent + 16 * r)));
      }
    }
    const own = residuals + 16 * <usize>(last * rx), leastOfLast = least + 8 * <usize>(last * order);
    let nearest = f64.MAX_VALUE, at = 0;
    for (let label = 0; label < order; label += 2) {
      let distance = f64x2.splat(0), sent = table + 8 * <usize>label;
      for (let part: usize = 0; part < 2 * <usize>rx; part++, sent += 8 * <usize>order) {
        const left = f64x2.sub(v128.load64_splat(own + 8 * part), v128.load(sent));
        distance = f64x2.add(distance, f64x2.mul(left, left));
      }
      const to = leastOfLast + 8 * <usize>label;
      v128.store(to, f64x2.min(v128.load(to), distance));
      const a = f64x2.extract_lane(distance, 0), b = f64x2.extract_lane(distance, 1);
      if (a < nearest) {
        nearest = a;
        at = label;
      }
      if (b < nearest) {
        nearest = b;
        at = label + 1;
      }
    }
    for (let layer = 0; layer < last; layer++) {
      const to = least + 8 * <usize>(layer * order + digit(group, last - 1 - layer, order));
      if (nearest < load<f64>(to)) store<f64>(to, nearest);
    }
    if (nearest < bestDistance) {
      bestDistance = nearest;
      best = group * order + at;
    }
  }
  return best;
}

/** A digit of a number to the base `order`. */
function digit(value: i32, position: i32, order: i32): i32 {
  for (; position > 0; position--) value /= order;
  return value % order;
}
