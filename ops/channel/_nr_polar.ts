/** The code parameters of NR polar codes from the encoder to the decoder, as the metadata `nr_polar`. */
import { isNumber, isObject, type JsonObject, SvcError, toNumber } from "../api.ts";
import { metadataCounts } from "../../lib/artifact/values.ts";
import { MESSAGE_TYPES, type PolarCode, polarCode } from "../../lib/numeric/coding/polar/code.ts";

export const NR_POLAR_KEY = "nr_polar";

/** The parameters of a coded bit stream for its receiver. */
export interface PolarStream {
  readonly code: PolarCode;
  readonly rnti: number;
  readonly blockCount: number;
  /** Zeros after the payload in the last block. */
  readonly paddingBits: number;
  /** Payload bits per source item. */
  readonly itemCounts: readonly number[] | undefined;
}

export const describeStream = ({ code, rnti, blockCount, paddingBits, itemCounts }: PolarStream): JsonObject => ({
  message_type: code.messageType,
  payload_bits: code.payloadBits,
  coded_bits: code.codedBits,
  segments: code.segments,
  crc_bits: code.crcBits,
  K: code.messageBits,
  N: code.motherBits,
  rate_matching: code.rateMatching,
  rnti,
  block_count: blockCount,
  padding_bits: paddingBits,
  ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
});

/**
 * Reads what {@link describeStream} wrote.
 * @throws SvcError `input_metadata_missing` without it, `boundary_value_invalid` for an invalid description
 */
export function readStream(metadata: JsonObject): PolarStream {
  const record = metadata[NR_POLAR_KEY];
  if (!isObject(record)) {
    throw new SvcError("input_metadata_missing", `Cannot decode NR polar: the metadata ${NR_POLAR_KEY} is missing`, {
      hint: "Put a channel.nr_polar_encoder step before the channel",
    });
  }
  const unreadable = (key: string) =>
    new SvcError("boundary_value_invalid", `Cannot decode NR polar: the metadata ${NR_POLAR_KEY}.${key} is invalid`);
  const count = (key: string, most = Number.MAX_SAFE_INTEGER): number => {
    const value = record[key], number = isNumber(value) ? toNumber(value) : NaN;
    if (!(Number.isSafeInteger(number) && number >= 0 && number <= most)) throw unreadable(key);
    return number;
  };
  const messageType = MESSAGE_TYPES.find((type) => type === record.message_type);
  if (messageType === undefined) throw unreadable("message_type");
  let code: PolarCode;
  try {
    code = polarCode(messageType, count("payload_bits"), count("coded_bits"));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("boundary_value_invalid", error.message);
  }
  const blockCount = count("block_count");
  return {
    code,
    rnti: count("rnti", 65535),
    blockCount,
    paddingBits: count("padding_bits", blockCount === 0 ? 0 : code.payloadBits - 1),
    itemCounts: metadataCounts(record, "source_item_counts"),
  };
}
