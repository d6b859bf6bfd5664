/**
 * Power control of symbols under a budget; policies: _power_policies.ts and _power_csi.ts. The allocators differ in the
 * channel feature of their trained policy.
 *
 * Shapes: symbols complex64 [n] -> symbols complex64 [n], or as many as bit loading uses; allocation `power` float64
 * [state, subcarrier], mean power per resource element, and with bit loading `bits_per_symbol` uint8 of the same shape.
 * Resource elements run subcarrier first, then OFDM symbol, then grid; symbol i uses element i.
 */
import { checkResourceElements } from "../../lib/artifact/ofdm_state.ts";
import {
  bitsOf,
  companionsOf,
  SYMBOL_METADATA,
  symbolsArtifact,
  symbolsOf,
  travel,
} from "../../lib/artifact/values.ts";
import {
  defineSlot,
  type FileAccess,
  float,
  type InputArtifact,
  type JsonObject,
  LEARNED_ARTIFACT,
  type Metrics,
  type Operation,
  SvcError,
} from "../api.ts";
import {
  artifactKind,
  BITS,
  CODED_BITS,
  OFDM_STATE,
  PAYLOAD_BITS,
  POWER_ALLOCATION,
  SYMBOLS,
  SYMBOLS_ANY,
} from "../../lib/contract/kinds.ts";
import { fillLoading, loadBits, type LoadedBits, modulateLoaded } from "../../lib/numeric/link/bit_loading.ts";
import { meanPower } from "../../lib/numeric/linalg/complex.ts";
import { dbToLinear, linearToDb } from "../../lib/numeric/link/decibel.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { sum } from "../../lib/numeric/scores/statistics.ts";
import { loadedMetadata } from "../_symbol_items.ts";
import { type ChannelKnowledge, channelKnowledge, policyGains } from "./_power_csi.ts";
import { CHECKPOINT_FORMAT, checkPower, POWER_PARAMS, type PowerParams, requiredFiles } from "./_power_params.ts";
import {
  type ElementGrid,
  learnedPowers,
  policyFeatures,
  projectScores,
  repeatRows,
  sharePower,
} from "./_power_policies.ts";

/** Metadata of both outputs. */
const RECORD = {
  power_policy: "text",
  granularity: "text",
  budget_mode: "text",
  transport_mode: "text",
  target_power: "number",
  power_unit: "text",
} as const;
const ALLOCATION = artifactKind(POWER_ALLOCATION, {
  ...RECORD,
  state_count: "count",
  subcarrier_count: "count",
  symbol_count: "count",
});

/** A channel feature of a trained policy, besides the budget and the noise variance. */
type ChannelFeature = "channel_gain" | "csi_history";

interface Elements {
  /** Input symbols, interleaved. */
  given: Float32Array;
  /** Undefined without a wired channel state. */
  knowledge?: ChannelKnowledge;
  grid: ElementGrid;
  /** Es/N0 of each element at unit power with the gains of the policy, [row, subcarrier]. */
  snrs: Float64Array;
}

