/**
 * List decoder of polar codes with min-sum or exact check nodes: the decisions of ../polar/list_reference.ts, for exact check nodes but
 * for near ties: corrections of values and metrics have the rounding of binary32. Compiled to ../polar.wasm by `deno task build:wasm`; ../polar/decoder.ts calls it.
 *
 * A node at stage s has 2^s values. Every path has a buffer for the values and for the bits of each stage; the row of a path
 * names the buffers that it uses. A fork copies rows only: all paths write a stage at the same time, and after that no path
 * uses its old contents. A bit is stored as the sign bit of a 64-bit word.
 *
 * Nodes decided at once: without information bits; with information in the last bit alone (repetition: one fork); with
 * all bits information, or all but the first (single parity check). The latter two fork on their bits from the least
 * magnitude on, until no fork stays (Hashemi, Condo and Gross, IEEE Transactions on Signal Processing 65, 2017). For exact sums
 * the same words stay as bit by bit, in another order. The order decides ties: after a tie the block is decoded again,
 * bit by bit. With exact check nodes these two are decided at once where no other word can stay, else bit by bit; metrics are
 * logarithms of products (./log_likelihood.ts).
 */
import { correction, exponential, logarithm, narrow, penalty, upper } from "./log_likelihood";

const MOST_PATHS: i32 = 32;
const MOST_STAGES: i32 = 10;
const SIGN: i64 = 0x8000000000000000;

/** Buffer p of stage s begins at ((32 + p) << s) words. */
const WORDS = 2 * 32 * 1024 * 8;
const VALUES = memory.data(WORDS, 64);
const LEFT = memory.data(WORDS, 64);
const RIGHT = memory.data(WORDS, 64);
const NODES = memory.data(2048, 16);
const WORD = memory.data(1024, 16);

/** Rows: buffers of the values (16 bytes), of the left bits (16 bytes), metric, register. */
const ROW: usize = 48;
const ROWS = memory.data(2 * 32 * 48, 16);
const METRIC: usize = 32;
/** Register of the parity checks; bits of a node that a path flips, by rank of magnitude. */
const REGISTER: usize = 40;
/** Metrics of both decisions of every path, and whether they stay. */
const FORKS = memory.data(64 * 8, 16);
const KEPT = memory.data(64, 16);
/** The smaller and the larger metric of every path. */
const LOWER = memory.data(32 * 8, 16);
const UPPER = memory.data(32 * 8, 16);
const DECISIONS = memory.data(32, 16);
const FOUR = memory.data(64, 16);
/**
 * Rows before a node, and of each path its least magnitude m, e^-m, with e = e^(m - |λ|) the sums of e and of products of two less what is
 * kept, Σ e, and whether the decisions are kept.
 */
const SAVED = memory.data(32 * 48, 16);
const SPECTRA = memory.data(32 * 64, 16);
/** What each path's decisions add beside the excess. */
const PENALTY = memory.data(32 * 8, 16);
const ORDER = memory.data(32, 16);
/** Of every buffer of a node: smallest magnitudes in order, their number, and whether the parity check fails. */
const LEAST = memory.data(32 * 64 * 8, 16);
const KNOWN = memory.data(32, 16);
const ODD = memory.data(32, 16);

/** Forks of a path beyond which words are decided bit by bit. */
const PROVEN_RANKS: i32 = 3;
/** 0.0861 ln 2, and a margin for binary32. */
const LN_ERROR: f64 = 0.0601;

let rows: usize = ROWS;
let spare: usize = ROWS + 32 * 48;
let count: i32 = 1;
let size: i32 = 1;
let bitwise: bool = false;
let exact: bool = false;
let tied: bool = false;
/** While one path is followed alone: the smallest metric of the forks that it has left. */
let alone: bool = false;
let rival: f64 = Infinity;

export function nodesOffset(): usize {
  return NODES;
}
export function llrOffset(stages: i32): usize {
  return buffer(VALUES, stages, 0);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function buffer(base: usize, stage: i32, path: i32): usize {
  return base + (<usize>(MOST_PATHS + path) << <usize>(stage + 3));
}
// @ts-ignore: decorator of AssemblyScript
@inline
function row(path: i32): usize {
  return rows + <usize>path * ROW;
}
// @ts-ignore: decorator of AssemblyScript
@inline
function valuesOf(path: i32, stage: i32): usize {
  return buffer(VALUES, stage, load<u8>(row(path) + stage));
}
// @ts-ignore: decorator of AssemblyScript
@inline
function metric(path: i32): f64 {
  return load<f64>(row(path), METRIC);
}
// @ts-ignore: decorator of AssemblyScript
@inline
function signs(): v128 {
  return i64x2.splat(SIGN);
}

/** The largest magnitude of the values at llrOffset(stages). */
export function largest(stages: i32): f64 {
  const from = llrOffset(stages);
  let most = f64x2.splat(0);
  for (let i: usize = 0; i < <usize>8 << stages; i += 16) most = f64x2.pmax(most, f64x2.abs(v128.load(from + i)));
  return max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1));
}

