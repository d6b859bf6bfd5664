/**
 * What channels that were drawn carry, without running a code over them: ergodic and outage capacity, mutual information of soft
 * values, and effective Es/N0. Formulas and sources: lib/numeric/link/link_abstraction.ts.
 */
import {
  diagnostic,
  type InputArtifact,
  isNumber,
  isObject,
  type JsonObject,
  type Metrics,
  SvcError,
  toNumber,
  z,
} from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { rateCounts, unitRatio, unitSizes } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf, companionsOf, metadataText, symbolsOf } from "../../lib/artifact/values.ts";
import { BITS_ANY, LLR, OFDM_STATE, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import {
  bestScale,
  calibratedBeta,
  calibratedRows,
  elementCapacity,
  exponentialEffectiveSnrDb,
  informationEffectiveSnrDb,
  lostInformation,
} from "../../lib/numeric/link/link_abstraction.ts";
import { MCS_TABLES } from "../../lib/numeric/link/nr_transport_format.ts";
import { BITS_PER_SYMBOL, type Modulation, MODULATIONS } from "../../lib/numeric/link/modulations.ts";
import { ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean, quantile } from "../../lib/numeric/scores/statistics.ts";
import { MIMO_STATE, noiseOf } from "../_ofdm_grid.ts";
import { defineReport, type Report } from "../_report.ts";

/** Capacity of each grid in bit/s/Hz, and the Es/N0 of its layers. */
function blockCapacities(state: InputArtifact): { capacities: number[]; snrDb: number } {
  const noise = noiseOf(state);
  if (noise === 0) throw new SvcError("boundary_value_invalid", "Cannot find the capacity of a channel without noise");
  const arrays = arraysOf(state), several = state.kind === MIMO_STATE.id, rank = state.array().shape.length;
  const axes = several
    ? rank === 5 ? ["grid", "symbol", "subcarrier", "rx", "layer"] : ["grid", "subcarrier", "rx", "layer"]
    : ["grid", "symbol", "subcarrier"];
  const g = arrays.read("complex64", axes), grids = arrays.size("grid");
  const [rx, layers] = several ? [arrays.size("rx"), arrays.size("layer")] : [1, 1];
  const size = rx * layers, elements = grids === 0 ? 0 : g.length / (2 * grids * size);
  const capacities = Array.from({ length: grids }, (_, grid) => {
    let sum = 0;
    for (let i = 0; i < elements; i++) {
      sum += elementCapacity(g, (grid * elements + i) * size, { rx, layers, snr: 1 / noise });
    }
    return sum / elements;
  });
  return { capacities, snrDb: linearToDb(1 / noise) };
}

const STATE = { channel_state: [OFDM_STATE, MIMO_STATE] } as const;

/**
 * The mean over the grids of a state of the mean capacity of their resource elements, with equal power on the layers and no knowledge
 * at the transmitter. Units are grids; those of a realisation in motion are one unit, so that intervals need several runs.
 */
const ergodicCapacity = defineReport({
  id: "metrics.ergodic_capacity",
  name: "Ergodic capacity",
  description: "Mean capacity of the drawn channels of a state, known at the receiver only",
  inputs: STATE,
  run({ inputs }) {
    const { capacities, snrDb } = blockCapacities(inputs.channel_state);
    return {
      metrics: { "channel.snr_db": snrDb },
      pooled: capacities.length === 0 ? {} : {
        "capacity.ergodic_bps_hz": {
          reduction: "ratio_of_sums",
          sums: unitRatio(inputs.channel_state.metadata, capacities),
        },
      },
      facts: { grid_count: capacities.length },
    };
  },
});

/**
 * The share of grids whose capacity is below a rate, and the capacity that all grids but a share have. The second needs one grid
 * more than the inverse of that share.
 */
const outageCapacity = defineReport({
  id: "metrics.outage_capacity",
  name: "Outage capacity",
  description: "Probability that a drawn channel carries less than a rate, and the rate at a probability of outage",
  inputs: STATE,
  params: z.strictObject({
    rate_bps_hz: z.number().positive().max(100).default(1).describe("rate of a code word over one grid in bit/s/Hz"),
    outage_probability: z.number().positive().lt(1).default(0.01)
      .describe("share of grids that may fail at the outage capacity"),
  }),
  run({ inputs, params: { rate_bps_hz: rate, outage_probability: share } }) {
    const { capacities, snrDb } = blockCapacities(inputs.channel_state);
    const failed = capacities.map((capacity) => Number(capacity < rate)), events = failed.filter(Boolean).length;
    const enough = capacities.length > 1 / share;
    const message = `The capacity at an outage of ${share} needs more than ${
      Math.floor(1 / share)
    } grids, not ${capacities.length}`;
    const warning = diagnostic("realisations_too_few", [], message, {
      severity: "warning",
      hint: "Send more symbols, or raise outage_probability",
    });
    return {
      metrics: {
        ...(capacities.length === 0 ? {} : { "capacity.outage_probability": events / capacities.length }),
        "capacity.outage_count": BigInt(events),
        "capacity.realisation_count": BigInt(capacities.length),
        ...(enough ? { "capacity.outage_bps_hz": quantile(Float64Array.from(capacities), share) } : {}),
        "channel.snr_db": snrDb,
      },
      rates: { "capacity.outage_probability": rateCounts(failed, inputs.channel_state.metadata, "fading_block") },
      facts: { rate_bps_hz: rate, outage_probability: share },
      ...(enough ? {} : { metadata: { warnings: [warning as unknown as JsonObject] } }),
    };
  },
});

/** Batches of independent trials, whose sums have an interval. */
const BATCHES = 200;

/**
 * Information that LLRs carry about the sent bits: as they are, and at their best scale (generalised mutual information). Units are
 * those of the stream, else batches of equal size.
 *
 * capacity_gap takes a symbol X of m bits B_i and Es/N0 = 1/N0 from the record of the demodulator. A decoder of single bits achieves
 *
 *     R = H(X) - Σ_i H(B_i | L_i)        gap = Es/N0 - (2^R - 1), both in dB,
 *
 * with H(X) = m, or for shaped amplitudes A of both parts 2 H(A) + 2. The capacity of AWGN is R at the second term.
 *
 * Source of the rate: Böcherer, Steiner and Schulte, IEEE Trans. Commun. 63(12), 2015.
 */
const mutualInformation = defineReport({
  id: "metrics.mutual_information",
  name: "Mutual information of soft values",
  description: "Bits of information in each log-likelihood ratio, as it is and at the best scale",
  inputs: { llr: [LLR], reference: BITS_ANY },
  params: z.strictObject({
    capacity_gap: z.boolean().optional()
      .describe("report the achievable rate of a symbol and its gap to the capacity of AWGN; default false"),
  }),
  run({ inputs, params }): Report {
    const { dtype, data } = inputs.llr.array(), bits = bitsOf(inputs.reference);
    if (dtype !== "float32") {
      throw new SvcError("boundary_dtype_invalid", `Cannot read ${dtype}: log-likelihood ratios are float32`);
    }
    const llr = data as Float32Array;
    if (!llr.every((value) => !Number.isNaN(value))) {
      throw new SvcError("boundary_non_finite", "Cannot measure log-likelihood ratios: one is NaN");
    }
    if (llr.length !== bits.length) {
      throw new SvcError("length_mismatch", `Cannot compare ${llr.length} soft values with ${bits.length} bits`, {
        hint: "Compare both sides of the link at the same stage",
      });
    }
    if (bits.length === 0) return { metrics: {}, facts: { compare_bit_count: 0 } };
    const batch = Math.ceil(bits.length / BATCHES);
    const sizes = unitSizes(inputs.llr.metadata, bits.length) ??
      Array.from({ length: Math.ceil(bits.length / batch) }, (_, i) => Math.min(batch, bits.length - i * batch));
    const informed = (scale: number) => {
      let start = 0;
      return ratioSums(
        sizes.map((size) => size - lostInformation(bits, llr, scale, start, start += size)),
        sizes,
      );
    };
    const scale = bestScale(bits, llr);
    return {
      metrics: {
        "channel.llr_best_scale": scale,
        ...(params.capacity_gap ? capacityGap(inputs.llr, lostInformation(bits, llr, 1) / bits.length) : {}),
      },
      pooled: {
        "channel.mutual_information_bits": { reduction: "ratio_of_sums", sums: informed(1) },
        "channel.generalised_mutual_information_bits": { reduction: "ratio_of_sums", sums: informed(scale) },
      },
      facts: { compare_bit_count: bits.length },
    };
  },
});

/** Achievable rate of a symbol and its gap to capacity. @param lost bits of information that a soft value lacks */
function capacityGap(input: InputArtifact, lost: number): Metrics {
  const noise = noiseOf(input),
    name = metadataText(input.metadata, "modulation"),
    record = input.metadata.distribution_match;
  const shares = isObject(record) && Array.isArray(record.amplitude_shares)
    ? record.amplitude_shares.filter(isNumber).map(toNumber)
    : [];
  const uniform = MODULATIONS.find((one) => one === name);
  if (uniform === undefined && (name !== "shaped" || shares.length === 0)) {
    throw new SvcError(
      "input_metadata_missing",
      "Cannot find the rate of a symbol: the soft values have no known modulation",
      {
        hint: "Wire llr of demodulation.digital_demodulate behind BPSK, square QAM or shaped symbols",
      },
    );
  }
  const bits = uniform === undefined ? 2 + 2 * Math.log2(shares.length) : BITS_PER_SYMBOL[uniform];
  const entropy = uniform === undefined
    ? 2 - 2 * shares.reduce((sum, share) => sum + (share > 0 ? share * Math.log2(share) : 0), 0)
    : bits;
  const rate = entropy - bits * lost;
  // Rounding leaves soft values without information a rate about 1e-16.
  if (!(rate > 1e-9 && noise > 0)) return { "channel.achievable_rate_bits": rate };
  return {
    "channel.achievable_rate_bits": rate,
    "channel.capacity_gap_db": linearToDb(1 / noise) - linearToDb(2 ** rate - 1),
  };
}

/**
 * The Es/N0 of an AWGN channel that a code meets as it does the equalised symbols of each unit, such as a fading block: Es/N0 of a
 * symbol is the inverse of its noise variance after equalisation. mcs_index takes the factor that NR LDPC was calibrated to at 10 %
 * block errors (lib/numeric/data/effective_snr_betas.json, recipes/effective_snr_calibration.yaml).
 */
const effectiveSnr = defineReport({
  id: "metrics.effective_snr",
  name: "Effective Es/N0",
  description: "Maps the Es/N0 of equalised symbols to one of an AWGN channel, by EESM or mutual information",
  inputs: { rx_symbols: [RX_SYMBOLS] },
  params: z.strictObject({
    method: z.enum(["eesm", "rbir"]).default("rbir").describe("exponential mapping, or mean mutual information"),
    beta: z.number().positive().max(1000).optional()
      .describe("calibrated factor of Es/N0 for a modulation and code rate; default that of mcs_index, else 1"),
    mcs_index: z.int().min(0).max(31).optional().describe("row of NR LDPC whose stored factor is used"),
    mcs_table: z.enum(MCS_TABLES).default("table_1").describe("MCS table of mcs_index"),
    modulation: z.enum(["auto", ...MODULATIONS]).default("auto").meta({ "x-svc-used-when": { method: "rbir" } })
      .describe("constellation of the mutual information; auto uses that in the metadata"),
  }),
  check({ beta, method, mcs_index, mcs_table }) {
    if (mcs_index === undefined) return [];
    if (beta !== undefined) {
      return [{
        place: ["beta"],
        message: "Cannot use both a factor and the stored one of an MCS row",
        hint: "Remove beta or mcs_index",
      }];
    }
    return calibratedBeta(method, mcs_table, mcs_index) ? [] : [{
      place: ["mcs_index"],
      message: `Cannot find a factor: row ${mcs_index} of ${mcs_table} was not calibrated`,
      hint: `Set beta, or mcs_index to one of these rows: ${calibratedRows()}`,
    }];
  },
  run({ inputs: { rx_symbols: received }, params }): Report {
    const { method, modulation, mcs_index, mcs_table } = params;
    const row = mcs_index === undefined ? undefined : calibratedBeta(method, mcs_table, mcs_index);
    const beta = params.beta ?? row?.beta ?? 1;
    const variances = companionsOf(received).noise_variance?.data as Float32Array | undefined;
    const count = symbolsOf(received).length / 2;
    if (variances === undefined || variances.length !== count) {
      throw new SvcError("input_metadata_missing", "Cannot find the noise variance of each symbol after equalisation", {
        hint: "Equalise first: demodulation.ofdm_equalize, demodulation.mimo_detect or a matched receiver writes it",
      });
    }
    const used = modulation === "auto" ? metadataText(received.metadata, "modulation") : modulation;
    if (row !== undefined && used !== undefined && used !== row.modulation) {
      throw new SvcError("params_conflict", `Cannot map ${used} by the factor of MCS row ${mcs_index}`, {
        hint: `The row has ${row.modulation}; set mcs_index to the row of the link, or set beta`,
      });
    }
    if (method === "rbir" && !(MODULATIONS as readonly string[]).includes(used ?? "")) {
      throw new SvcError("input_metadata_missing", "Cannot find the modulation of the symbols", {
        hint: "Set modulation",
      });
    }
    const values: number[] = [], sizes = unitSizes(received.metadata, count) ?? [count];
    let start = 0;
    for (const size of sizes) {
      if (size === 0) continue;
      const snrs = Float64Array.from(variances.subarray(start, start += size), (variance) => 1 / variance);
      values.push(
        method === "eesm"
          ? exponentialEffectiveSnrDb(snrs, beta)
          : informationEffectiveSnrDb(snrs, beta, used as Modulation),
      );
    }
    return {
      metrics: values.length === 0 ? {} : {
        "channel.effective_snr_db": mean(values),
        "channel.least_effective_snr_db": Math.min(...values),
      },
      items: values.map((value) => ({ effective_snr_db: value })),
      facts: { unit_count: values.length, beta },
    };
  },
});

export default [ergodicCapacity, outageCapacity, mutualInformation, effectiveSnr];
