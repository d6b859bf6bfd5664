/**
 * Readable decoders of one code block, against which the kernel is held: flooding sum-product in binary64, the yardstick of
 * error rates, and the layered min-sum of the kernel, equal to it in every bit.
 *
 * Values are log-likelihood ratios, positive for bit 0, one per bit of the code word (columns · Z), in column order.
 */
import {
  type Circulant,
  CORE_ROWS,
  type LiftedCode,
  PUNCTURED_COLUMNS,
} from "../../lib/numeric/coding/nr_ldpc/base_graph.ts";
import type { CodeParameters } from "../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import type { Crc } from "../../lib/numeric/coding/nr_ldpc/crc.ts";
import { bufferLayout, decoderOrder, decoderRow } from "../../lib/numeric/coding/nr_ldpc/programs.ts";

/** Bits of a code word that a check of a row includes. */
function* bitsOfCheck(row: readonly Circulant[], check: number, liftingSize: number): Iterable<number> {
  for (const { column, shift } of row) yield column * liftingSize + (check + shift) % liftingSize;
}

/** Whether every check of the first rows of a code holds. */
export function checksHold(code: LiftedCode, bits: Uint8Array, rows = code.rows.length): boolean {
  return code.rows.slice(0, rows).every((row) => {
    for (let check = 0; check < code.liftingSize; check++) {
      let sum = 0;
      for (const bit of bitsOfCheck(row, check, code.liftingSize)) sum ^= bits[bit];
      if (sum !== 0) return false;
    }
    return true;
  });
}

/**
 * Values of a code block as received: repeated bits added up, 0 where nothing was sent, infinity for filler bits.
 *
 * @param llr those of the whole transport block
 */
export function receivedValues(
  llr: Float32Array,
  parameters: CodeParameters,
  index: number,
  scrambling?: Uint8Array,
): Float64Array<ArrayBuffer> {
  const { codedBitsOfBlock, bitsPerSymbol, liftingSize, usedBits, fillerBits } = parameters;
  const count = codedBitsOfBlock[index], length = count / bitsPerSymbol;
  const start = codedBitsOfBlock.slice(0, index).reduce((sum, bits) => sum + bits, 0);
  const { code, bufferBits, sentInformationBits } = bufferLayout(parameters, count);
  const values = new Float64Array(code.columns * liftingSize);
  for (let k = 0; k < count; k++) {
    const at = start + (k % length) * bitsPerSymbol + Math.floor(k / length);
    const place = k % bufferBits + PUNCTURED_COLUMNS * liftingSize;
    values[place + (k % bufferBits < sentInformationBits ? 0 : fillerBits)] += scrambling?.[at] ? -llr[at] : llr[at];
  }
  return values.fill(Infinity, usedBits, usedBits + fillerBits);
}

/** Log-likelihood ratios count up to here. */
const CLIP = 20;

const clipped = (value: number) => Math.max(-CLIP, Math.min(CLIP, value));

/** -ln tanh(x/2), its own inverse. */
const phi = (x: number) => -Math.log(Math.tanh(Math.max(x, 1e-12) / 2));

/**
 * Flooding sum-product (Gallager 1962): all bits speak to all checks, then all checks to all bits. Log-likelihood ratios of
 * messages and of what was received are clipped to ±20.
 *
 * @param stop return early once every check holds
 * @returns values of the bits after the last iteration
 */
export function sumProduct(
  code: LiftedCode,
  received: Float64Array,
  options: { iterations: number; rows?: number; stop?: boolean },
): Float64Array<ArrayBuffer> {
  const z = code.liftingSize, rows = code.rows.slice(0, options.rows);
  const checks = rows.flatMap((row) => Array.from({ length: z }, (_, i) => Int32Array.from(bitsOfCheck(row, i, z))));
  const messages = checks.map((bits) => new Float64Array(bits.length));
  const channel = Float64Array.from(received, clipped);
  let values = channel.slice();
  for (let done = 0; done < options.iterations; done++) {
    const next = channel.slice();
    checks.forEach((bits, c) => {
      const message = messages[c], extrinsic = new Float64Array(bits.length), sizes = new Float64Array(bits.length);
      let total = 0, negative = false;
      for (let e = 0; e < bits.length; e++) {
        extrinsic[e] = clipped(values[bits[e]] - message[e]);
        total += sizes[e] = phi(Math.abs(extrinsic[e]));
        negative = negative !== extrinsic[e] < 0;
      }
      for (let e = 0; e < bits.length; e++) {
        const magnitude = clipped(phi(total - sizes[e]));
        message[e] = negative !== extrinsic[e] < 0 ? -magnitude : magnitude;
        next[bits[e]] += message[e];
      }
    });
    values = next;
    if (options.stop && checksHold(code, hardDecisions(values), rows.length)) break;
  }
  return values;
}