/** Rounds the values at llrOffset(stages) to multiples of a power of two, half of it upwards. */
export function roundTo(stages: i32, unit: f64): void {
  const from = llrOffset(stages), units = f64x2.splat(unit), scale = f64x2.splat(1 / unit), one = f64x2.splat(1);
  for (let i: usize = 0; i < <usize>8 << stages; i += 16) {
    const value = f64x2.mul(v128.load(from + i), scale), above = f64x2.ceil(value);
    const over = f64x2.gt(f64x2.sub(above, f64x2.splat(0.5)), value);
    v128.store(from + i, f64x2.mul(f64x2.sub(above, v128.and(over, one)), units));
  }
}

/** Decodes the values at llrOffset(stages). @returns the number of paths, ordered by metric for word() */
export function decode(stages: i32, listSize: i32, exactChecks: bool): i32 {
  size = listSize;
  exact = exactChecks;
  bitwise = false;
  run(stages);
  if (tied) {
    bitwise = true;
    run(stages);
  }
  return count;
}

/**
 * Follows the better fork alone, as a list of one path does, with min-sum check nodes. If its metric at the end is below those of all
 * forks that it has left, no list drops it and all other words have larger metrics, since metrics never fall.
 * @returns whether this is so: word(0) is then the first word of any list
 */
export function likeliest(stages: i32): bool {
  size = 1;
  exact = bitwise = false;
  alone = true;
  rival = Infinity;
  run(stages);
  alone = false;
  return metric(0) < rival;
}

function run(stages: i32): void {
  count = 1;
  tied = false;
  memory.fill(rows, 0, ROW);
  node(stages, 1, true);
  for (let path = 0; path < count; path++) {
    let rank = path;
    while (rank > 0 && metric(load<u8>(ORDER + rank - 1)) > metric(path)) {
      store<u8>(ORDER + rank, load<u8>(ORDER + rank - 1));
      rank--;
    }
    if (rank > 0 && metric(load<u8>(ORDER + rank - 1)) == metric(path)) tied = true;
    store<u8>(ORDER + rank, path);
  }
}

/** Bits before the polar transform of the path of a rank, a byte per bit. */
export function word(rank: i32, stages: i32): usize {
  const from = buffer(RIGHT, stages, load<u8>(ORDER + rank)), length = <usize>1 << stages;
  for (let i: usize = 0; i < length; i++) store<u8>(WORD + i, load<u8>(from + (i << 3) + 7) >> 7);
  for (let half: usize = 1; half < length; half <<= 1) {
    for (let start: usize = WORD; start < WORD + length; start += 2 * half) {
      if (half >= 16) {
        for (let i = start; i < start + half; i += 16) v128.store(i, v128.xor(v128.load(i), v128.load(i + half)));
      } else if (half == 8) store<u64>(start, load<u64>(start) ^ load<u64>(start, 8));
      else if (half == 4) store<u32>(start, load<u32>(start) ^ load<u32>(start, 4));
      else if (half == 2) store<u16>(start, load<u16>(start) ^ load<u16>(start, 2));
      else store<u8>(start, load<u8>(start) ^ load<u8>(start, 1));
    }
  }
  return WORD;
}

