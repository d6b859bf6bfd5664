/**
 * Check nodes by least magnitudes of ../../coding/ldpc/decoder.ts, the same operations in the same order, so that values are those of the
 * reference to the bit. Compiled to ../ldpc.wasm by `deno task build:wasm`.
 */

/** Bits of a binary32 number without its sign, which have the order of the magnitudes; and those of infinity. */
const MAGNITUDE: u32 = 0x7fffffff, INFINITE: u32 = 0x7f800000;
/** Value of a bit that a check alone decides. */
const CERTAIN: f32 = 1e30;

let starts: usize = 0, columns: usize = 0, told: usize = 0, values: usize = 0, next: usize = 0, own: usize = 0;
let checkCount: i32 = 0;

/** Room for a code; false without memory. What the checks told before is 0. */
export function prepare(bits: i32, checks: i32, edges: i32): bool {
  checkCount = checks;
  starts = (__heap_base + 15) & ~15;
  columns = starts + 4 * <usize>(checks + 1);
  told = columns + 4 * <usize>edges;
  values = told + 4 * <usize>edges;
  next = values + 4 * <usize>bits;
  own = next + 4 * <usize>bits;
  const pages = <i32>((own + 4 * <usize>edges + 0xffff) >>> 16);
  if (pages > memory.size() && memory.grow(pages - memory.size()) < 0) return false;
  memory.fill(told, 0, 4 * <usize>edges);
  return true;
}
export function startsOffset(): usize {
  return starts;
}
export function columnsOffset(): usize {
  return columns;
}
export function valuesOffset(): usize {
  return values;
}
/** Flooding: the received values before a pass, and the new ones behind it. */
export function nextOffset(): usize {
  return next;
}

/** All checks. In layers a check reads what the one before it wrote; flooding writes to `next`. */
export function pass(scale: f64, offset: f64, layered: bool): void {
  let edge: usize = 0;
  for (let check = 0; check < checkCount; check++) {
    const count = <usize>(load<i32>(starts + (<usize>(check + 1) << 2)) << 2) - edge;
    const names = columns + edge, messages = told + edge;
    let least = INFINITE, second = INFINITE, signs: u32 = 0;
    for (let i: usize = 0; i < count; i += 4) {
      const value = load<f32>(values + (<usize>load<u32>(names + i) << 2)) - load<f32>(messages + i);
      store<f32>(own + i, value);
      const word = reinterpret<u32>(value), size = word & MAGNITUDE, larger = max(least, size);
      signs ^= word;
      second = min(second, larger);
      least = min(least, size);
    }
    const toOthers = reinterpret<u32>(passed(least, scale, offset));
    const toLeast = reinterpret<u32>(second == INFINITE ? CERTAIN : passed(second, scale, offset));
    for (let i: usize = 0; i < count; i += 4) {
      const value = load<f32>(own + i), word = reinterpret<u32>(value);
      const size = select<u32>(toLeast, toOthers, (word & MAGNITUDE) == least);
      const message = reinterpret<f32>(size | ((signs ^ word) & ~MAGNITUDE)), place = <usize>load<u32>(names + i) << 2;
      store<f32>(messages + i, message);
      if (layered) store<f32>(values + place, value + message);
      else store<f32>(next + place, load<f32>(next + place) + message);
    }
    edge += count;
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function passed(magnitude: u32, scale: f64, offset: f64): f32 {
  return <f32>(scale * max<f64>(<f64>reinterpret<f32>(magnitude) - offset, 0));
}

/** The new values become the values. */
export function swap(): void {
  const old = values;
  values = next;
  next = old;
}

/** Whether the signs of the values are a code word. */
export function holds(): bool {
  let edge: usize = 0;
  for (let check = 0; check < checkCount; check++) {
    const end = <usize>load<i32>(starts + (<usize>(check + 1) << 2)) << 2;
    let odd = false;
    for (; edge < end; edge += 4) {
      if (load<f32>(values + (<usize>load<u32>(columns + edge) << 2)) < 0) odd = !odd;
    }
    if (odd) return false;
  }
  return true;
}
