/**
 * Bits to complex symbols of unit mean power and back to log-likelihood ratios. BPSK x = 1 - 2b; QPSK, 16QAM and 64QAM
 * with the Gray mapping of TS 38.211 section 5.1: even bits determine the real part, odd bits the imaginary part, each
 * by pulse-amplitude modulation:
 *
 *     QPSK   (1-2b0) / sqrt(2)
 *     16QAM  (1-2b0)[2 - (1-2b2)] / sqrt(10)
 *     64QAM  (1-2b0)[4 - (1-2b2)[2 - (1-2b4)]] / sqrt(42)
 *
 * LLR = ln P(0|y) / P(1|y), positive for bit 0; N0 is the total variance of the complex noise. BPSK and QPSK are exact
 * log-MAP; 16QAM and 64QAM are max-log, (min over b=1 |y-s|² - min over b=0 |y-s|²) / N0, in closed form: with the unit
 * a = 1/sqrt(10) or 1/sqrt(42) the distances of a part t differ by piecewise linear functions of |t|.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [ceil(n / bits per symbol)] interleaved -> llr float32. Arithmetic is
 * binary64, rounded once.
 */

export type Modulation = "bpsk" | "qpsk" | "qam16" | "qam64";

export const BITS_PER_SYMBOL: Readonly<Record<Modulation, number>> = { bpsk: 1, qpsk: 2, qam16: 4, qam64: 6 };

/** Lower limit of the noise variance. */
const LEAST_NOISE_VARIANCE = 1e-12;

/** 1/sqrt(2) as binary32 bits. */
const QPSK_LEVEL = new Uint32Array(Float32Array.of(Math.SQRT1_2).buffer)[0];
const QAM16_UNIT = 1 / Math.sqrt(10);
const QAM64_UNIT = 1 / Math.sqrt(42);
/** Amplitude by (b0, b2) and by (b0, b2, b4), first bit highest. */
const QAM16_LEVELS = Float32Array.from([1, 3, -1, -3], (level) => level * QAM16_UNIT);
const QAM64_LEVELS = Float32Array.from([3, 1, 5, 7, -3, -1, -5, -7], (level) => level * QAM64_UNIT);

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
};

/**
 * Log-likelihood ratios of the bits of received symbols.
 * @param symbols interleaved complex64
 * @param noiseVariance total complex variance N0, one for all or one per symbol; floored at 1e-12
 * @param llr output array; default a new one. For QPSK it may be the array of the symbols
 * @returns bits-per-symbol values per symbol
 * @throws RangeError for another number of variances than one per symbol, or an output array of another length
 */
export function demodulateLlr(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
): Float32Array<ArrayBuffer>;
export function demodulateLlr<T extends Float32Array>(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr: T,
): T;
export function demodulateLlr(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr: Float32Array = new Float32Array(symbols.length / 2 * BITS_PER_SYMBOL[modulation]),
): Float32Array {
  const count = symbols.length / 2;
  if (typeof noiseVariance !== "number" && noiseVariance.length !== count) {
    throw new RangeError(`Cannot demodulate ${count} symbols with ${noiseVariance.length} noise variances`);
  }
  checkLength(llr, count * BITS_PER_SYMBOL[modulation]);
  const demap = DEMAPPERS[modulation];
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
  qam64(symbols, llr, from, to, precision) {
    const scale = 4 * QAM64_UNIT * precision;
    const edge = 2 * QAM64_UNIT;
    for (let i = 2 * from; i < 2 * to; i++) {
      const t = symbols[i];
      const size = Math.abs(t);
      const beyond = Math.max(size - edge, 0) + Math.max(size - 2 * edge, 0) + Math.max(size - 3 * edge, 0);
      const inner = 2 * edge - size;
      const at = 6 * (i >> 1) + (i & 1);
      llr[at] = scale * (t + Math.sign(t) * beyond);
      llr[at + 2] = scale * (inner + Math.sign(inner) * Math.max(Math.abs(inner) - edge, 0));
      llr[at + 4] = scale * (edge - Math.abs(inner));
    }
  },
};

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
