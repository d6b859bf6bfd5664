/**
 * Demapping under a power allocation: symbol i arrives with amplitude sqrt(p_i), so y is divided by sqrt(p_i) and N0 by
 * p_i; without power nothing was sent, an erasure with LLR 0. With bit loading each element has its own modulation.
 */
import { SvcError } from "../../lib/contract/error.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import { BITS_PER_SYMBOL, demodulateLlr, type Modulation } from "../../lib/numeric/modulation.ts";
import { checkElements } from "./_noise.ts";

const BY_BITS: Readonly<Record<number, Modulation>> = { 1: "bpsk", 2: "qpsk", 4: "qam16", 6: "qam64" };

/** LLRs of symbols that were sent with allocated power. */
export function allocatedLlr(
  symbols: Float32Array,
  modulation: Modulation,
  variance: number | Float32Array,
  allocation: InputArtifact,
): Float32Array {
  const count = symbols.length / 2;
  const power = allocation.array(allocation.arrayNames.includes("power") ? "power" : undefined).data as Float32Array;
  checkElements(power.length, count);
  const received = new Float32Array(symbols.length);
  const noise = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const p = power[i];
    // An erased symbol is demapped as anything finite and cleared below.
    received[2 * i] = p > 0 ? symbols[2 * i] / Math.sqrt(p) : 0;
    received[2 * i + 1] = p > 0 ? symbols[2 * i + 1] / Math.sqrt(p) : 0;
    noise[i] = p > 0 ? (typeof variance === "number" ? variance : variance[i]) / p : 1;
  }
  const loading = allocation.arrayNames.includes("bits_per_symbol")
    ? Array.from(allocation.array("bits_per_symbol").data.subarray(0, count), Number)
    : new Array<number>(count).fill(BITS_PER_SYMBOL[modulation]);
  return loadedLlr(received, noise, power, loading);
}

function loadedLlr(received: Float32Array, noise: Float32Array, power: Float32Array, loading: number[]): Float32Array {
  const starts: number[] = [];
  let total = 0;
  for (const bits of loading) {
    starts.push(total);
    total += bits;
  }
  const llr = new Float32Array(total);
  for (const bits of new Set(loading)) {
    if (bits === 0) continue;
    const modulation = BY_BITS[bits];
    if (modulation === undefined) {
      throw new SvcError("boundary_value_invalid", `Cannot demap symbols that carry ${bits} bits`);
    }
    const members = loading.flatMap((value, i) => (value === bits ? [i] : []));
    const symbols = Float32Array.from(members.flatMap((i) => [received[2 * i], received[2 * i + 1]]));
    const part = demodulateLlr(symbols, modulation, Float32Array.from(members, (i) => noise[i]));
    members.forEach((element, k) => {
      if (power[element] > 0) llr.set(part.subarray(k * bits, (k + 1) * bits), starts[element]);
    });
  }
  return llr;
}
