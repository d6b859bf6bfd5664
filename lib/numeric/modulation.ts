/**
 * Bits to complex symbols of unit mean power and back to log-likelihood ratios. BPSK x = 1 - 2b; QPSK to 256QAM with the
 * Gray mapping of TS 38.211 section 5.1: even bits determine the real part, odd bits the imaginary part, each by
 * pulse-amplitude modulation:
 *
 *     QPSK    (1-2b0) / sqrt(2)
 *     16QAM   (1-2b0)[2 - (1-2b2)] / sqrt(10)
 *     64QAM   (1-2b0)[4 - (1-2b2)[2 - (1-2b4)]] / sqrt(42)
 *     256QAM  (1-2b0)[8 - (1-2b2)[4 - (1-2b4)[2 - (1-2b6)]]] / sqrt(170)
 *
 * LLR = ln P(0|y) / P(1|y), positive for bit 0; N0 is the total variance of the complex noise. BPSK and QPSK are exact
 * log-MAP. Larger constellations are exact on request, else max-log, (min over b=1 |y-s|² - min over b=0 |y-s|²) / N0,
 * in closed form: with the unit a = 1/sqrt(10), 1/sqrt(42) or 1/sqrt(170) the distances of a part t differ by piecewise
 * linear functions of |t|.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [ceil(n / bits per symbol)] interleaved -> llr float32. Arithmetic is
 * binary64, rounded once.
 */

export const MODULATIONS = ["bpsk", "qpsk", "qam16", "qam64", "qam256"] as const;
export type Modulation = typeof MODULATIONS[number];

export const BITS_PER_SYMBOL: Readonly<Record<Modulation, number>> = {
  bpsk: 1,
  qpsk: 2,
  qam16: 4,
  qam64: 6,
  qam256: 8,
};

/** The modulation that carries a number of bits. */
export const MODULATION_BY_BITS: Readonly<Record<number, Modulation>> = Object.fromEntries(
  MODULATIONS.map((modulation) => [BITS_PER_SYMBOL[modulation], modulation]),
);

/** `exact` sums over all points of a bit value (log-sum-exp), `max_log` takes the nearest one. */
export type LlrMethod = "exact" | "max_log";

/** Lower limit of the noise variance. */
export const LEAST_NOISE_VARIANCE = 1e-12;

/** 1/sqrt(2) as binary32 bits. */
const QPSK_LEVEL = new Uint32Array(Float32Array.of(Math.SQRT1_2).buffer)[0];
const QAM16_UNIT = 1 / Math.sqrt(10);
const QAM64_UNIT = 1 / Math.sqrt(42);
const QAM256_UNIT = 1 / Math.sqrt(170);
/** Amplitude by the bits of a part, first bit highest. */
const QAM16_LEVELS = Float32Array.from(squareLevels(2), (level) => level * QAM16_UNIT);
const QAM64_LEVELS = Float32Array.from(squareLevels(3), (level) => level * QAM64_UNIT);
const QAM256_LEVELS = Float32Array.from(squareLevels(4), (level) => level * QAM256_UNIT);

/** Odd integer amplitudes of a part by the label of its bits: v = (1 - 2c)(2^(remaining bits) - v of the rest). */
function squareLevels(bits: number): number[] {
  if (bits === 0) return [0];
  const rest = squareLevels(bits - 1), offset = bits === 1 ? 1 : 2 ** (bits - 1);
  return [1, -1].flatMap((sign) => rest.map((level) => sign * (offset - level)));
}

/**
 * Amplitudes of a part of the constellation by the label of its bits (first bit highest), binary64. BPSK has no
 * imaginary part.
 */
export function partLevels(modulation: Modulation): Float64Array {
  if (modulation === "bpsk") return Float64Array.of(1, -1);
  const bits = BITS_PER_SYMBOL[modulation] / 2, scale = Math.sqrt(1.5 / (4 ** bits - 1));
  return Float64Array.from(squareLevels(bits), (level) => level * scale);
}

/**
 * Maps bits to symbols; zero bits fill the last symbol.
 * @param bits one bit (0 or 1) per byte
 * @param symbols output array; default a new one
 * @returns interleaved complex64
 * @throws RangeError when the given array has another length
 */
