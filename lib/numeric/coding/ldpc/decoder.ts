/**
 * Belief propagation on parity checks. L > 0 stands for bit 0. A check tells bit i, from the values v of its other bits,
 *
 *     sum_product          ln (1 + Π tanh(v/2)) / (1 - Π tanh(v/2))
 *     min_sum              Π sign v · min |v|
 *     normalized_min_sum   Π sign v · scale · min |v|
 *     offset_min_sum       Π sign v · max(min |v| - offset, 0)
 *
 * where v is the value of the bit without what this check told it before. `flooding` updates all checks from the values of the iteration
 * before; `layered` passes check after check, each from the newest values. Values are binary32 between checks, binary64 within one.
 *
 * sum_product runs on a = exp(-|v|): two values combine to (a + b) / (1 + a·b), which keeps full precision for any |v|.
 *
 * Shapes: llr float32 [n] -> values float32 [n], with sent values included.
 *
 * Sources: Gallager, IRE Trans. Inf. Theory 8, 1962; Chen, Dholakia, Eleftheriou, Fossorier and Hu, IEEE Trans. Commun. 53, 2005
 * (normalised and offset min-sum); Hocevar, IEEE SiPS, 2004 (layers).
 */
import * as kernel from "../../kernels/ldpc.wasm";
import type { ParityChecks } from "./code.ts";

export const LDPC_SCHEDULES = ["layered", "flooding"] as const;
export const LDPC_CHECK_RULES = ["min_sum", "normalized_min_sum", "offset_min_sum", "sum_product"] as const;

export interface LdpcOptions {
  schedule: typeof LDPC_SCHEDULES[number];
  checkRule: typeof LDPC_CHECK_RULES[number];
  /** Iterations at most. */
  iterations: number;
  /** Factor of normalized_min_sum. */
  scale: number;
  /** Offset of offset_min_sum. */
  offset: number;
  /** Whether to end when all checks hold. */
  earlyStop: boolean;
}

export interface LdpcResult {
  values: Float32Array<ArrayBuffer>;
  /** Whether all checks hold. */
  passed: boolean;
  /** Iterations done. */
  iterations: number;
}

/**
 * @param llr finite
 * @param readable whether least magnitudes are found by the reference in place of its kernel, which gives the same values
 */
export function decodeLdpc(
  llr: Float32Array,
  checks: ParityChecks,
  options: LdpcOptions,
  readable = false,
): LdpcResult {
  if (options.checkRule !== "sum_product" && !readable) return decodeByKernel(llr, checks, options);
  const { starts } = checks, { checkRule, earlyStop } = options, flooding = options.schedule === "flooding";
  const scale = checkRule === "normalized_min_sum" ? options.scale : 1;
  const offset = checkRule === "offset_min_sum" ? options.offset : 0;
  const degree = starts.reduce((most, start, i) => Math.max(most, i === 0 ? 0 : start - starts[i - 1]), 0);
  const told = new Float32Array(checks.columns.length), work = new Float64Array(3 * degree);
  let values = Float32Array.from(llr), next = flooding ? new Float32Array(llr.length) : values;
  for (let iteration = 1;; iteration++) {
    if (flooding) next.set(llr);
    if (checkRule === "sum_product") passExact(values, next, told, checks, work);
    else passLeast(values, next, told, checks, scale, offset, degree);
    if (flooding) [values, next] = [next, values];
    const last = iteration === options.iterations;
    if (!earlyStop && !last) continue;
    const passed = checksHold(values, checks);
    if (passed && earlyStop || last) return { values, passed, iterations: iteration };
  }
}

function decodeByKernel(llr: Float32Array, { starts, columns }: ParityChecks, options: LdpcOptions): LdpcResult {
  const { checkRule, earlyStop, iterations } = options, layered = options.schedule === "layered" ? 1 : 0;
  const scale = checkRule === "normalized_min_sum" ? options.scale : 1;
  const offset = checkRule === "offset_min_sum" ? options.offset : 0;
  if (kernel.prepare(llr.length, starts.length - 1, columns.length) === 0) {
    throw new RangeError(`Cannot hold a code of ${columns.length} ones in its checks`);
  }
  const { memory } = kernel, at = (offset: number) => new Float32Array(memory.buffer, offset, llr.length);
  new Int32Array(memory.buffer, kernel.startsOffset(), starts.length).set(starts);
  new Int32Array(memory.buffer, kernel.columnsOffset(), columns.length).set(columns);
  at(kernel.valuesOffset()).set(llr);
  for (let iteration = 1;; iteration++) {
    if (!layered) at(kernel.nextOffset()).set(llr);
    kernel.pass(scale, offset, layered);
    if (!layered) kernel.swap();
    const last = iteration === iterations;
    if (!earlyStop && !last) continue;
    const passed = kernel.holds() !== 0;
    if (passed && earlyStop || last) {
      return { values: at(kernel.valuesOffset()).slice(), passed, iterations: iteration };
    }
  }
}

