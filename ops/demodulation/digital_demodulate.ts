/**
 * Demapper: LLR = ln P(0|y) / P(1|y), positive for bit 0, and hard bits (1 where LLR < 0). BPSK 4 Re(y)/N0; QPSK
 * 2·sqrt(2) Re(y)/N0 and Im, both exact; 16QAM to 256QAM max-log, or exact by llr_method. N0 is the total complex noise variance, see
 * _noise_variance.ts; a power allocation scales both and may give each symbol its own number of bits, see below.
 * Padding bits of the modulator are removed. Symbols of a table are demapped by its points, which the modulator records, and shaped ones
 * also by the probabilities of their points.
 *
 * Shapes: rx_symbols complex64 [n] -> bits uint8 [m], llr float32 [m], m = n · bits per symbol - padding.
 *
 * Source: Proakis and Salehi, Digital Communications, 5th ed., 2008, ch. 4; TS 38.211 section 5.1 for the mappings.
 *
 * Demapping under a power allocation: symbol i arrives with amplitude sqrt(p_i), so y is divided by sqrt(p_i) and N0 by
 * p_i; a symbol without power is an erasure with LLR 0. With bit loading each element has its own modulation.
 */
import {
  dataPlaneParameter,
  defineOperation,
  type InputArtifact,
  isNumber,
  type JsonObject,
  SvcError,
  toNumber,
  usedWhen,
  type Value,
  z,
} from "../api.ts";
import { loadedGroups } from "../../lib/numeric/link/bit_loading.ts";
import {
  type BpskRotation,
  constellationLlr,
  MAXIMUM_WIDTH,
  rotateBpsk,
  tablePoints,
} from "../../lib/numeric/link/constellation.ts";
import {
  BITS_PER_SYMBOL,
  type Modulation,
  MODULATION_BY_BITS,
  MODULATIONS,
} from "../../lib/numeric/link/modulations.ts";
import { checkElements, type NoiseVariance, noiseVarianceOf, SYMBOL_COMPANIONS } from "../_noise_variance.ts";
import { OFDM_STATE, POWER_ALLOCATION, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { metadataText, symbolsOf } from "../../lib/artifact/values.ts";
import { blockMemory } from "../../lib/numeric/array/shared_array.ts";
import { demodulateLlr, hardBits, type LlrMethod } from "../../lib/numeric/link/modulation.ts";
import { executed, native, notExported } from "../_backends.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
import { BIT_LOADED, unpaddedBitCount } from "../_symbol_items.ts";
import { demapInBlocks, demodulated, demodulatedOutputs, INHERITED } from "./_outputs.ts";

/** LLRs of symbols of one modulation, with a noise variance for each. */
type Demap = (symbols: Float32Array, modulation: string, noise: Float32Array) => Float32Array;

/** The companion array of an allocation that holds the bits of each element. */
const LOADING = "bits_per_symbol";

/**
 * Bits of each symbol of a stream under bit loading.
 * @throws SvcError `boundary_count_mismatch` for more symbols than elements, `boundary_value_invalid` for a number of
 *   bits without a modulation
 */
function loadingOf(allocation: InputArtifact | undefined, count: number): Uint8Array | undefined {
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
function allocatedLlr(
  symbols: Float32Array,
  modulation: string | Uint8Array,
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

/** Tables without parameters; the points of others are in the metadata. */
const TABLES = ["psk8", "psk16", "pam4", "pam8", "pi2_bpsk"] as const;
const CHOICES = ["auto", ...MODULATIONS, ...TABLES] as const;
/** Modulations with more than a bit on an axis; with one, the nearest points are all points. */
const SEVERAL_BITS = CHOICES.filter((modulation) => !["bpsk", "pi2_bpsk", "qpsk"].includes(modulation));
const HINTS: Readonly<Record<string, string>> = {
  identity: "Use demodulation.identity_demodulate",
  constellation: "Use demodulation.constellation_demapper",
  [BIT_LOADED]: "Wire allocation, which has the number of bits per symbol",
};
const EXACT = {
  message: "Cannot form exact log-likelihood ratios above QPSK on cpp: the native extension has no kernel for them",
  hint: "Set data_plane_backend to python_numpy, or llr_method to max_log",
};

export default defineOperation({
  id: "demodulation.digital_demodulate",
  name: "Hard digital demapper",
  description: "Demaps symbols to hard bits and log-likelihood ratios",
  inputs: { rx_symbols: SYMBOLS_ANY },
  optionalInputs: { allocation: [POWER_ALLOCATION], channel_state: [OFDM_STATE] },
  outputs: demodulatedOutputs({}),
  params: z.strictObject({
    modulation: z.enum(CHOICES).default("auto").describe(
      "auto uses the modulation in the metadata, with its points and rotation",
    ),
    llr_method: z.enum(["auto", "max_log", "exact"]).optional().meta(usedWhen({ modulation: SEVERAL_BITS }))
      .describe("exact sums over all points, max_log takes the nearest; auto (default) is max_log above QPSK"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: notExported("numpy", "stop", "Hard decisions stop gradients"),
  equivalence: { type: "numerical", tolerance: { atol: 1e-7, rtol: 1e-6 } },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [
    ...CHOICES.flatMap((modulation) => executed("numpy", `numpy_${modulation}_demodulator`, { modulation })),
    ...["auto", ...MODULATIONS].flatMap((modulation) => native(`cpp_${modulation}_demodulator`, { modulation })),
  ],
  outputMetadataGuarantees: INHERITED,
  twin: true,
  check: ({ data_plane_backend, llr_method, modulation }) =>
    data_plane_backend === "cpp_native" && llr_method === "exact" && !["bpsk", "qpsk"].includes(modulation)
      ? [{ code: "materialization_unavailable", place: ["data_plane_backend"], ...EXACT }]
      : [],
  importance: "symbol",
  streaming: {
    allows: portableOnly,
    companions: SYMBOL_COMPANIONS,
    open({ inputs: { rx_symbols: input }, params }) {
      const mapping = mappingOf(input.metadata, params.modulation), method = methodOf(params);
      const memory = blockMemory(Float32Array), exact = mapping.kernel && mapping.width <= 2;
      const facts = (noise: NoiseVariance) => ({
        outputs: factsOf(mapping.name, exact, method, noise),
        row: noise.facts,
      });
      return demapInBlocks(input, mapping.width, facts, (symbols, noise, from) => ({
        llr: mapping.demap(
          symbols,
          from,
          (part, name) => demodulateLlr(part, name, noise, memory(part.length / 2 * mapping.width), method),
          { noise, method },
        ),
      }));
    },
  },
  async run(context) {
    const { inputs, params, threads } = context, kernels = await dataPlane(context);
    const symbols = symbolsOf(inputs.rx_symbols);
    const { metadata } = inputs.rx_symbols;
    const noise = noiseVarianceOf(inputs.rx_symbols, symbols.length / 2, inputs.channel_state);
    const loading = loadingOf(inputs.allocation, symbols.length / 2);
    const mapping = loading === undefined ? mappingOf(metadata, params.modulation) : undefined;
    const method = methodOf(params), width = mapping?.width ?? loading!.reduce((most, bits) => Math.max(most, bits), 0);
    if (kernels.name === "cpp_native" && method === "exact" && width > 2) {
      throw new SvcError("materialization_unavailable", EXACT.message, { hint: EXACT.hint });
    }
    const demap = (part: Float32Array, modulation: Modulation, variance: number | Float32Array) =>
      kernels.demodulate(part, modulation, variance, { threads, method });
    if (kernels.name === "cpp_native" && mapping?.kernel === false) {
      throw new SvcError(
        "materialization_unavailable",
        `Cannot demap ${mapping.name} on cpp: it has no kernel for tables`,
        {
          hint: "Set data_plane_backend to python_numpy",
        },
      );
    }
    const mapped = (part: Float32Array, modulation: string, variance: number | Float32Array) => {
      if (mapping?.plain === true || mapping === undefined) return demap(part, modulation as Modulation, variance);
      return decided(
        mapping.demap(part, 0, (own, name) => demap(own, name, variance).llr, { noise: variance, method }),
      );
    };
    const name = loading ?? mapping!.name;
    const { llr: padded, bits } = inputs.allocation === undefined
      ? mapped(symbols, name as string, noise.variance)
      : decided(allocatedLlr(symbols, name, noise.variance, inputs.allocation, (...part) => mapped(...part).llr));
    const count = unpaddedBitCount(metadata, padded.length);
    const llr = count === padded.length ? padded : padded.slice(0, count);
    const facts = factsOf(mapping?.name ?? BIT_LOADED, mapping?.kernel !== false && width <= 2, method, noise);
    return {
      outputs: demodulated(inputs.rx_symbols, llr, facts, bits.slice(0, count), kernels),
      metadata: noise.facts,
    };
  },
});

const decided = (llr: Float32Array) => ({ llr, bits: hardBits(llr) });

const methodOf = ({ llr_method }: { llr_method?: string }): LlrMethod => llr_method === "exact" ? "exact" : "max_log";

/** What the outputs declare about the demapper. */
const factsOf = (modulation: string, exact: boolean, method: LlrMethod, { source }: NoiseVariance) => ({
  modulation,
  llr_method: exact ? "exact" : method,
  noise_variance_source: source,
});

/**
 * The modulation of symbols with its bits per symbol and its demapper, by a `kernel` or by its points; `plain` symbols are not turned.
 * The metadata of a table hold its points.
 * @throws SvcError `params_conflict` without a modulation, or without the points of one
 */
function mappingOf(metadata: JsonObject, chosen: typeof CHOICES[number]) {
  const recorded = metadataText(metadata, "modulation"), name = chosen === "auto" ? recorded : chosen;
  const attempt = "Cannot choose a demodulator";
  if (name === undefined) {
    throw new SvcError("params_conflict", `${attempt}: the symbols have no modulation in their metadata`, {
      hint: "Set modulation",
    });
  }
  const turned = name === "bpsk" && metadata.bpsk_rotation === "ts38211";
  const rotation: BpskRotation = name === "pi2_bpsk" ? "alternating" : turned ? "fixed" : "none";
  const plain = name === "pi2_bpsk" ? "bpsk" : name as Modulation;
  type Kernel = (symbols: Float32Array, modulation: Modulation) => Float32Array;
  if (Object.hasOwn(BITS_PER_SYMBOL, plain)) {
    return {
      name,
      width: BITS_PER_SYMBOL[plain],
      kernel: true,
      plain: rotation === "none",
      demap: (symbols: Float32Array, from: number, kernel: Kernel) =>
        kernel(rotation === "none" ? symbols : rotateBpsk(symbols.slice(), rotation, { from, back: true }), plain),
    };
  }
  const points = recorded === name ? recordedPoints(metadata) : undefined;
  const probabilities = points === undefined ? undefined : recordedProbabilities(metadata, points.length / 2);
  const table = TABLES.find((one) => one === name);
  const known = points ?? (table === undefined || table === "pi2_bpsk" ? undefined : tablePoints(table));
  if (known === undefined) {
    throw new SvcError("params_conflict", `${attempt} for the modulation ${name}`, {
      hint: HINTS[name] ?? "Set modulation to auto behind modulation.digital_modulate, which records the points",
    });
  }
  return {
    name,
    width: Math.log2(known.length / 2),
    kernel: false,
    plain: false,
    demap: (
      symbols: Float32Array,
      _from: number,
      _kernel: Kernel,
      { noise, method }: { noise: number | Float32Array; method: LlrMethod },
    ): Float32Array => constellationLlr(symbols, known, noise, method, probabilities),
  };
}

/** Points of the metadata, 2^K pairs. @throws SvcError `boundary_value_invalid` */
function recordedPoints(metadata: JsonObject): Float32Array | undefined {
  if (metadata.constellation_points === undefined) return undefined;
  const parts = numbersOf(metadata.constellation_points);
  const count = parts.length / 2;
  if (count >= 2 && count <= 2 ** MAXIMUM_WIDTH && Number.isInteger(Math.log2(count)) && parts.every(Number.isFinite)) {
    return Float32Array.from(parts);
  }
  throw new SvcError("boundary_value_invalid", "Cannot demap: the metadata constellation_points is invalid");
}

/** Probabilities of points in the metadata. @throws SvcError `boundary_value_invalid` */
function recordedProbabilities(metadata: JsonObject, count: number): number[] | undefined {
  if (metadata.point_probabilities === undefined) return undefined;
  const found = numbersOf(metadata.point_probabilities);
  if (found.length === count && found.every((value) => value >= 0 && value <= 1)) return found;
  throw new SvcError("boundary_value_invalid", "Cannot demap: the metadata point_probabilities is invalid");
}

const numbersOf = (list: Value): number[] =>
  Array.isArray(list) ? list.map((part) => isNumber(part) ? toNumber(part) : NaN) : [];