export function modulate(bits: Uint8Array, modulation: Modulation): Float32Array<ArrayBuffer>;
export function modulate<T extends Float32Array>(bits: Uint8Array, modulation: Modulation, symbols: T): T;
export function modulate(
  bits: Uint8Array,
  modulation: Modulation,
  symbols: Float32Array = new Float32Array(2 * Math.ceil(bits.length / BITS_PER_SYMBOL[modulation])),
): Float32Array {
  const perSymbol = BITS_PER_SYMBOL[modulation];
  const count = Math.ceil(bits.length / perSymbol);
  checkLength(symbols, 2 * count);
  const whole = Math.floor(bits.length / perSymbol);
  MAPPERS[modulation](bits, symbols, whole);
  if (whole < count) {
    const last = new Uint8Array(perSymbol);
    last.set(bits.subarray(whole * perSymbol));
    MAPPERS[modulation](last, symbols.subarray(2 * whole), 1);
  }
  return symbols;
}

function checkLength(out: Float32Array, length: number): void {
  if (out.length !== length) throw new RangeError(`Cannot put ${length} values into an array of ${out.length}`);
}

const MAPPERS: Record<Modulation, (bits: Uint8Array, symbols: Float32Array, count: number) => void> = {
  bpsk(bits, symbols, count) {
    for (let i = 0; i < count; i++) {
      symbols[2 * i] = 1 - 2 * bits[i];
      symbols[2 * i + 1] = 0;
    }
  },
  qpsk(bits, symbols, count) {
    // The bit is the sign of the binary32 value.
    const words = new Uint32Array(symbols.buffer, symbols.byteOffset, 2 * count);
    for (let i = 0; i < words.length; i++) words[i] = QPSK_LEVEL | bits[i] << 31;
  },
  qam16(bits, symbols, count) {
    for (let i = 0, at = 0; i < 2 * count; i += 2, at += 4) {
      symbols[i] = QAM16_LEVELS[bits[at] << 1 | bits[at + 2]];
      symbols[i + 1] = QAM16_LEVELS[bits[at + 1] << 1 | bits[at + 3]];
    }
  },
  qam64(bits, symbols, count) {
    for (let i = 0, at = 0; i < 2 * count; i += 2, at += 6) {
      symbols[i] = QAM64_LEVELS[bits[at] << 2 | bits[at + 2] << 1 | bits[at + 4]];
      symbols[i + 1] = QAM64_LEVELS[bits[at + 1] << 2 | bits[at + 3] << 1 | bits[at + 5]];
    }
  },
  qam256(bits, symbols, count) {
    for (let i = 0, at = 0; i < 2 * count; i += 2, at += 8) {
      symbols[i] = QAM256_LEVELS[bits[at] << 3 | bits[at + 2] << 2 | bits[at + 4] << 1 | bits[at + 6]];
      symbols[i + 1] = QAM256_LEVELS[bits[at + 1] << 3 | bits[at + 3] << 2 | bits[at + 5] << 1 | bits[at + 7]];
    }
  },
};

/**
 * Log-likelihood ratios of the bits of received symbols.
 * @param symbols interleaved complex64
 * @param noiseVariance total complex variance N0, one for all or one per symbol; floored at 1e-12
 * @param llr output array; default a new one. For QPSK it may be the array of the symbols
 * @param method of 16QAM and larger constellations; BPSK and QPSK have one formula
 * @returns bits-per-symbol values per symbol
 * @throws RangeError for another number of variances than one per symbol, or an output array of another length
 */
export function demodulateLlr(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr?: undefined,
  method?: LlrMethod,
): Float32Array<ArrayBuffer>;
export function demodulateLlr<T extends Float32Array>(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr: T,
  method?: LlrMethod,
): T;
export function demodulateLlr(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr: Float32Array = new Float32Array(symbols.length / 2 * BITS_PER_SYMBOL[modulation]),
  method: LlrMethod = "max_log",
): Float32Array {
  const count = symbols.length / 2;
  if (typeof noiseVariance !== "number" && noiseVariance.length !== count) {
    throw new RangeError(`Cannot demodulate ${count} symbols with ${noiseVariance.length} noise variances`);
  }
  checkLength(llr, count * BITS_PER_SYMBOL[modulation]);
  const demap = method === "exact" && BITS_PER_SYMBOL[modulation] > 2
    ? exactDemapper(partLevels(modulation))
    : DEMAPPERS[modulation];
  if (typeof noiseVariance === "number") {
    demap(symbols, llr, 0, count, 1 / Math.max(noiseVariance, LEAST_NOISE_VARIANCE));
  } else {
    for (let i = 0; i < count; i++) {
      demap(symbols, llr, i, i + 1, 1 / Math.max(noiseVariance[i], LEAST_NOISE_VARIANCE));
    }
  }
  return llr;
}

type Demapper = (symbols: Float32Array, llr: Float32Array, from: number, to: number, precision: number) => void;

