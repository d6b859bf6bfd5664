/**
 * Throughput of NR link adaptation over a channel that moves, by link abstraction: every slot of 14 OFDM symbols of a state carries a
 * transport block whose MCS follows an aged report, with an outer loop and HARQ (lib/numeric/link/adaptation_loop.ts). No code is run:
 * a block fails with the probability of the normal approximation at its effective Es/N0 of equal mutual information (factor 1; for NR
 * LDPC the calibrated factors lie within 5 % of it), less snr_margin_db for the loss of a real code.
 *
 * Each grid of a state is one realisation, on which reports, processes and outer loop start anew; the first report_delay_slots send
 * nothing. A block under way at the end counts for the slots that it used, and not as a block. Throughput: delivered bits over the resource
 * elements of all slots from the first report on. Draws: random() for each slot [grid, slot].
 */
import { float, type ParameterProblem, seedParameter, SvcError, z } from "../api.ts";
import { ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { declareUnit, rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { OFDM_STATE } from "../../lib/contract/kinds.ts";
import {
  type AdaptedBlock,
  type AdaptedRow,
  runAdaptationLoop,
  tabulatedEffectiveSnrDb,
} from "../../lib/numeric/link/adaptation_loop.ts";
import { predictedBlockErrorRate } from "../../lib/numeric/link/link_adaptation.ts";
import { type Modulation, MODULATION_BY_BITS } from "../../lib/numeric/link/modulations.ts";
import { checkFormat, FORMAT_PARAMS, formatOf, type FormatParams, rowsOf } from "../_nr_transport_format.ts";
import { defineReport, type Report } from "../_report.ts";

const SLOT_SYMBOLS = 14;

export default defineReport({
  id: "metrics.nr_adapted_throughput",
  name: "Throughput of NR link adaptation",
  description: "Adapts MCS slot by slot to aged reports of a moving channel, with an outer loop and HARQ",
  inputs: { channel_state: [OFDM_STATE] },
  params: z.strictObject({
    ...FORMAT_PARAMS,
    report_delay_slots: z.int().min(0).max(1000).default(4).describe(
      "age of a report and of an acknowledgement in slots",
    ),
    report_bias_db: z.number().min(-30).max(30).default(0).meta({ "x-svc-ui": { unit: "dB" } })
      .describe("error of all reports in dB"),
    outer_loop_step_db: z.number().min(0).max(10).default(0.5).meta({ "x-svc-ui": { unit: "dB" } })
      .describe("fall of the offset after a failed first transmission in dB; 0 switches the outer loop off"),
    target_bler: z.number().min(0.001).max(0.9).default(0.1).describe("block error rate of first transmissions"),
    snr_margin_db: z.number().min(-10).max(20).default(0.6).meta({ "x-svc-ui": { unit: "dB" } })
      .describe("loss in dB of the code against the normal approximation"),
    harq_processes: z.int().min(1).max(32).default(8).describe("slots from a transmission to the next of its block"),
    max_transmissions: z.int().min(1).max(16).default(4).describe("transmissions of a block; 1 is a link without HARQ"),
    seed: seedParameter(),
  }),
  check(params): ParameterProblem[] {
    return params.layers === 1 ? checkFormat(params) : [...checkFormat(params), {
      place: ["layers"],
      message: `Cannot adapt ${params.layers} layers: a state has one antenna on each side`,
      hint: "Set layers to 1",
    }];
  },
  run({ inputs, params, generator, progress }): Report {
    const { grids, symbols, subcarriers, h, noiseVariance } = ofdmStateOf(inputs.channel_state);
    if (symbols % SLOT_SYMBOLS !== 0 || subcarriers !== 12 * params.prb_count) {
      const message =
        `Cannot cut grids of ${symbols} OFDM symbols and ${subcarriers} subcarriers into slots of 14 symbols and ${
          12 * params.prb_count
        } subcarriers`;
      throw new SvcError("params_conflict", message, {
        hint: "Set prb_count to a twelfth of the subcarriers, and the OFDM symbols of a grid to a multiple of 14",
      });
    }
    const slots = symbols / SLOT_SYMBOLS, size = SLOT_SYMBOLS * subcarriers, rows = rowsThatFit(params);
    const elements = SLOT_SYMBOLS * params.prb_count * 12, counts: number[] = [], blocks: AdaptedBlock[] = [];
    let usedSlots = 0, offsets = 0, last = 0;
    for (let grid = 0; grid < grids; grid++) {
      const known = new Map<string, number>();
      const snrDb = (slot: number, modulation: Modulation) => {
        const key = `${slot} ${modulation}`;
        if (!known.has(key)) {
          const from = 2 * (grid * slots + slot) * size;
          const snrs = Float64Array.from(
            { length: size },
            (_, i) => (h[from + 2 * i] ** 2 + h[from + 2 * i + 1] ** 2) / noiseVariance,
          );
          known.set(key, tabulatedEffectiveSnrDb(modulation, snrs) - params.snr_margin_db);
        }
        return known.get(key)!;
      };
      const found = runAdaptationLoop(slots, snrDb, {
        rows,
        delay: params.report_delay_slots,
        biasDb: params.report_bias_db,
        stepDb: params.outer_loop_step_db,
        targetRate: params.target_bler,
        processes: params.harq_processes,
        maxTransmissions: params.max_transmissions,
      }, generator.random(slots));
      blocks.push(...found.blocks);
      counts.push(found.blocks.length);
      usedSlots += found.usedSlots;
      offsets += found.meanOffsetDb * found.usedSlots;
      last = found.lastOffsetDb;
      progress(grid + 1, grids, { unit: "realisations" });
    }
    const total = blocks.length,
      sum = (of: (block: AdaptedBlock) => number) => blocks.reduce((all, block) => all + of(block), 0);
    // The blocks of a realisation share its fading.
    const unit = declareUnit({}, "fading_block", { counts });
    const rates = {
      "harq.bler_1": rateCounts(blocks.map(({ firstFailed }) => Number(firstFailed)), unit, "fading_block"),
      "harq.residual_bler": rateCounts(blocks.map(({ delivered }) => Number(!delivered)), unit, "fading_block"),
    };
    return {
      metrics: {
        ...(usedSlots === 0 ? {} : {
          "harq.throughput_bits_per_symbol": sum(({ delivered, blockBits }) => delivered ? blockBits : 0) /
            (usedSlots * elements),
          "nr.outer_loop_offset_db": offsets / usedSlots,
        }),
        ...(total === 0 ? {} : {
          "harq.bler_1": sum(({ firstFailed }) => Number(firstFailed)) / total,
          "harq.residual_bler": sum(({ delivered }) => Number(!delivered)) / total,
          "harq.mean_transmissions": sum(({ transmissions }) => transmissions) / total,
        }),
        "harq.delivered_block_count": BigInt(sum(({ delivered }) => Number(delivered))),
        "harq.block_count": BigInt(total),
      },
      facts: { realisations: grids, slots, last_outer_loop_offset_db: float(last) },
      ...(total === 0 ? {} : { rates }),
    };
  },
});

/** The rows of the table that fit on the resources, with their Es/N0 at the target block error rate. */
function rowsThatFit(params: FormatParams & { target_bler: number }): AdaptedRow[] {
  const rows = rowsOf(params).flatMap((row): AdaptedRow[] => {
    try {
      const { blockBits, parameters } = formatOf(row, params);
      const errorRate = (snrDb: number) => predictedBlockErrorRate(parameters, snrDb);
      let low = -30, high = 50;
      while (high - low > 1e-3) {
        const middle = (low + high) / 2;
        if (errorRate(middle) > params.target_bler) low = middle;
        else high = middle;
      }
      // A constant channel asks for one Es/N0 again and again.
      const known = new Map<number, number>();
      const remembered = (snrDb: number) => {
        if (!known.has(snrDb)) known.set(snrDb, errorRate(snrDb));
        return known.get(snrDb)!;
      };
      return [{ modulation: MODULATION_BY_BITS[row[0]], blockBits, thresholdDb: high, errorRate: remembered }];
    } catch (error) {
      if (error instanceof RangeError) return [];
      throw error;
    }
  });
  if (rows.length > 0) return rows;
  throw new SvcError("params_conflict", `Cannot send a row of ${params.mcs_table} on these resources`, {
    hint: "Give the block more resource elements",
  });
}
