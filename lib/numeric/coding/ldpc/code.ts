/**
 * Low-density parity-check codes by their checks, H·c = 0 over bits. The codes of IEEE 802.11 are quasi-cyclic: a shift s of the base
 * matrix stands for the Z × Z identity rotated right by s, check t includes bit (t + s) mod Z. DVB-S2 adds information bit 360·r + j to
 * the checks (x + j·q) mod (n - k) of the addresses x of row r, q = (n - k) / 360, and accumulates: check i has the parity bits i - 1, i.
 *
 * A code word has the message at `places`: at the first k bits where the last bits can be the parity, else at the bits that elimination
 * from the right leaves free. Shapes: message uint8 [k] -> code word uint8 [n].
 *
 * Sources: IEEE Std 802.11-2020, 19.3.11.7 and annex F; ETSI EN 302 307-1 V1.4.1, 5.3.2; Richardson and Urbanke, IEEE Trans. Inf. Theory
 * 47, 2001.
 */
import dvb from "../../data/dvb_s2_ldpc.json" with { type: "json" };
import ieee from "../../data/ieee80211_ldpc.json" with { type: "json" };

/** Checks of a code: check i includes the bits columns[starts[i]] … columns[starts[i + 1] - 1], ascending. */
export interface ParityChecks {
  readonly length: number;
  readonly starts: Int32Array;
  readonly columns: Int32Array;
}

export interface LdpcCode extends ParityChecks {
  /** Places of the message bits in the code word, ascending. */
  readonly places: Int32Array;
  encode(message: Uint8Array): Uint8Array;
}

const GROUP = 360;
const IEEE = ieee.codes as Record<string, string[]>, DVB = dvb.codes as Record<string, string[]>;
const WIFI = "ieee80211n_", SATELLITE = "dvb_s2_";
/** Names of the shipped codes: frame or length, then the rate of the standard. */
export const LDPC_CODES = [
  ...Object.keys(IEEE).map((name) => `${WIFI}${name}` as const),
  ...Object.keys(DVB).map((name) => `${SATELLITE}${name}` as const),
];

/** Bits of a code word and of its message. */
export function shippedSizes(name: string): { length: number; dimension: number } {
  if (name.startsWith(WIFI)) {
    const own = name.slice(WIFI.length), length = parseInt(own), rows = IEEE[own].length;
    return { length, dimension: length - rows * length / 24 };
  }
  const own = name.slice(SATELLITE.length);
  return { length: own.startsWith("normal") ? 64800 : 16200, dimension: DVB[own].length * GROUP };
}

/** Shipped codes that were made last, the newest one last. */
const made = new Map<string, LdpcCode>();
const MOST_MADE = 4;

/** A shipped code by its name. It is made once for the runs that follow each other. */
export function shippedCode(name: string): LdpcCode {
  const code = made.get(name) ?? madeCode(name);
  made.delete(name);
  made.set(name, code);
  if (made.size > MOST_MADE) made.delete(made.keys().next().value!);
  return code;
}

function madeCode(name: string): LdpcCode {
  const { length, dimension } = shippedSizes(name);
  if (name.startsWith(WIFI)) return codeOf(liftedChecks(baseMatrix(IEEE[name.slice(WIFI.length)]), length / 24));
  const checks = length - dimension, step = checks / GROUP, pairs: number[] = [];
  DVB[name.slice(SATELLITE.length)].forEach((row, group) => {
    const addresses = row.split(" ").map((address) => parseInt(address, 36));
    for (let j = 0; j < GROUP; j++) {
      for (const address of addresses) pairs.push((address + j * step) % checks, group * GROUP + j);
    }
  });
  for (let i = 0; i < checks; i++) {
    if (i > 0) pairs.push(i, dimension + i - 1);
    pairs.push(i, dimension + i);
  }
  return codeOf(checksOf(length, checks, pairs));
}

/** The information columns of a table of IEEE 802.11, and its parity columns: one of weight 3, and a double diagonal. */
function baseMatrix(rows: readonly string[]): number[][] {
  const last = rows.length - 1, middle = rows.length / 2;
  return rows.map((row, i) => [
    ...row.split(" ").map((shift) => shift === "-" ? -1 : Number(shift)),
    i === 0 || i === last ? 1 : i === middle ? 0 : -1,
    ...Array.from({ length: last }, (_, j) => i === j || i === j + 1 ? 0 : -1),
  ]);
}

/** Checks of a base matrix of shifts, -1 for a block of zeros. */
export function liftedChecks(base: readonly (readonly number[])[], size: number): ParityChecks {
  const pairs: number[] = [];
  base.forEach((row, i) =>
    row.forEach((shift, j) => {
      for (let t = 0; shift >= 0 && t < size; t++) pairs.push(i * size + t, j * size + (t + shift) % size);
    })
  );
  return checksOf(base[0].length * size, base.length * size, pairs);
}

