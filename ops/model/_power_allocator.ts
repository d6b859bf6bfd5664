/** What both power allocators do. */
import { LEARNED_ARTIFACT } from "../../lib/artifact/learned.ts";
import { checkResourceElements } from "../../lib/artifact/ofdm_state.ts";
import { bitsOf, companionsOf, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { SvcError } from "../../lib/contract/error.ts";
import type {
  FileAccess,
  InputArtifact,
  LearnedModel,
  Metrics,
  OperationResult,
} from "../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { fillLoading, loadBits, type LoadedBits, modulateLoaded } from "../../lib/numeric/bit_loading.ts";
import { meanPower } from "../../lib/numeric/complex.ts";
import { linearToDb } from "../../lib/numeric/decibel.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { sum } from "../../lib/numeric/statistics.ts";
import { loadedMetadata } from "../_symbol_items.ts";
import { type ChannelKnowledge, channelKnowledge, policyGains } from "./_power_csi.ts";
import type { PowerParams } from "./_power_params.ts";
import {
  learnedPowers,
  policyFeatures,
  powersWithoutState,
  projectScores,
  repeatRows,
  sharePower,
} from "./_power_policies.ts";

export interface PowerContext {
  readonly inputs: {
    readonly symbols: InputArtifact;
    readonly bits?: InputArtifact;
    readonly channel_state?: InputArtifact;
  };
  readonly params: PowerParams;
  readonly files: FileAccess;
  readonly learned: LearnedModel;
}

/** What a trained policy of an operation sees of the channel, besides the budget and the noise. */
export type ChannelFeature = "channel_gain" | "csi_history";

interface Sharing {
  /** [state, subcarrier] */
  power: Float64Array;
  states: number;
  subcarriers: number;
  /** SNR of each element at unit power, as far as the transmitter knows. */
  snrs?: Float64Array;
}

/** Shares out the power, loads the bits where asked to, and scales the symbols. */
export async function allocatePower(
  context: PowerContext,
  feature: ChannelFeature,
): Promise<OperationResult<"allocation" | "symbols">> {
  const { inputs, params } = context;
  const given = symbolsOf(inputs.symbols);
  const knowledge = inputs.channel_state && channelKnowledge(inputs.channel_state, params);
  const sharing = knowledge ? await shareKnown(knowledge, context, feature) : shareUnknown(given.length / 2, params);
  const { states, subcarriers } = sharing;
  const grid = { grids: 1, symbols: states, subcarriers };

  const bits = params.transport_mode === "allocation_aware_bit_loading" ? bitsOf(inputs.bits!) : undefined;
  const loaded = bits && load(bits, sharing, params);
  const unscaled = loaded ? modulateLoaded(bits, loaded) : given;
  checkResourceElements(grid, unscaled.length / 2);
  const symbols = new Float32Array(unscaled.length);
  for (let i = 0; i < symbols.length; i++) symbols[i] = unscaled[i] * Math.sqrt(sharing.power[i >> 1]);

  const record: JsonObject = {
    power_policy: params.policy,
    granularity: params.granularity,
    budget_mode: params.budget_mode,
    transport_mode: params.transport_mode,
    target_power: float(params.target_power),
    power_unit: params.power_unit,
    ...(params.granularity === "per_stream" ? { stream_count: params.stream_count } : {}),
    ...(params.policy === "learned_checkpoint" ? { checkpoint_sha256: params.checkpoint_sha256 } : {}),
    ...(params.policy === LEARNED_ARTIFACT ? { artifact_package_sha256: params.artifact_package_sha256 } : {}),
  };
  const { metadata } = inputs.symbols;
  const described = loaded
    ? { ...loadedMetadata({ ...metadata, ...inputs.bits!.metadata }, bits!.length, loaded.padding), ...record }
    : travel(metadata, record);
  const allocation: JsonObject = {
    ...record,
    state_count: states,
    subcarrier_count: subcarriers,
    symbol_count: symbols.length / 2,
    ...(knowledge ? { noise_variance: float(knowledge.state.noiseVariance) } : {}),
  };
  return {
    outputs: {
      allocation: {
        array: ndarray("float64", sharing.power, [states, subcarriers]),
        companions: loaded ? { bits_per_symbol: ndarray("uint8", loaded.loading, [states, subcarriers]) } : {},
        metadata: allocation,
      },
      symbols: symbolsArtifact(symbols, described, loaded ? {} : companionsOf(inputs.symbols)),
    },
    metrics: powerMetrics(symbols, knowledge, loaded),
    metadata: { label: params.label },
  };
}

function shareUnknown(symbolCount: number, params: PowerParams): Sharing {
  return { ...powersWithoutState(symbolCount, params), subcarriers: params.subcarrier_count };
}

async function shareKnown(
  knowledge: ChannelKnowledge,
  context: PowerContext,
  feature: ChannelFeature,
): Promise<Sharing> {
  const { params, files } = context;
  const { rows, repeat, state: { subcarriers, noiseVariance } } = knowledge;
  const grid = { rows, subcarriers, repeat };
  const snrs = policyGains(knowledge, params).map((gain) => gain / noiseVariance);
  const more = { states: rows * repeat, subcarriers, snrs: repeatRows(snrs, grid) };
  if (params.policy === "learned_checkpoint") {
    const bytes = await files.read(params.checkpoint_path);
    const { readPowerCheckpoint } = await import("./_power_checkpoint.ts");
    const network = readPowerCheckpoint(bytes, params.checkpoint_path, {
      sha256: params.checkpoint_sha256,
      maxBytes: params.checkpoint_max_bytes,
      strict: params.checkpoint_strict,
    });
    return { power: learnedPowers(network, knowledge, params), ...more };
  }
  if (params.policy === LEARNED_ARTIFACT) {
    const feeds = policyFeatures(knowledge, params, feature);
    const { allocation_scores } = await context.learned.run(feeds, { rows: params.model_batch_size });
    return { power: projectScores(allocation_scores.data as Float32Array, grid, params), ...more };
  }
  return { power: sharePower(snrs, grid, params), ...more };
}

/** @throws SvcError `boundary_count_mismatch` when the elements do not carry all bits */
function load(bits: Uint8Array, { power, snrs }: Sharing, params: PowerParams): LoadedBits {
  const loading = loadBits(power.map((p, i) => p * snrs![i]), {
    bpsk: params.bit_loading_bpsk_min_snr_db,
    qpsk: params.bit_loading_qpsk_min_snr_db,
    qam16: params.bit_loading_qam16_min_snr_db,
    qam64: params.bit_loading_qam64_min_snr_db,
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