/** An allocator whose trained policy receives one channel feature of a shape. */
export function powerAllocator(
  { feature, shape, meaning, ...names }: {
    id: string;
    name: string;
    description: string;
    feature: ChannelFeature;
    shape: readonly (number | string)[];
    /** Meaning of the channel feature. */
    meaning: string;
  },
): Operation {
  return defineSlot({
    ...names,
    inputs: { symbols: SYMBOLS_ANY },
    optionalInputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS], channel_state: [OFDM_STATE] },
    outputs: { allocation: ALLOCATION, symbols: artifactKind(SYMBOLS, { ...SYMBOL_METADATA, ...RECORD }) },
    params: POWER_PARAMS,
    equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
    formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: CHECKPOINT_FORMAT },
    outputMetadataGuarantees: { symbols: { from: "symbols" } },
    gradient: "full",
    exports: { torch: "trainable_budgeted_symbol_allocator" },
    twin: true,
    mode: { parameter: "policy", default: "snr_sigmoid" },
    read: ({ inputs, params }) => elementsOf(symbolsOf(inputs.symbols), params, inputs.channel_state),
    modes: {
      fixed: formula("fixed_power_allocator"),
      snr_sigmoid: formula("snr_sigmoid_power_allocator"),
      water_filling: formula("closed_form_water_filling_allocator"),
      observed_csi_water_filling: formula("water_filling_on_observed_csi"),
      robust_csi_water_filling: formula("correlation_shrunk_water_filling"),
      causal_ar_water_filling: formula("causal_complex_ar_prediction_plus_water_filling"),
      causal_ar_box_water_filling: formula("causal_complex_ar_prediction_plus_box_constrained_water_filling"),
      learned_checkpoint: { implementation: "safe_npz_csi_deepset_checkpoint", run: checkpointPowers },
    },
    learned: {
      component: { id: "policy", role: "power_policy", entrypoint: "power_policy" },
      implementation: "portable_trained_artifact_policy_plus_svc_projection",
      digestCode: "learned_power_checkpoint_sha_missing",
      requires: ["channel_state"],
      inputs: { average_power_budget: ["batch", 1], [feature]: shape, noise_variance: ["batch", 1] },
      outputs: { allocation_scores: ["batch", "subcarrier"] },
      binding: { budget_mode: "fixed_average", granularity: "per_subcarrier" },
      abi: { constraint_adapter: "svc_exact_simplex_projection_v1" },
      meaning: {
        average_power_budget: "mean power of a resource element",
        [feature]: meaning,
        noise_variance: "N0 of a resource element",
        allocation_scores: "powers of the subcarriers, projected onto the budget afterwards",
      },
      rows: ({ params }) => params.model_batch_size,
      async run({ knowledge, grid }, call, { params }) {
        const { allocation_scores } = await call(policyFeatures(knowledge!, params, feature));
        return projectScores(allocation_scores.data, grid, params);
      },
    },
    result: allocated,
    check: checkPower,
    requires: requiredFiles,
  });
}

/** A policy with a formula. */
const formula = (implementation: string) => ({
  implementation,
  run: ({ snrs, grid }: Elements, { params }: { params: PowerParams }) => sharePower(snrs, grid, params),
});

function elementsOf(given: Float32Array, params: PowerParams, state: InputArtifact | undefined): Elements {
  if (state === undefined) {
    const subcarriers = params.subcarrier_count, rows = Math.ceil(given.length / 2 / subcarriers);
    const snrs = new Float64Array(rows * subcarriers).fill(dbToLinear(params.snr_db));
    return { given, grid: { rows, subcarriers, repeat: 1 }, snrs };
  }
  const knowledge = channelKnowledge(state, params);
  const { rows, repeat, state: { subcarriers, noiseVariance } } = knowledge;
  const snrs = policyGains(knowledge, params).map((gain) => gain / noiseVariance);
  return { given, knowledge, grid: { rows, subcarriers, repeat }, snrs };
}

async function checkpointPowers(
  { knowledge }: Elements,
  { params, files }: { params: PowerParams; files: FileAccess },
): Promise<Float64Array> {
  const bytes = await files.read(params.checkpoint_path);
  const { readPowerCheckpoint } = await import("./_power_checkpoint.ts");
  const network = readPowerCheckpoint(bytes, params.checkpoint_path, {
    sha256: params.checkpoint_sha256,
    maxBytes: params.checkpoint_max_bytes,
    strict: params.checkpoint_strict,
  });
  return learnedPowers(network, knowledge!, params);
}