/** Value of a bit that a check alone decides. */
const CERTAIN = 1e30;
/** Bits of a binary32 number without its sign, which have the order of the magnitudes; and those of infinity. */
const MAGNITUDE = 0x7fffffff, INFINITE = 0x7f800000;

/** All checks by the least magnitudes. `next` receives the change of each value; in layers it is the same array as `values`. */
function passLeast(
  values: Float32Array,
  next: Float32Array,
  told: Float32Array,
  { starts, columns }: ParityChecks,
  scale: number,
  offset: number,
  degree: number,
): void {
  const layered = values === next, own = new Float32Array(degree + 2), bits = new Int32Array(own.buffer);
  const messages = new Int32Array(told.buffer), LEAST = degree, SECOND = degree + 1;
  for (let check = 0, e = 0; e < columns.length; check++) {
    const start = starts[check], end = starts[check + 1];
    let least = INFINITE, second = INFINITE, signs = 0;
    for (e = start; e < end; e++) {
      own[e - start] = values[columns[e]] - told[e];
      const word = bits[e - start], size = word & MAGNITUDE;
      signs ^= word;
      second = Math.min(second, Math.max(least, size));
      least = Math.min(least, size);
    }
    bits[LEAST] = least;
    bits[SECOND] = second;
    own[LEAST] = scale * Math.max(own[LEAST] - offset, 0);
    own[SECOND] = second === INFINITE ? CERTAIN : scale * Math.max(own[SECOND] - offset, 0);
    const toOthers = bits[LEAST], toLeast = bits[SECOND];
    for (e = start; e < end; e++) {
      const word = bits[e - start], column = columns[e];
      messages[e] = ((word & MAGNITUDE) === least ? toLeast : toOthers) | (signs ^ word) & ~MAGNITUDE;
      next[column] = (layered ? own[e - start] : next[column]) + told[e];
    }
  }
}

/** All checks exactly. `work` has exp(-|v|) of the bits of a check, and those combined before and behind each. */
function passExact(
  values: Float32Array,
  next: Float32Array,
  told: Float32Array,
  { starts, columns }: ParityChecks,
  work: Float64Array,
): void {
  const layered = values === next, degree = work.length / 3;
  for (let check = 0; check + 1 < starts.length; check++) {
    const start = starts[check], end = starts[check + 1];
    let negative = false, before = 0, behind = 0;
    for (let e = start; e < end; e++) {
      const value = values[columns[e]] - told[e], a = Math.exp(-Math.abs(value)), i = e - start;
      if (value < 0) negative = !negative;
      work[i] = a;
      work[degree + i] = before;
      before = (before + a) / (1 + before * a);
    }
    for (let i = end - start - 1; i >= 0; i--) {
      work[2 * degree + i] = behind;
      behind = (behind + work[i]) / (1 + behind * work[i]);
    }
    for (let e = start; e < end; e++) {
      const i = e - start, column = columns[e], value = values[column] - told[e];
      const a = work[degree + i], b = work[2 * degree + i];
      // Values that no finite number holds tell MOST: exp(-|v|) of all others was 0.
      const size = Math.min(MOST, -Math.log((a + b) / (1 + a * b)));
      told[e] = negative !== value < 0 ? -size : size;
      next[column] = (layered ? value : next[column]) + told[e];
    }
  }
}

/** Largest value that a check tells exactly: exp(-MOST) is a normal number. */
const MOST = 700;

/** Whether the signs of values are a code word. */
function checksHold(values: Float32Array, { starts, columns }: ParityChecks): boolean {
  for (let i = 0; i + 1 < starts.length; i++) {
    let odd = false;
    for (let e = starts[i]; e < starts[i + 1]; e++) if (values[columns[e]] < 0) odd = !odd;
    if (odd) return false;
  }
  return true;
}