/** Decodes a node; its bits go to the buffers of right or left children. */
function node(stage: i32, index: i32, right: bool): void {
  const kind = load<u8>(NODES + index);
  if (alone && metric(0) >= rival) return;
  if (kind == 1) return frozen(stage, right);
  if (kind == 2) return repetition(stage, index, right);
  if (kind == 5) return parity(index, right);
  if (kind >= 3 && !bitwise) {
    if (!exact || (size == 1 && kind == 3)) {
      search(stage, kind == 4, 64);
      return write(stage, kind == 4, right);
    }
    if (provenFlips(stage, kind == 4, right)) return;
  }
  const half: usize = <usize>4 << stage;
  if (stage > 1 && load<u8>(NODES + 2 * index) == 1) return frozenLeft(stage, index, right);
  // Values of the left child.
  if (exact) exactChecks(stage);
  else for (let path = 0; path < count; path++) {
    const from = valuesOf(path, stage), to = buffer(VALUES, stage - 1, path);
    if (stage == 1) {
      const a = load<f64>(from), b = load<f64>(from, 8);
      store<f64>(to, copysign(min(abs(a), abs(b)), reinterpret<f64>(reinterpret<i64>(a) ^ reinterpret<i64>(b))));
    } else {
      for (let i: usize = 0; i < half; i += 16) {
        const a = v128.load(from + i), b = v128.load(from + half + i);
        const least = f64x2.pmin(f64x2.abs(a), f64x2.abs(b));
        v128.store(to + i, v128.or(least, v128.and(v128.xor(a, b), signs())));
      }
    }
    store<u8>(row(path) + stage - 1, path);
  }
  node(stage - 1, 2 * index, false);
  // Values of the right child.
  for (let path = 0; path < count; path++) {
    const from = valuesOf(path, stage), to = buffer(VALUES, stage - 1, path), bits = leftOf(path, stage - 1);
    if (stage == 1) {
      const a = reinterpret<f64>(reinterpret<i64>(load<f64>(from)) ^ load<i64>(bits));
      store<f64>(to, load<f64>(from, 8) + a);
    } else {
      for (let i: usize = 0; i < half; i += 16) {
        const a = v128.xor(v128.load(from + i), v128.load(bits + i));
        v128.store(to + i, f64x2.add(v128.load(from + half + i), a));
      }
    }
    store<u8>(row(path) + stage - 1, path);
  }
  node(stage - 1, 2 * index + 1, true);
  // Bits of this node.
  for (let path = 0; path < count; path++) {
    const bits = leftOf(path, stage - 1), other = buffer(RIGHT, stage - 1, path), to = target(path, stage, right);
    if (stage == 1) {
      const last = load<i64>(other);
      store<i64>(to, load<i64>(bits) ^ last);
      store<i64>(to, last, 8);
    } else {
      for (let i: usize = 0; i < half; i += 16) {
        const last = v128.load(other + i);
        v128.store(to + i, v128.xor(v128.load(bits + i), last));
        v128.store(to + half + i, last);
      }
    }
  }
}

/** Exact values of a left child: those of min-sum with a correction of the magnitude, of four values at once, of several paths if few. */
function exactChecks(stage: i32): void {
  const half: usize = <usize>4 << stage, last = count - 1;
  if (stage > 2) {
    for (let path = 0; path < count; path++) {
      const from = valuesOf(path, stage), to = buffer(VALUES, stage - 1, path);
      for (let i: usize = 0; i < half; i += 32) check(from + i, from + half + i, from + i + 16, from + half + i + 16, to + i, to + i + 16);
    }
  } else if (stage == 2) {
    for (let path = 0; path < count; path += 2) {
      const other = min(path + 1, last), first = valuesOf(path, 2), second = valuesOf(other, 2);
      check(first, first + 16, second, second + 16, buffer(VALUES, 1, path), buffer(VALUES, 1, other));
    }
  } else {
    for (let path = 0; path < count; path += 4) {
      for (let i = 0; i < 4; i++) {
        const pair = v128.load(valuesOf(min(path + i, last), 1)), place = FOUR + (<usize>i << 3);
        store<f64>(place, f64x2.extract_lane(pair, 0));
        store<f64>(place, f64x2.extract_lane(pair, 1), 32);
      }
      check(FOUR, FOUR + 32, FOUR + 16, FOUR + 48, FOUR, FOUR + 16);
      for (let i = 0; i < 4 && path + i < count; i++) {
        store<f64>(buffer(VALUES, 0, path + i), load<f64>(FOUR + (<usize>i << 3)));
      }
    }
  }
  for (let path = 0; path < count; path++) store<u8>(row(path) + stage - 1, path);
}

/** Two pairs of values a and b: their exact values go to two places. */
// @ts-ignore: decorator of AssemblyScript
@inline
function check(a: usize, b: usize, nextA: usize, nextB: usize, to: usize, next: usize): void {
  const a0 = v128.load(a), b0 = v128.load(b), a1 = v128.load(nextA), b1 = v128.load(nextB);
  const x0 = f64x2.abs(a0), y0 = f64x2.abs(b0), x1 = f64x2.abs(a1), y1 = f64x2.abs(b1);
  const least0 = f64x2.pmin(x0, y0), least1 = f64x2.pmin(x1, y1);
  const difference = narrow(f64x2.abs(f64x2.sub(x0, y0)), f64x2.abs(f64x2.sub(x1, y1)));
  const less = correction(narrow(least0, least1), difference);
  // Not below zero, whose sign would count twice.
  const value0 = f64x2.pmax(f64x2.splat(0), f64x2.sub(least0, f64x2.promote_low_f32x4(less)));
  const value1 = f64x2.pmax(f64x2.splat(0), f64x2.sub(least1, upper(less)));
  v128.store(to, v128.or(value0, v128.and(v128.xor(a0, b0), signs())));
  v128.store(next, v128.or(value1, v128.and(v128.xor(a1, b1), signs())));
}

