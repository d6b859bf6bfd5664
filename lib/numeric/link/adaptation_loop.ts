/**
 * Link adaptation in time, slot by slot, on the effective Es/N0 of a channel that moves.
 *
 *     report        effective Es/N0 in dB of the slot `delay` slots ago, plus a bias
 *     row           of largest payload whose threshold is at most report + Δ, else the one of lowest threshold
 *     outer loop    Δ falls by a step when a first transmission fails, and rises by step·t/(1 - t) when it does not, t the target
 *                   block error rate, when its acknowledgement arrives; then f/n = t - (1 - t)·Δ/(n·step) for f of n failures
 *     HARQ          `processes` stop-and-wait processes take turns; the copies of a block add their Es/N0 (chase combining), and it
 *                   fails at the k-th one if u < p(sum of k), u uniform and one for all copies of a block
 *
 * Sources: Sampath, Kumar and Holtzman, "On setting reverse link target SIR in a CDMA system", IEEE VTC 1997 (outer loop); Pedersen et
 * al., "Frequency domain scheduling for OFDMA with limited and noisy channel feedback", IEEE VTC Fall 2007 (its use on CQI).
 */
import { dbToLinear, linearToDb } from "./decibel.ts";
import { bitInterleavedStatistics } from "./link_adaptation.ts";
import type { Modulation } from "./modulations.ts";

const LEAST_DB = -40, MOST_DB = 60, STEP_DB = 0.1;
const tables = new Map<Modulation, Float64Array>();

/** Mutual information in steps of 0.1 dB, between which it is linear. */
function informationOf(modulation: Modulation): Float64Array {
  const known = tables.get(modulation) ?? Float64Array.from(
    { length: Math.round((MOST_DB - LEAST_DB) / STEP_DB) + 1 },
    (_, i) => bitInterleavedStatistics(modulation, dbToLinear(LEAST_DB + i * STEP_DB)).capacity,
  );
  tables.set(modulation, known);
  return known;
}

/**
 * Effective Es/N0 in dB of equal mutual information, from -40 to 60, by a table: fast for many slots.
 * @param snrs Es/N0 of the elements, linear
 */
export function tabulatedEffectiveSnrDb(modulation: Modulation, snrs: ArrayLike<number>): number {
  const table = informationOf(modulation), last = table.length - 1;
  let sum = 0;
  for (let i = 0; i < snrs.length; i++) {
    const at = Math.min(Math.max((linearToDb(Math.max(snrs[i], 1e-30)) - LEAST_DB) / STEP_DB, 0), last);
    const low = Math.min(Math.floor(at), last - 1);
    sum += table[low] + (at - low) * (table[low + 1] - table[low]);
  }
  const mean = sum / snrs.length;
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (table[middle] <= mean) low = middle;
    else high = middle;
  }
  const rise = table[high] - table[low];
  return LEAST_DB + STEP_DB * (low + (rise > 0 ? Math.min((mean - table[low]) / rise, 1) : 0));
}

/** A row of an MCS table on the resources of a slot. */
export interface AdaptedRow {
  readonly modulation: Modulation;
  readonly blockBits: number;
  /** Smallest Es/N0 in dB at which the row is chosen. */
  readonly thresholdDb: number;
  errorRate(snrDb: number): number;
}

export interface AdaptationLoop {
  readonly rows: readonly AdaptedRow[];
  /** Slots from a report, and from a transmission to its acknowledgement, to their use. */
  readonly delay: number;
  readonly biasDb: number;
  /** 0 without an outer loop. */
  readonly stepDb: number;
  readonly targetRate: number;
  readonly processes: number;
  readonly maxTransmissions: number;
}

/** Blocks that were delivered or given up, in the order of their end. */
export interface AdaptedBlock {
  readonly firstFailed: boolean;
  readonly delivered: boolean;
  readonly transmissions: number;
  readonly blockBits: number;
}

/**
 * Runs the loop over the slots of one realisation.
 * @param snrDb effective Es/N0 of a slot for a modulation
 * @param uniform a value for each slot; that of its first slot decides about a block
 */
export function runAdaptationLoop(
  slots: number,
  snrDb: (slot: number, modulation: Modulation) => number,
  { rows, delay, biasDb, stepDb, targetRate, processes, maxTransmissions }: AdaptationLoop,
  uniform: ArrayLike<number>,
) {
  const order = rows.toSorted((a, b) => b.blockBits - a.blockBits);
  const lowest = rows.reduce((least, row) => row.thresholdDb < least.thresholdDb ? row : least);
  const pending: ({ row: AdaptedRow; chance: number; snr: number; sent: number; firstFailed: boolean } | null)[] = Array
    .from({ length: processes }, () => null);
  const acknowledged: (boolean | undefined)[] = [], blocks: AdaptedBlock[] = [];
  let offset = 0, offsets = 0;
  for (let slot = delay; slot < slots; slot++) {
    const outcome = acknowledged[slot - Math.max(delay, 1)];
    if (outcome !== undefined) offset += outcome ? stepDb * targetRate / (1 - targetRate) : -stepDb;
    offsets += offset;
    const process = slot % processes;
    const block = pending[process] ??= {
      row: order.find((row) => row.thresholdDb <= snrDb(slot - delay, row.modulation) + biasDb + offset) ?? lowest,
      chance: uniform[slot],
      snr: 0,
      sent: 0,
      firstFailed: false,
    };
    block.snr += dbToLinear(snrDb(slot, block.row.modulation));
    const failed = block.chance < block.row.errorRate(linearToDb(block.snr));
    if (++block.sent === 1) {
      acknowledged[slot] = !failed;
      block.firstFailed = failed;
    }
    if (failed && block.sent < maxTransmissions) continue;
    const { firstFailed, sent: transmissions, row: { blockBits } } = block;
    blocks.push({ firstFailed, delivered: !failed, transmissions, blockBits });
    pending[process] = null;
  }
  const used = Math.max(slots - delay, 0);
  return { blocks, usedSlots: used, meanOffsetDb: used > 0 ? offsets / used : 0, lastOffsetDb: offset };
}