/** 1 where a value is negative. */
export function hardDecisions(values: Float64Array | Int8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(values, (value) => value < 0 ? 1 : 0);
}

/** A log-likelihood ratio in steps of 1/4, rounded half to even, at most ±127. */
export function roundedLlr(llr: number): number {
  const scaled = Math.max(-127, Math.min(127, Math.fround(Math.fround(llr) * 4)));
  const floor = Math.floor(scaled), rest = scaled - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

const saturated = (value: number) => Math.max(-128, Math.min(127, value));

const OFFSET = 2, CAP = 41;

/**
 * The layered offset min-sum decoder of the kernel (lib/numeric/kernels/assembly/nr_ldpc.ts), one check after the other.
 *
 * @param received rounded values, 127 for filler bits
 * @returns hard decisions of the K' information bits, iterations done, and whether the CRC holds
 */
export function layeredMinSum(
  parameters: CodeParameters,
  codedBits: number,
  received: Int8Array,
  options: { iterations: number; earlyStop?: boolean },
): { bits: Uint8Array<ArrayBuffer>; iterations: number; crcPassed: boolean } {
  const { usedBits, liftingSize: z, codeBlockCrc } = parameters;
  const { code, rows } = bufferLayout(parameters, codedBits);
  const values = received.slice();
  const layers = decoderOrder(rows).map((i) => decoderRow(code, i, usedBits)).filter((row) => row.entries.length > 0)
    .map((row) => ({ ...row, messages: new Int8Array(row.entries.length * z) }));

  const passLayer = ({ entries, own, messages }: (typeof layers)[number]) => {
    for (let check = 0; check < z; check++) {
      const bits = [...bitsOfCheck(entries, check, z)];
      const q = bits.map((bit, e) => saturated(values[bit] - messages[e * z + check]));
      const others = own < 0 ? q : [...q, values[own * z + check]];
      const negative = others.filter((value) => value < 0).length % 2;
      bits.forEach((bit, e) => {
        const least = Math.min(CAP, ...others.filter((_, other) => other !== e).map(Math.abs));
        const magnitude = Math.max(0, least - OFFSET);
        const message = negative !== (q[e] < 0 ? 1 : 0) ? -magnitude : magnitude;
        messages[e * z + check] = message;
        values[bit] = saturated(q[e] + message);
      });
    }
  };
  const holds = ({ entries, own }: (typeof layers)[number]) => {
    for (let check = 0; check < z; check++) {
      const q = [...bitsOfCheck(entries, check, z)].map((bit) => values[bit]);
      let negative = q.filter((value) => value < 0).length % 2;
      if (own >= 0) {
        const magnitude = Math.max(0, Math.min(CAP, ...q.map(Math.abs)) - OFFSET);
        negative ^= saturated(values[own * z + check] + (negative ? -magnitude : magnitude)) < 0 ? 1 : 0;
      }
      if (negative) return false;
    }
    return true;
  };

  let bits = new Uint8Array(usedBits), crcPassed = false;
  for (let done = 1;; done++) {
    layers.forEach(passLayer);
    const before = bits, last = done === options.iterations;
    bits = hardDecisions(values.subarray(0, usedBits));
    if (!last && options.earlyStop === false) continue;
    crcPassed = crcRemainder(bits, codeBlockCrc) === 0;
    const unchanged = done > 1 && bits.every((bit, i) => bit === before[i]);
    const stop = crcPassed
      ? codeBlockCrc.bits > 16 || layers.slice(-CORE_ROWS).every(holds)
      : unchanged && layers.every(holds);
    if (last || stop) return { bits, iterations: done, crcPassed };
  }
}

/**
 * Remainder of bits times D^crc.bits by long division, the reference of the kernel.
 *
 * @param bits one bit per byte, highest power first
 * @returns the parity bits as a number, first one highest
 */
export function crcRemainder(bits: Uint8Array, crc: Crc): number {
  const top = 2 ** (crc.bits - 1), mask = 2 ** crc.bits - 1;
  let remainder = 0;
  for (const bit of bits) {
    const feedback = ((remainder & top) !== 0 ? 1 : 0) ^ bit;
    remainder = (remainder << 1 & mask) ^ (feedback ? crc.polynomial : 0);
  }
  return remainder;
}
