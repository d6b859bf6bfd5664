/** The noise variance of a receiver. */
import { diagnostic, type InputArtifact, type JsonObject, SvcError } from "./api.ts";
import { metadataNumber } from "../lib/artifact/values.ts";
import type { StreamInput } from "../lib/contract/operation.ts";
import type { NdArray } from "../lib/numeric/array/ndarray.ts";

export interface NoiseVariance {
  /** Total complex noise variance N0: one for all symbols, or one per symbol. */
  variance: number | Float32Array;
  source: "per_symbol" | "metadata" | "channel_state" | "assumed";
  /** Facts for the step row: a warning about an assumed variance. */
  facts: JsonObject;
}

/** Companion of symbols with the variance of each. */
export const NOISE_VARIANCE = "noise_variance";

/** Companions of symbols in blocks. */
export const SYMBOL_COMPANIONS = [NOISE_VARIANCE, "channel_gain"];

/** Variances of symbols. @throws SvcError `boundary_dtype_invalid` */
export function variancesOf({ dtype, data }: NdArray): Float32Array {
  if (dtype === "float32") return data as Float32Array;
  throw new SvcError("boundary_dtype_invalid", `Cannot use ${dtype} data as noise variances: they are float32`);
}

/** As {@link noiseVarianceOf} for symbols that arrive in blocks; variances per symbol come with them. */
export const streamedVarianceOf = (symbols: StreamInput, count: number): NoiseVariance =>
  symbols.arrayNames.slice(1).includes(NOISE_VARIANCE)
    ? { variance: new Float32Array(0), source: "per_symbol", facts: {} }
    : noiseVarianceOf(symbols, count);

/**
 * The variance after equalisation if the symbols have it per symbol, else the metadata noise_variance, else that of a
 * wired channel state after one-tap equalisation (N0 / |h|² of the symbol's resource element), else 1 with a warning.
 * @throws SvcError `boundary_count_mismatch` for fewer variances than symbols
 */
export function noiseVarianceOf(symbols: InputArtifact, count: number, state?: InputArtifact): NoiseVariance {
  if (symbols.arrayNames.slice(1).includes(NOISE_VARIANCE)) {
    const variance = variancesOf(symbols.array(NOISE_VARIANCE));
    if (variance.length !== count) {
      throw new SvcError(
        "boundary_count_mismatch",
        `Cannot use ${variance.length} noise variances for ${count} symbols`,
      );
    }
    return { variance, source: "per_symbol", facts: {} };
  }
  const common = metadataNumber(symbols.metadata, "noise_variance");
  if (common !== undefined) return { variance: common, source: "metadata", facts: {} };
  if (state !== undefined) return { variance: stateVariance(state, count), source: "channel_state", facts: {} };
  const warning = diagnostic("noise_variance_assumed", [], "Cannot find the noise variance, so 1 is assumed", {
    severity: "warning",
    hint: "wireless.channel adds it to its symbols; the scale of LLRs and linear estimates depend on it",
  });
  return { variance: 1, source: "assumed", facts: { warnings: [warning] } };
}

function stateVariance(state: InputArtifact, count: number): Float32Array {
  const gains = state.array(state.arrayNames.includes("h") ? "h" : undefined).data as Float32Array;
  const noise = state.arrayNames.includes("noise_variance")
    ? Number(state.array("noise_variance").data[0])
    : metadataNumber(state.metadata, "noise_variance") ?? 1;
  checkElements(gains.length / 2, count);
  const variance = new Float32Array(count);
  for (let i = 0; i < count; i++) variance[i] = noise / (gains[2 * i] ** 2 + gains[2 * i + 1] ** 2);
  return variance;
}

/** Symbol i uses resource element i. @throws SvcError `boundary_count_mismatch` for fewer elements than symbols */
export function checkElements(elements: number, symbols: number): void {
  if (elements >= symbols) return;
  throw new SvcError("boundary_count_mismatch", `Cannot place ${symbols} symbols on ${elements} resource elements`, {
    hint: "Raise num_ofdm_symbols, allocation_ofdm_symbols or capacity_multiplier",
  });
}