/** Loads the bits if requested, and scales the symbols. */
function allocated(
  power: Float64Array,
  { given, knowledge, grid, snrs }: Elements,
  { inputs, params }: { inputs: { symbols: InputArtifact; bits?: InputArtifact }; params: PowerParams },
) {
  const { subcarriers } = grid, states = grid.rows * grid.repeat;
  const bits = params.transport_mode === "allocation_aware_bit_loading" ? bitsOf(inputs.bits!) : undefined;
  const loaded = bits && load(bits, repeatRows(snrs, grid).map((snr, i) => power[i] * snr), params);
  const unscaled = loaded ? modulateLoaded(bits, loaded) : given;
  checkResourceElements({ grids: 1, symbols: states, subcarriers }, unscaled.length / 2);
  const symbols = unscaled.map((value, i) => value * Math.sqrt(power[i >> 1]));

  const particular: JsonObject = {
    ...(params.granularity === "per_stream" ? { stream_count: params.stream_count } : {}),
    ...(params.policy === "learned_checkpoint" ? { checkpoint_sha256: params.checkpoint_sha256 } : {}),
    ...(params.policy === LEARNED_ARTIFACT ? { artifact_package_sha256: params.artifact_package_sha256 } : {}),
  };
  const record = {
    ...particular,
    power_policy: params.policy,
    granularity: params.granularity,
    budget_mode: params.budget_mode,
    transport_mode: params.transport_mode,
    target_power: float(params.target_power),
    power_unit: params.power_unit,
  };
  const { metadata } = inputs.symbols;
  const described = loaded
    ? { ...loadedMetadata({ ...metadata, ...inputs.bits!.metadata }, bits!.length, loaded.padding), ...record }
    : travel(metadata, record);
  const noise: JsonObject = knowledge ? { noise_variance: float(knowledge.state.noiseVariance) } : {};
  const loading: Record<string, NdArray> = loaded
    ? { bits_per_symbol: ndarray("uint8", loaded.loading, [states, subcarriers]) }
    : {};
  return {
    outputs: {
      allocation: {
        array: ndarray("float64", power, [states, subcarriers]),
        companions: loading,
        metadata: {
          ...noise,
          ...record,
          state_count: states,
          subcarrier_count: subcarriers,
          symbol_count: symbols.length / 2,
        },
      },
      symbols: symbolsArtifact(symbols, described, loaded ? {} : companionsOf(inputs.symbols)),
    },
    metrics: powerMetrics(symbols, knowledge, loaded),
    metadata: { label: params.label },
  };
}

/**
 * @param snrs received Es/N0 of each element
 * @throws SvcError `boundary_count_mismatch` if the elements do not carry all bits
 */
function load(bits: Uint8Array, snrs: Float64Array, params: PowerParams): LoadedBits {
  const loading = loadBits(snrs, {
    bpsk: params.bit_loading_bpsk_min_snr_db,
    qpsk: params.bit_loading_qpsk_min_snr_db,
    qam16: params.bit_loading_qam16_min_snr_db,
    qam64: params.bit_loading_qam64_min_snr_db,
    qam256: params.bit_loading_qam256_min_snr_db ?? 29,
  }, params.bit_loading_max_bits_per_symbol);
  const loaded = fillLoading(loading, bits.length);
  if (loaded !== null) return loaded;
  const room = loading.reduce((total, one) => total + one, 0);
  throw new SvcError(
    "boundary_count_mismatch",
    `Cannot load ${bits.length} bits onto ${loading.length} resource elements that carry ${room}`,
    { hint: "Raise capacity_multiplier of the channel state or the power, or lower the thresholds of bit loading" },
  );
}

function powerMetrics(symbols: Float32Array, knowledge?: ChannelKnowledge, loaded?: LoadedBits): Metrics {
  const power = symbols.length === 0 ? 0 : meanPower(symbols);
  return {
    ...(knowledge && power > 0
      ? { "channel.tx_effective_snr_db": linearToDb(power / knowledge.state.noiseVariance) }
      : {}),
    ...(loaded && loaded.count > 0 ? { "channel.bits_per_symbol": sum(loaded.loading) / loaded.count } : {}),
  };
}