/**
 * Checks of a list of ones.
 * @param pairs check and bit of each, alternating
 */
export function checksOf(length: number, count: number, pairs: ArrayLike<number>): ParityChecks {
  const starts = new Int32Array(count + 1), columns = new Int32Array(pairs.length / 2);
  for (let i = 0; i < pairs.length; i += 2) starts[pairs[i] + 1]++;
  for (let i = 0; i < count; i++) starts[i + 1] += starts[i];
  const next = starts.slice();
  for (let i = 0; i < pairs.length; i += 2) columns[next[pairs[i]]++] = pairs[i + 1];
  for (let i = 0; i < count; i++) columns.subarray(starts[i], starts[i + 1]).sort();
  return { length, starts, columns };
}

/** Most bits of a parity-check matrix that is eliminated. */
const MOST_CELLS = 2 ** 27;

/** The code of checks. @throws RangeError for a matrix that is too large to eliminate, or without a message */
export function codeOf(checks: ParityChecks): LdpcCode {
  const { length, starts, columns } = checks, count = starts.length - 1, first = length - count;
  let triangular = first > 0;
  for (let i = 0; i < count; i++) triangular &&= starts[i + 1] > starts[i] && columns[starts[i + 1] - 1] === first + i;
  if (triangular) {
    const places = Int32Array.from({ length: first }, (_, i) => i);
    return { ...checks, places, encode: (message) => accumulated(checks, message) };
  }
  if (length * count > MOST_CELLS) {
    throw new RangeError(
      `Cannot eliminate ${count} checks of ${length} bits: at most ${MOST_CELLS} bits of the matrix, unless each check ends with its own parity bit`,
    );
  }
  const { pivots, rows } = eliminated(checks), isPivot = new Uint8Array(length);
  for (const pivot of pivots) isPivot[pivot] = 1;
  const places = Int32Array.from({ length }, (_, i) => i).filter((i) => isPivot[i] === 0);
  if (places.length === 0) throw new RangeError(`Cannot use a code of ${length} bits: its checks leave no message`);
  // Message bits of each parity bit, one bit of a word each.
  const width = Math.ceil(places.length / 32), generator = new Uint32Array(pivots.length * width);
  rows.forEach((row, r) =>
    places.forEach((place, i) => generator[r * width + (i >> 5)] |= (row[place >> 5] >>> (place & 31) & 1) << (i & 31))
  );
  return {
    ...checks,
    places,
    encode(message) {
      const word = new Uint8Array(length), packed = new Uint32Array(width);
      for (let i = 0; i < places.length; i++) {
        word[places[i]] = message[i];
        packed[i >> 5] |= message[i] << (i & 31);
      }
      for (let r = 0; r < pivots.length; r++) {
        let sum = 0;
        for (let w = 0; w < width; w++) sum ^= generator[r * width + w] & packed[w];
        for (let shift = 16; shift > 0; shift >>= 1) sum ^= sum >>> shift;
        word[pivots[r]] = sum & 1;
      }
      return word;
    },
  };
}

/** The code word of a message whose parity bits each end a check. */
function accumulated({ length, starts, columns }: ParityChecks, message: Uint8Array): Uint8Array {
  const word = new Uint8Array(length);
  word.set(message);
  for (let i = 0; i + 1 < starts.length; i++) {
    const last = starts[i + 1] - 1;
    let sum = 0;
    for (let e = starts[i]; e < last; e++) sum ^= word[columns[e]];
    word[columns[last]] = sum;
  }
  return word;
}

/** Reduced independent rows of the checks and the bit that each determines, bits from the right first. */
function eliminated({ length, starts, columns }: ParityChecks): { pivots: number[]; rows: Uint32Array[] } {
  const width = Math.ceil(length / 32), pivots: number[] = [];
  const rows = Array.from({ length: starts.length - 1 }, (_, i) => {
    const row = new Uint32Array(width);
    for (let e = starts[i]; e < starts[i + 1]; e++) row[columns[e] >> 5] |= 1 << (columns[e] & 31);
    return row;
  });
  for (let bit = length - 1; bit >= 0 && pivots.length < rows.length; bit--) {
    const word = bit >> 5, mask = 1 << (bit & 31), rank = pivots.length;
    const found = rows.findIndex((row, i) => i >= rank && (row[word] & mask) !== 0);
    if (found < 0) continue;
    [rows[rank], rows[found]] = [rows[found], rows[rank]];
    const pivot = rows[rank];
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      if (i === rank || (row[word] & mask) === 0) continue;
      for (let w = 0; w < width; w++) row[w] ^= pivot[w];
    }
    pivots.push(bit);
  }
  return { pivots, rows: rows.slice(0, pivots.length) };
}