/** LLRs of the symbols from … to - 1 at 1/N0 = precision. */
const DEMAPPERS: Record<Modulation, Demapper> = {
  bpsk(symbols, llr, from, to, precision) {
    const scale = 4 * precision;
    for (let i = from; i < to; i++) llr[i] = scale * symbols[2 * i];
  },
  qpsk(symbols, llr, from, to, precision) {
    const scale = 2 * Math.SQRT2 * precision;
    for (let i = 2 * from; i < 2 * to; i++) llr[i] = scale * symbols[i];
  },
  qam16(symbols, llr, from, to, precision) {
    const scale = 4 * QAM16_UNIT * precision;
    const edge = 2 * QAM16_UNIT;
    for (let i = 2 * from; i < 2 * to; i++) {
      const t = symbols[i];
      const size = Math.abs(t);
      const at = 4 * (i >> 1) + (i & 1);
      llr[at] = scale * (t + Math.sign(t) * Math.max(size - edge, 0));
      llr[at + 2] = scale * (edge - size);
    }
  },
  qam64: maxLogDemapper(3, QAM64_UNIT),
  qam256: maxLogDemapper(4, QAM256_UNIT),
};

/**
 * Max-log demapper of a part with `bits` bits. The first bit splits the levels at 0: beyond |v| = k·edge the nearest
 * level moves on, and the slope rises. The levels of the other bits are those of |v|, centred between them.
 */
function maxLogDemapper(bits: number, unit: number): Demapper {
  const edge = 2 * unit, stride = 2 * bits;
  return (symbols, llr, from, to, precision) => {
    const scale = 4 * unit * precision;
    for (let i = 2 * from; i < 2 * to; i++) {
      let v = symbols[i], at = stride * (i >> 1) + (i & 1);
      for (let half = 1 << (bits - 1); half >= 1; half >>= 1, at += 2) {
        const size = Math.abs(v);
        let beyond = 0;
        for (let k = 1; k < half; k++) beyond += Math.max(size - k * edge, 0);
        llr[at] = scale * (v + Math.sign(v) * beyond);
        v = (half >> 1) * edge - size;
      }
    }
  };
}

/** Class sums below this have lost digits to underflow. */
const LEAST_SUM = 1e-280;

/** Log-sum-exp demapper of parts with these levels by label; the parts are independent. */
function exactDemapper(levels: Float64Array): Demapper {
  const bits = Math.log2(levels.length), stride = 2 * bits;
  const distances = new Float64Array(levels.length), weights = new Float64Array(levels.length);
  return (symbols, llr, from, to, precision) => {
    for (let i = 2 * from; i < 2 * to; i++) {
      let least = Infinity;
      for (let j = 0; j < levels.length; j++) {
        distances[j] = (symbols[i] - levels[j]) ** 2 * precision;
        least = Math.min(least, distances[j]);
      }
      for (let j = 0; j < levels.length; j++) weights[j] = Math.exp(least - distances[j]);
      const at = stride * (i >> 1) + (i & 1);
      for (let bit = 0; bit < bits; bit++) {
        const mask = levels.length >> (bit + 1);
        let zero = 0, one = 0;
        for (let j = 0; j < levels.length; j++) if ((j & mask) === 0) zero += weights[j];
        for (let j = 0; j < levels.length; j++) if ((j & mask) !== 0) one += weights[j];
        llr[at + 2 * bit] = Math.min(zero, one) > LEAST_SUM
          ? Math.log(zero / one)
          : logSum(distances, mask, 0) - logSum(distances, mask, mask);
      }
    }
  };
}

/** ln of the sum of exp(-distance) over the labels whose bit `mask` has the value `wanted`. */
export function logSum(distances: Float64Array, mask: number, wanted: number): number {
  let least = Infinity, sum = 0;
  for (let j = 0; j < distances.length; j++) if ((j & mask) === wanted) least = Math.min(least, distances[j]);
  for (let j = 0; j < distances.length; j++) if ((j & mask) === wanted) sum += Math.exp(least - distances[j]);
  return Math.log(sum) - least;
}

/** Hard decisions: 1 where the LLR is negative; zero gives 0. */
export function hardBits(llr: Float32Array): Uint8Array<ArrayBuffer> {
  const words = new Int32Array(llr.buffer, llr.byteOffset, llr.length), bits = new Uint8Array(llr.length);
  for (let i = 0; i < words.length; i++) {
    // The sign bit; values are neither -0 nor NaN. A comparison would be an unpredictable branch.
    const magnitude = words[i] & 0x7fffffff;
    bits[i] = (words[i] & -magnitude & (magnitude - 0x7f800001)) >>> 31;
  }
  return bits;
}