/** A node whose left child has no information bits: neither the values nor the bits of that child are stored. */
function frozenLeft(stage: i32, index: i32, right: bool): void {
  const half: usize = <usize>4 << stage, none = f64x2.splat(0);
  for (let path = 0; path < count; path++) {
    const from = valuesOf(path, stage), to = buffer(VALUES, stage - 1, path);
    let sum = none, above = f64x2.splat(1), below = above;
    for (let i: usize = 0; i < half; i += 16) {
      const a = v128.load(from + i), b = v128.load(from + half + i);
      const x = f64x2.abs(a), y = f64x2.abs(b), least = f64x2.pmin(x, y), differ = i64x2.shr_s(v128.xor(a, b), 63);
      sum = f64x2.add(sum, v128.and(least, differ));
      if (exact) {
        // 1 + e^-f, without e^least where f is negative: (1 + e^-x) (1 + e^-y) / (1 + e^-(x + y)), or over 1 + e^-|x - y|.
        const one = f64x2.splat(1), e = exponential(narrow(least, f64x2.sub(f64x2.pmax(x, y), least)));
        const v = f64x2.promote_low_f32x4(e), u = upper(e), w = f64x2.mul(u, v);
        above = f64x2.mul(above, f64x2.mul(f64x2.add(one, v), f64x2.add(one, w)));
        below = f64x2.mul(below, f64x2.add(one, v128.bitselect(u, f64x2.mul(w, v), differ)));
      }
      v128.store(to + i, f64x2.add(a, b));
    }
    if (exact) sum = f64x2.add(sum, f64x2.sub(logarithm(above), logarithm(below)));
    store<f64>(row(path), metric(path) + f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1), METRIC);
    store<u8>(row(path) + stage - 1, path);
  }
  node(stage - 1, 2 * index + 1, true);
  for (let path = 0; path < count; path++) {
    const other = buffer(RIGHT, stage - 1, path), to = target(path, stage, right);
    for (let i: usize = 0; i < half; i += 16) {
      const last = v128.load(other + i);
      v128.store(to + i, last);
      v128.store(to + half + i, last);
    }
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function leftOf(path: i32, stage: i32): usize {
  return buffer(LEFT, stage, load<u8>(row(path) + 16 + stage));
}

/** Buffer for the bits of a node; the row of the path names it. */
// @ts-ignore: decorator of AssemblyScript
@inline
function target(path: i32, stage: i32, right: bool): usize {
  if (right) return buffer(RIGHT, stage, path);
  store<u8>(row(path) + 16 + stage, path);
  return buffer(LEFT, stage, path);
}

/** Sum of max(0, ±λ) over a node: the sign bits of `flip` turn the values. */
// @ts-ignore: decorator of AssemblyScript
@inline
function excess(from: usize, stage: i32, flip: i64): f64 {
  if (stage == 0) return max(0, reinterpret<f64>(load<i64>(from) ^ flip));
  let sum = f64x2.splat(0);
  const turn = i64x2.splat(flip), none = f64x2.splat(0);
  for (let i: usize = 0; i < <usize>8 << stage; i += 16) {
    sum = f64x2.add(sum, f64x2.pmax(none, v128.xor(v128.load(from + i), turn)));
  }
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** Sets all bits of a node. */
// @ts-ignore: decorator of AssemblyScript
@inline
function fill(to: usize, stage: i32, bits: i64): void {
  if (stage == 0) return store<i64>(to, bits);
  const both = i64x2.splat(bits);
  for (let i: usize = 0; i < <usize>8 << stage; i += 16) v128.store(to + i, both);
}

/** For every path what both decisions of all bits of a node add: for exact check nodes Σ ln(1 + e^-|λ|). */
function penalties(stage: i32): void {
  const one = f64x2.splat(1);
  if (!exact || size == 1) return memory.fill(PENALTY, 0, <usize>count << 3);
  if (stage == 0) {
    for (let path = 0; path < count; path += 4) {
      for (let i = 0; i < 4; i++) {
        store<f64>(FOUR + (<usize>i << 3), abs(load<f64>(valuesOf(min(path + i, count - 1), 0))));
      }
      const found = penalty(narrow(v128.load(FOUR), v128.load(FOUR, 16))), to = PENALTY + (<usize>path << 3);
      v128.store(to, f64x2.promote_low_f32x4(found));
      v128.store(to, upper(found), 16);
    }
    return;
  }
  for (let path = 0; path < count; path++) {
    const from = valuesOf(path, stage);
    let product = one;
    if (stage == 1) product = f64x2.add(one, f64x2.promote_low_f32x4(exponential(narrow(f64x2.abs(v128.load(from)), one))));
    else for (let i: usize = 0; i < <usize>8 << stage; i += 32) {
      const e = exponential(narrow(f64x2.abs(v128.load(from + i)), f64x2.abs(v128.load(from + i, 16))));
      product = f64x2.mul(f64x2.mul(product, f64x2.add(one, f64x2.promote_low_f32x4(e))), f64x2.add(one, upper(e)));
    }
    const sums = logarithm(product);
    store<f64>(PENALTY + (<usize>path << 3), f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1));
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function penaltyOf(path: i32): f64 {
  return load<f64>(PENALTY + (<usize>path << 3));
}

function frozen(stage: i32, right: bool): void {
  penalties(stage);
  for (let path = 0; path < count; path++) {
    const from = valuesOf(path, stage);
    store<f64>(row(path), metric(path) + excess(from, stage, SIGN) + penaltyOf(path), METRIC);
    fill(target(path, stage, right), stage, 0);
  }
}

function parity(index: i32, right: bool): void {
  penalties(0);
  const position = index & (index ^ (<i32>1 << (31 - clz(index))));
  for (let path = 0; path < count; path++) {
    const bit = <i64>(load<u32>(row(path), REGISTER) >> (position % 5) & 1) << 63;
    const from = valuesOf(path, 0);
    store<f64>(row(path), metric(path) + excess(from, 0, bit ^ SIGN) + penaltyOf(path), METRIC);
    store<i64>(target(path, 0, right), bit);
  }
}

function repetition(stage: i32, index: i32, right: bool): void {
  penalties(stage);
  for (let path = 0; path < count; path++) {
    const from = valuesOf(path, stage), to = FORKS + (<usize>path << 4);
    const before = metric(path) + penaltyOf(path);
    store<f64>(to, before + excess(from, stage, SIGN));
    store<f64>(to, before + excess(from, stage, 0), 8);
  }
  fork();
  const position = index & (index ^ (<i32>1 << (31 - clz(index))));
  for (let path = 0; path < count; path++) {
    const bit: i64 = load<u8>(DECISIONS + path);
    fill(target(path, stage, right), stage, bit << 63);
    if (stage == 0) store<u32>(row(path), load<u32>(row(path), REGISTER) ^ <u32>bit << (position % 5), REGISTER);
  }
}

/**
 * Both decisions of every path with the metrics in FORKS; the smallest `size` stay, in their order.
 * @returns whether both decisions of a path stay
 */
function fork(): bool {
  if (count < size) {
    for (let i = 0; i < 2 * count; i++) store<u8>(KEPT + i, 1);
    moveRows();
    return true;
  }
  // The better decisions stay at first.
  let worst: f64 = 0, best = Infinity;
  for (let path = 0; path < count; path++) {
    const zero = load<f64>(FORKS + (<usize>path << 4)), one = load<f64>(FORKS + (<usize>path << 4), 8);
    const bit = <i32>(one < zero);
    store<u8>(DECISIONS + path, bit);
    store<u8>(KEPT + 2 * path, 1 - bit);
    store<u8>(KEPT + 2 * path + 1, bit);
    const lower = min(zero, one), upper = max(zero, one);
    store<f64>(LOWER + (<usize>path << 3), lower);
    store<f64>(UPPER + (<usize>path << 3), upper);
    worst = max(worst, lower);
    best = min(best, upper);
  }
  rival = min(rival, best);
  if (worst < best) {
    for (let path = 0; path < count; path++) {
      store<f64>(row(path), load<f64>(FORKS + (<usize>(2 * path + load<u8>(DECISIONS + path)) << 3)), METRIC);
    }
    return false;
  }
  if (bitwise || count == 1) swapInOrder();
  else swap();
  moveRows();
  return true;
}

/** The best discarded fork replaces the worst kept one; in a tie the first stays. */
function swapInOrder(): void {
  while (true) {
    let last = -1, next = -1;
    for (let i = 0; i < 2 * count; i++) {
      const own = load<f64>(FORKS + (<usize>i << 3));
      if (load<u8>(KEPT + i)) {
        if (last < 0 || own >= load<f64>(FORKS + (<usize>last << 3))) last = i;
      } else if (next < 0 || own < load<f64>(FORKS + (<usize>next << 3))) next = i;
    }
    const out = load<f64>(FORKS + (<usize>last << 3)), into = load<f64>(FORKS + (<usize>next << 3));
    if (into == out) tied = true;
    if (into > out || (into == out && next > last)) return;
    store<u8>(KEPT + last, 0);
    store<u8>(KEPT + next, 1);
  }
}

/** As swapInOrder, with a tie only noted. The swapped forks leave LOWER and UPPER. */
function swap(): void {
  let dropped = Infinity;
  while (true) {
    let out = f64x2.splat(-Infinity), into = f64x2.splat(Infinity);
    for (let i: usize = 0; i < <usize>count << 3; i += 16) {
      out = f64x2.pmax(out, v128.load(LOWER + i));
      into = f64x2.pmin(into, v128.load(UPPER + i));
    }
    const worst = max(f64x2.extract_lane(out, 0), f64x2.extract_lane(out, 1));
    const best = min(f64x2.extract_lane(into, 0), f64x2.extract_lane(into, 1));
    if (best >= worst) {
      if (best == worst || dropped == worst) tied = true;
      return;
    }
    const last = find(LOWER, worst), next = find(UPPER, best), lastBit = load<u8>(DECISIONS + last);
    const nextBit = load<u8>(DECISIONS + next) ^ 1;
    store<u8>(KEPT + 2 * last + lastBit, 0);
    store<u8>(KEPT + 2 * next + nextBit, 1);
    store<f64>(LOWER + (<usize>last << 3), -Infinity);
    store<f64>(UPPER + (<usize>next << 3), Infinity);
    dropped = worst;
  }
}

/** Place of a value in an array that has it. */
// @ts-ignore: decorator of AssemblyScript
@inline
function find(base: usize, value: f64): i32 {
  let i = 0;
  while (load<f64>(base + (<usize>i << 3)) != value) i++;
  return i;
}

/** Makes the kept forks the paths. */
function moveRows(): void {
  let next = 0;
  for (let i = 0; i < 2 * count; i++) {
    if (!load<u8>(KEPT + i)) continue;
    const from = row(i >> 1), to = spare + <usize>next * ROW;
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
    store<f64>(to, load<f64>(FORKS + (<usize>i << 3)), METRIC);
    store<u64>(to, load<u64>(from, REGISTER), REGISTER);
    store<u8>(DECISIONS + next, i & 1);
    next++;
  }
  count = next;
  const old = rows;
  rows = spare;
  spare = old;
}

/**
 * Chooses the words of a node of free bits, or with a single parity check: the bit of least magnitude then makes the check hold.
 * @param most last rank that may fork
 * @returns whether no further rank would
 */
function search(stage: i32, check: bool, most: i32): bool {
  const length = min<i32>(1 << stage, 64);
  for (let path = 0; path < count; path++) {
    store<u8>(KNOWN + path, 0);
    store<u64>(row(path), 0, REGISTER);
    if (!check) continue;
    survey(path, stage);
    if (load<u8>(ODD + path)) store<f64>(row(path), metric(path) + load<f64>(LEAST + (<usize>path << 9)), METRIC);
  }
  for (let rank = <i32>check; rank < length; rank++) {
    for (let path = 0; path < count; path++) {
      const own = load<u8>(row(path) + stage), from = buffer(VALUES, stage, own);
      let cost = least(own, rank, from, stage);
      if (check) cost += flipped(path, own) ? -least(own, 0, from, stage) : least(own, 0, from, stage);
      store<f64>(FORKS + (<usize>path << 4), metric(path));
      store<f64>(FORKS + (<usize>path << 4), metric(path) + cost, 8);
    }
    if (!fork()) return true;
    if (rank >= most) return false;
    for (let path = 0; path < count; path++) {
      const mask = load<u64>(row(path), REGISTER) | <u64>load<u8>(DECISIONS + path) << rank;
      store<u64>(row(path), mask, REGISTER);
    }
  }
  return true;
}

/** Writes the bits of the words that search() has chosen. */
function write(stage: i32, check: bool, right: bool): void {
  for (let path = 0; path < count; path++) {
    const own = load<u8>(row(path) + stage), from = buffer(VALUES, stage, own), to = target(path, stage, right);
    for (let i: usize = 0; i < <usize>8 << stage; i += 16) v128.store(to + i, v128.and(v128.load(from + i), signs()));
    if (check && flipped(path, own)) flip(from, to, stage, least(own, 0, from, stage));
    for (let mask = load<u64>(row(path), REGISTER); mask != 0; mask &= mask - 1) {
      flip(from, to, stage, least(own, <i32>ctz(mask), from, stage));
    }
  }
}

/**
 * Words of a node with exact check nodes, as search() chooses them, if bit by bit the same words stay. They do if all words
 * that a path drops have together a larger metric than every kept word, since every beginning of a dropped word then has too.
 *
 * Words that flip one, two or three decisions of a path have at most the probabilities E, (E² - Σ e^-2|λ|) / 2 and E³ / 6, with
 * E = Σ e^-|λ|. Those with more flips have less than the factor Π 1 / (1 + e^-|λ|) of all takes off for E < 2. A check leaves the
 * odd or the even numbers of flips.
 * @returns whether the node is decided; if not, nothing has changed
 */
function provenFlips(stage: i32, check: bool, right: bool): bool {
  // Of few bits, and for a list that is not full, it seldom succeeds.
  if (count < size || stage < 3) return false;
  const before = count, beforeTied = tied;
  memory.copy(SAVED, rows, <usize>count * ROW);
  for (let path = 0; path < count; path++) spectrum(path, stage);
  let worst = search(stage, check, PROVEN_RANKS) ? -Infinity : Infinity;
  for (let path = 0; path < count; path++) {
    const own = load<u8>(row(path) + stage), to = SPECTRA + (<usize>own << 6), mask = load<u64>(row(path), REGISTER);
    const first = check && flipped(path, own), flips = <i32>popcnt(mask) + <i32>first;
    worst = max(worst, metric(path));
    if (flips == 0) store<u8>(to, 1, 48);
    else if (flips <= 2) {
      let product = first ? 1.0 : scaled(own, <i32>ctz(mask), to);
      if (flips == 2) product *= scaled(own, 63 - <i32>clz(mask), to);
      const place = to + (flips == 1 ? 16 : 24);
      store<f64>(place, load<f64>(place) - product);
    }
  }
  for (let own = 0; own < before; own++) {
    const from = SPECTRA + (<usize>own << 6), m = load<f64>(from), s = load<f64>(from, 8), sum = load<f64>(from, 32);
    const one = load<f64>(from, 16), two = load<f64>(from, 24), odd = check && <bool>load<u8>(ODD + own);
    let bound = load<f64>(SAVED + <usize>own * ROW, METRIC);
    if (s * sum < 2 && (odd || load<u8>(from, 48))) {
      const slack = 1e-14 * sum * sum, three = s * s * sum * sum * sum / 6;
      if (odd) bound += m - lnAtMost(one + three + slack);
      else if (check) bound += 2 * m - lnAtMost(two + three * sum / 4 + slack);
      else bound += m - lnAtMost(one + s * two + three + slack);
    }
    if (bound > worst) continue;
    memory.copy(rows, SAVED, <usize>before * ROW);
    count = before;
    tied = beforeTied;
    return false;
  }
  write(stage, check, right);
  return true;
}

/** Stores the sums of a path in SPECTRA, and adds Σ ln(1 + e^-|λ|) to its metric. */
function spectrum(path: i32, stage: i32): void {
  const from = valuesOf(path, stage), to = SPECTRA + (<usize>path << 6), one = f64x2.splat(1), end: usize = <usize>8 << stage;
  let least = f64x2.splat(Infinity);
  for (let i: usize = 0; i < end; i += 16) least = f64x2.pmin(least, f64x2.abs(v128.load(from + i)));
  const m = min(f64x2.extract_lane(least, 0), f64x2.extract_lane(least, 1)), base = f64x2.splat(m);
  const s = <f64>f32x4.extract_lane(exponential(f32x4.splat(<f32>m)), 0), scale = f64x2.splat(s);
  let sum = f64x2.splat(0), squares = sum, product = one;
  for (let i: usize = 0; i < end; i += 32) {
    const a = f64x2.sub(f64x2.abs(v128.load(from + i)), base), b = f64x2.sub(f64x2.abs(v128.load(from + i, 16)), base);
    const e = exponential(narrow(a, b));
    const low = f64x2.promote_low_f32x4(e), high = upper(e);
    sum = f64x2.add(sum, f64x2.add(low, high));
    squares = f64x2.add(squares, f64x2.add(f64x2.mul(low, low), f64x2.mul(high, high)));
    product = f64x2.mul(product, f64x2.mul(f64x2.add(one, f64x2.mul(scale, low)), f64x2.add(one, f64x2.mul(scale, high))));
  }
  const total = f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
  const added = logarithm(product);
  store<f64>(to, m);
  store<f64>(to, s, 8);
  store<f64>(to, total, 16);
  store<f64>(to, (total * total - f64x2.extract_lane(squares, 0) - f64x2.extract_lane(squares, 1)) / 2, 24);
  store<f64>(to, total, 32);
  store<u8>(to, 0, 48);
  store<f64>(row(path), metric(path) + f64x2.extract_lane(added, 0) + f64x2.extract_lane(added, 1), METRIC);
}

/** e^(m - |λ|) of a rank of a buffer whose magnitudes search() has asked for, rounded as in spectrum(). */
// @ts-ignore: decorator of AssemblyScript
@inline
function scaled(own: i32, rank: i32, sums: usize): f64 {
  const over = load<f64>(LEAST + (<usize>own << 9) + (<usize>rank << 3)) - load<f64>(sums);
  return <f64>f32x4.extract_lane(exponential(f32x4.splat(<f32>over)), 0);
}

/** ln x or at most LN_ERROR more, for a normal x: the logarithm is concave between powers of two, by at most 0.0861 in bits. */
// @ts-ignore: decorator of AssemblyScript
@inline
function lnAtMost(x: f64): f64 {
  return <f64>(reinterpret<i64>(x) - (<i64>1023 << 52)) * (Math.LN2 / 4503599627370496.0) + LN_ERROR;
}

/** Whether the bit of least magnitude of a checked node is flipped. */
// @ts-ignore: decorator of AssemblyScript
@inline
function flipped(path: i32, own: i32): bool {
  return <bool>(<u64>load<u8>(ODD + own) ^ (popcnt(load<u64>(row(path), REGISTER)) & 1));
}

/** The two smallest magnitudes of a checked node, and its parity. */
function survey(path: i32, stage: i32): void {
  const own = load<u8>(row(path) + stage), from = buffer(VALUES, stage, own), list = LEAST + (<usize>own << 9);
  let odd = i64x2.splat(0), first = f64x2.splat(Infinity), second = first;
  for (let i: usize = 0; i < <usize>8 << stage; i += 16) {
    const value = v128.load(from + i), magnitude = f64x2.abs(value);
    odd = v128.xor(odd, value);
    second = f64x2.pmin(second, f64x2.pmax(first, magnitude));
    first = f64x2.pmin(first, magnitude);
  }
  const a = f64x2.extract_lane(first, 0), b = f64x2.extract_lane(first, 1), smallest = min(a, b);
  const next = min(max(a, b), min(f64x2.extract_lane(second, 0), f64x2.extract_lane(second, 1)));
  if (smallest == next) tied = true;
  store<f64>(list, smallest);
  store<f64>(list, next, 8);
  store<u8>(KNOWN + own, 2);
  store<u8>(ODD + own, <u8>((i64x2.extract_lane(odd, 0) ^ i64x2.extract_lane(odd, 1)) < 0));
}

/** Magnitude of a rank in a buffer; ranks are asked for in order. */
function least(own: i32, rank: i32, from: usize, stage: i32): f64 {
  const list = LEAST + (<usize>own << 9);
  if (load<u8>(KNOWN + own) > <u8>rank) return load<f64>(list + (<usize>rank << 3));
  const before = f64x2.splat(rank == 0 ? -1 : load<f64>(list + (<usize>(rank - 1) << 3)));
  const none = f64x2.splat(Infinity);
  let smallest = none;
  for (let i: usize = 0; i < <usize>8 << stage; i += 16) {
    const magnitude = f64x2.abs(v128.load(from + i));
    smallest = f64x2.pmin(smallest, v128.bitselect(magnitude, none, f64x2.gt(magnitude, before)));
  }
  const found = min(f64x2.extract_lane(smallest, 0), f64x2.extract_lane(smallest, 1));
  store<f64>(list + (<usize>rank << 3), found);
  store<u8>(KNOWN + own, <u8>(rank + 1));
  return found;
}

/** Flips the bit of a magnitude; two bits of that magnitude are a tie. */
function flip(from: usize, to: usize, stage: i32, magnitude: f64): void {
  const wanted = f64x2.splat(magnitude);
  let found = i64x2.splat(0);
  for (let i: usize = 0; i < <usize>8 << stage; i += 16) {
    const equal = f64x2.eq(f64x2.abs(v128.load(from + i)), wanted);
    v128.store(to + i, v128.xor(v128.load(to + i), v128.and(equal, signs())));
    found = i64x2.sub(found, equal);
  }
  if (i64x2.extract_lane(found, 0) + i64x2.extract_lane(found, 1) != 1) tied = true;
}
