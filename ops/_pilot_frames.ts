/**
 * Frames of QPSK symbols with pilots, one per source item (all bits are one item if none are declared): a preamble of
 * pilots, then one pilot after each group of data symbols. The pilot context describes the frames for the receiver:
 * positions int32 in the whole stream as main array, values complex64 as companion, and symbols and bits of every frame
 * in the metadata.
 */
import { type InputArtifact, type JsonObject, type OutputArtifact, SvcError } from "./api.ts";
import { metadataCounts, metadataNumber } from "../lib/artifact/values.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";
import type { Pilots } from "../lib/numeric/link/phase_tracking.ts";

export const PILOT_CONTEXT = "channel.qpsk_pilot_context.numpy";
const VALUES = "values";

/** A frame for its receiver. */
export interface PilotFrame {
  /** First symbol in the stream, and number of symbols. */
  start: number;
  length: number;
  /** Data bits, without padding. */
  bits: number;
  /** Positions count from the start of the frame. */
  pilots: Pilots;
}

/** Positions of the pilots of a frame, and its length. */
export function framePositions(dataSymbols: number, preamble: number, spacing: number) {
  const positions = Array.from({ length: preamble }, (_, i) => i);
  for (let group = 1; group <= Math.floor(dataSymbols / spacing); group++) {
    positions.push(preamble + group * (spacing + 1) - 1);
  }
  return { positions, length: dataSymbols + positions.length };
}

export function pilotContext(positions: Int32Array, values: Float32Array, metadata: JsonObject): OutputArtifact {
  return { array: ndarray("int32", positions), companions: { [VALUES]: ndarray("complex64", values) }, metadata };
}

/**
 * Reads a pilot context for a stream of `count` symbols.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_value_invalid`, `boundary_count_mismatch`
 */
export function pilotFrames(context: InputArtifact, count: number): { frames: PilotFrame[]; preamble: number } {
  const { dtype, data } = context.array(), values = context.array(VALUES);
  const invalid = (why: string) => new SvcError("boundary_value_invalid", `Cannot use the pilot context: ${why}`);
  if (dtype !== "int32" || values.dtype !== "complex64") {
    throw new SvcError("boundary_dtype_invalid", "Cannot use the pilot context: positions are int32, values complex64");
  }
  const lengths = metadataCounts(context.metadata, "frame_symbol_counts");
  const bits = metadataCounts(context.metadata, "frame_bit_counts");
  const preamble = metadataNumber(context.metadata, "preamble_symbols");
  if (lengths === undefined || bits?.length !== lengths.length || preamble === undefined) {
    throw invalid("its metadata do not describe the frames");
  }
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total !== count) {
    throw new SvcError("boundary_count_mismatch", `Cannot cut ${count} symbols into frames of ${total} symbols`);
  }
  const positions = data as Int32Array, known = values.data as Float32Array;
  if (known.length !== 2 * positions.length) throw invalid("it does not have one value per position");
  const frames: PilotFrame[] = [];
  let start = 0, pilot = 0;
  lengths.forEach((length, index) => {
    const first = pilot;
    while (pilot < positions.length && positions[pilot] < start + length) {
      if (positions[pilot] < (pilot === first ? start : positions[pilot - 1] + 1)) {
        throw invalid("its positions are not ascending");
      }
      pilot++;
    }
    const own = Array.from(positions.subarray(first, pilot), (position) => position - start);
    if (own.length < Math.max(1, preamble) || 2 * (length - own.length) < bits[index]) {
      throw invalid(`its frame ${index} has too few pilots, or too few symbols for its bits`);
    }
    frames.push({
      start,
      length,
      bits: bits[index],
      pilots: { positions: own, values: known.subarray(2 * first, 2 * pilot) },
    });
    start += length;
  });
  if (pilot !== positions.length) throw invalid("it has pilots beyond the last frame");
  return { frames, preamble };
}
