/**
 * Polar codes of TS 38.212: code construction (5.3.1.2, 5.4.1.1), rate matching (5.4.1), and the parameters of the broadcast
 * channel (7.1.4, 7.1.5), of downlink control (7.3.2 to 7.3.4) and of uplink control (6.3.1.2 to 6.3.1.5).
 *
 * A message of A bits makes `segments` words of K = A / segments + crcBits bits, each carried by N = 2^n mother bits and sent
 * as E_r bits. Bit k of a sent word is the mother bit `sent[k]`: sub-block interleaving, bit selection and channel
 * interleaving in one map.
 */
import sequence from "./sequence.json" with { type: "json" };

export const MESSAGE_TYPES = ["bch", "dci", "uci"] as const;
export type MessageType = typeof MESSAGE_TYPES[number];
export type RateMatching = "repetition" | "puncturing" | "shortening";

export interface PolarCode {
  readonly messageType: MessageType;
  /** A and E. */
  readonly payloadBits: number;
  readonly codedBits: number;
  readonly segments: number;
  readonly crcBits: number;
  /** K: message bits of a segment with its CRC. */
  readonly messageBits: number;
  /** N = 2^stages. */
  readonly motherBits: number;
  readonly stages: number;
  readonly rateMatching: RateMatching;
  /** Positions of the message bits, ascending, and the message bit at each. */
  readonly positions: Int32Array;
  readonly carried: Int32Array;
  /** Positions of the parity-check bits. */
  readonly parityChecks: ReadonlySet<number>;
  /** Mother bit of every sent bit of a segment. */
  readonly sent: Int32Array;
  /** Mother bits known to be 0 by shortening. */
  readonly shortened: readonly number[];
}

/** Most payload bits of a message type; the least are 12. */
export const MOST_PAYLOAD = { bch: 140, dci: 140, uci: 1706 } as const;
export const LEAST_PAYLOAD = 12;
/** Most bits of a sent word. */
export const MOST_SENT = 8192;

/** Longest message of the input interleaver, with its CRC. */
const MOST_INTERLEAVED = 164;
const CRC_POLYNOMIALS: Readonly<Record<number, number>> = { 6: 0x21, 11: 0x621, 24: 0xb2b117 };
const RELIABILITY = sequence.order.split(" ").map(Number);

/** Sub-block interleaver pattern, table 5.4.1.1-1. */
// deno-fmt-ignore
const SUB_BLOCKS = [
  0, 1, 2, 4, 3, 5, 6, 7, 8, 16, 9, 17, 10, 18, 11, 19, 12, 20, 13, 21, 14, 22, 15, 23, 24, 25, 26, 28, 27, 29, 30, 31,
];

/**
 * Derives a code from its lengths.
 * @throws RangeError for lengths that TS 38.212 has no code for
 */
export function polarCode(messageType: MessageType, payloadBits: number, codedBits: number): PolarCode {
  const uplink = messageType === "uci", most = MOST_PAYLOAD[messageType];
  if (payloadBits < LEAST_PAYLOAD || payloadBits > most) {
    throw new RangeError(`Cannot encode ${payloadBits} payload bits: ${messageType} takes ${LEAST_PAYLOAD} to ${most}`);
  }
  const segments = uplink && (payloadBits >= 1013 || (payloadBits >= 360 && codedBits >= 1088)) ? 2 : 1;
  const crcBits = !uplink ? 24 : payloadBits <= 19 ? 6 : 11;
  const K = Math.ceil(payloadBits / segments) + crcBits, E = Math.floor(codedBits / segments);
  const checks = K >= 18 && K <= 25 ? 3 : 0, lightChecks = checks > 0 && E - K + 3 > 192 ? 1 : 0;
  if (K + checks > E || E > MOST_SENT) {
    const range = `${segments * (K + checks)} to ${segments * MOST_SENT + segments - 1}`;
    throw new RangeError(`Cannot send ${payloadBits} payload bits in ${codedBits} coded bits: ${range} are allowed`);
  }
  const stages = motherStages(K, E, uplink ? 10 : 9), N = 2 ** stages;
  const rateMatching = E >= N ? "repetition" : 16 * K <= 7 * E ? "puncturing" : "shortening";
  const pattern = Int32Array.from({ length: N }, (_, n) => {
    const size = N / 32;
    return SUB_BLOCKS[Math.floor(n / size)] * size + n % size;
  });
  const information = informationSet(K + checks, E, rateMatching, pattern);
  const parityChecks = parityPositions(information, checks, lightChecks);
  const positions = Int32Array.from(information.filter((index) => !parityChecks.has(index))).sort();
  const first = rateMatching === "puncturing" ? N - E : 0;
  const order = uplink ? channelInterleaver(E) : undefined;
  return {
    messageType,
    payloadBits,
    codedBits,
    segments,
    crcBits,
    messageBits: K,
    motherBits: N,
    stages,
    rateMatching,
    positions,
    carried: uplink ? Int32Array.from({ length: K }, (_, k) => k) : inputInterleaver(K),
    parityChecks,
    sent: Int32Array.from({ length: E }, (_, k) => pattern[(first + (order === undefined ? k : order[k])) % N]),
    shortened: rateMatching === "shortening" ? [...pattern.subarray(E)] : [],
  };
}

/** log2 N of section 5.3.1. */
function motherStages(K: number, E: number, most: number): number {
  const ceilLog2 = (value: number) => 32 - Math.clz32(value - 1);
  const whole = ceilLog2(E), short = 8 * E <= 9 * 2 ** (whole - 1) && 16 * K < 9 * E;
  return Math.max(5, Math.min(short ? whole - 1 : whole, ceilLog2(8 * K), most));
}

