/**
 * Demapping under a power allocation: symbol i arrives with amplitude sqrt(p_i), so y is divided by sqrt(p_i) and N0 by
 * p_i; a symbol without power is an erasure with LLR 0. With bit loading each element has its own modulation.
 */
import { type InputArtifact, SvcError } from "../api.ts";
import { loadedGroups } from "../../lib/numeric/link/bit_loading.ts";
import { type Modulation, MODULATION_BY_BITS } from "../../lib/numeric/link/modulations.ts";
import { checkElements } from "../_noise_variance.ts";

/** LLRs of symbols of one modulation, with a noise variance for each. */
type Demap = (symbols: Float32Array, modulation: Modulation, noise: Float32Array) => Float32Array;

/** The companion array of an allocation that holds the bits of each element. */
const LOADING = "bits_per_symbol";

/**
 * Bits of each symbol of a stream under bit loading.
 * @throws SvcError `boundary_count_mismatch` for more symbols than elements, `boundary_value_invalid` for a number of
 *   bits without a modulation
 */
export function loadingOf(allocation: InputArtifact | undefined, count: number): Uint8Array | undefined {
  if (!allocation?.arrayNames.includes(LOADING)) return undefined;
  const all = allocation.array(LOADING).data;
  checkElements(all.length, count);
  return Uint8Array.from({ length: count }, (_, i) => {
    const bits = Number(all[i]);
    if (bits === 0 || MODULATION_BY_BITS[bits] !== undefined) return bits;
    throw new SvcError("boundary_value_invalid", `Cannot demap symbols that carry ${bits} bits`);
  });
}

/**
 * LLRs of symbols with allocated power.
 * @param modulation one for all symbols, or the bits of each symbol
 * @throws SvcError `boundary_count_mismatch` for more symbols than elements, `boundary_value_invalid` for a negative power
 */
export function allocatedLlr(
  symbols: Float32Array,
  modulation: Modulation | Uint8Array,
  variance: number | Float32Array,
  allocation: InputArtifact,
  demap: Demap,
): Float32Array {
  const count = symbols.length / 2;
  const power = allocation.array(allocation.arrayNames.includes("power") ? "power" : undefined).data;
  checkElements(power.length, count);
  const received = new Float32Array(symbols.length);
  const noise = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const p = Number(power[i]);
    if (!(p >= 0)) throw new SvcError("boundary_value_invalid", `Cannot demap symbols of power ${p}`);
    // An erased symbol has the value 0, whose LLRs are 0 for BPSK and QPSK; other modulations are cleared below.
    noise[i] = p > 0 ? (typeof variance === "number" ? variance : variance[i]) / p : 1;
    if (p === 0) continue;
    const amplitude = Math.sqrt(p);
    received[2 * i] = symbols[2 * i] / amplitude;
    received[2 * i + 1] = symbols[2 * i + 1] / amplitude;
  }
  const erased = (i: number) => Number(power[i]) === 0;
  if (typeof modulation !== "string") return loadedLlr({ received, noise, loading: modulation, demap }, erased);
  const llr = demap(received, modulation, noise);
  const bits = llr.length / count;
  for (let i = 0; i < count; i++) if (erased(i)) llr.fill(0, i * bits, (i + 1) * bits);
  return llr;
}

function loadedLlr(
  { received, noise, loading, demap }: {
    received: Float32Array;
    noise: Float32Array;
    loading: Uint8Array;
    demap: Demap;
  },
  erased: (element: number) => boolean,
): Float32Array {
  const llr = new Float32Array(loading.reduce((total, bits) => total + bits, 0));
  for (const { bitsPerSymbol, modulation, elements, starts } of loadedGroups(loading)) {
    const symbols = new Float32Array(2 * elements.length);
    elements.forEach((element, k) => symbols.set(received.subarray(2 * element, 2 * element + 2), 2 * k));
    const variances = Float32Array.from(elements, (element) => noise[element]);
    const group = demap(symbols, modulation, variances);
    elements.forEach((element, k) => {
      if (!erased(element)) llr.set(group.subarray(k * bitsPerSymbol, (k + 1) * bitsPerSymbol), starts[k]);
    });
  }
  return llr;
}