/** The `count` most reliable positions that rate matching leaves, from the most reliable on (section 5.4.1.1). */
function informationSet(count: number, E: number, rateMatching: RateMatching, pattern: Int32Array): number[] {
  const N = pattern.length, frozen = new Set<number>();
  if (rateMatching === "puncturing") {
    for (const index of pattern.subarray(0, N - E)) frozen.add(index);
    const extra = 4 * E >= 3 * N ? Math.ceil((3 * N - 2 * E) / 4) : Math.ceil((9 * N - 4 * E) / 16);
    for (let index = 0; index < extra; index++) frozen.add(index);
  } else if (rateMatching === "shortening") {
    for (const index of pattern.subarray(E)) frozen.add(index);
  }
  const left = RELIABILITY.filter((index) => index < N && !frozen.has(index)).reverse();
  if (left.length < count) {
    throw new RangeError(`Cannot place ${count} bits: rate matching leaves ${left.length} of ${N}`);
  }
  return left.slice(0, count);
}

/**
 * Parity-check positions (section 5.3.1.2): the least reliable ones, and `light` of the least row weight among the others.
 * @param information positions from the most reliable on
 */
function parityPositions(information: number[], checks: number, light: number): Set<number> {
  const split = information.length - (checks - light), chosen = new Set(information.slice(split));
  const weight = (index: number) => index.toString(2).replaceAll("0", "").length;
  // Sorting is stable: the most reliable of equal weights come first.
  const candidates = information.slice(0, information.length - checks).sort((a, b) => weight(a) - weight(b));
  for (const index of candidates.slice(0, light)) chosen.add(index);
  return chosen;
}

/**
 * Interleaver of table 5.3.1.1-1: every parity bit of CRC24C comes after the payload bits that it checks. The payload bits
 * come in the groups of the first parity bit that checks them.
 */
function inputInterleaver(K: number): Int32Array {
  const payload = MOST_INTERLEAVED - 24, order: number[] = [], listed = new Set<number>();
  const syndromes = Array.from({ length: payload }, (_, index) => {
    const unit = new Uint8Array(payload);
    unit[index] = 1;
    return crc(unit, 24);
  });
  for (let parity = 0; parity < 24; parity++) {
    for (let index = 0; index < payload; index++) {
      if (listed.has(index) || (syndromes[index] >> (23 - parity) & 1) === 0) continue;
      listed.add(index);
      order.push(index);
    }
    order.push(payload + parity);
  }
  const skipped = MOST_INTERLEAVED - K;
  return Int32Array.from(order.filter((index) => index >= skipped), (index) => index - skipped);
}

/** Channel interleaver of section 5.4.1.3: written by rows into a triangle, read by columns. */
function channelInterleaver(length: number): Int32Array {
  const size = Math.ceil((Math.sqrt(8 * length + 1) - 1) / 2), order: number[] = [];
  for (let column = 0; column < size; column++) {
    for (let row = 0; row < size - column; row++) {
      const index = row * size - row * (row - 1) / 2 + column;
      if (index < length) order.push(index);
    }
  }
  return Int32Array.from(order);
}

/** Bits of the longest message and the bits 1 in front of it. */
const MOST_CHECKED = 1024;
const remainders = new Map<number, Int32Array>();

/** Remainders of x^(k + width), k = 0, 1, …, that is of a bit 1 with k bits behind it. */
function remaindersOf(width: number): Int32Array {
  let known = remainders.get(width);
  if (known === undefined) {
    const polynomial = CRC_POLYNOMIALS[width], mask = 2 ** width - 1;
    known = new Int32Array(MOST_CHECKED);
    known[0] = polynomial & mask;
    for (let k = 1; k < MOST_CHECKED; k++) {
      known[k] = (known[k - 1] << 1 & mask) ^ (known[k - 1] >> width - 1 ? polynomial & mask : 0);
    }
    remainders.set(width, known);
  }
  return known;
}

/**
 * Remainder of the CRC of section 5.1 with 6, 11 or 24 (CRC24C) bits, a sum over the bits that are 1.
 * @param start bits 1 in front of the message
 */
function crc(bits: Uint8Array, width: number, start = 0): number {
  const table = remaindersOf(width), { length } = bits;
  let sum = 0;
  for (let i = 0; i < length; i++) sum ^= -bits[i] & table[length - 1 - i];
  for (let k = length; k < length + start; k++) sum ^= table[k];
  return sum;
}

/** CRC of a message, for downlink control with 24 bits 1 in front and masked by the RNTI (section 7.3.2). */
export const maskedCrc = (bits: Uint8Array, code: PolarCode, rnti: number): number =>
  code.messageType === "dci" ? crc(bits, 24, 24) ^ rnti : crc(bits, code.crcBits);

/**
 * Multiplies N bits by the n-th Kronecker power of [[1, 0], [1, 1]] in place; its own inverse. Four bits at a time.
 * @param bits at least 4, at a multiple of 4 bytes
 */
export function polarTransform(bits: Uint8Array): Uint8Array {
  const words = new Int32Array(bits.buffer, bits.byteOffset, bits.length / 4), count = words.length;
  for (let i = 0; i < count; i++) {
    const pairs = words[i] ^ (words[i] >>> 8 & 0x00ff00ff);
    words[i] = pairs ^ (pairs >>> 16);
  }
  for (let half = 1; half < count; half *= 2) {
    for (let start = 0; start < count; start += 2 * half) {
      for (let i = start; i < start + half; i++) words[i] ^= words[i + half];
    }
  }
  return bits;
}
