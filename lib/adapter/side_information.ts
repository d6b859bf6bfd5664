/**
 * Side information of adapters: metadata that a sender's code puts beside its array reaches the receiver's code without a
 * channel, so it is a rate that is counted.
 */
import { diagnostic } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import * as kinds from "../contract/kinds.ts";
import type { Metrics } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";

/** Bytes of each item that are free: shapes, types and lengths, which real systems put into headers. */
const FREE_BYTES = 64;
/** Bits of an item that are worth a warning. */
const LARGE_BITS = 1024;

const SIDE_INFORMATION = "rate.side_information_bits";

/** Kinds in front of a channel; behind it, metadata is a receiver's own. */
const SENT: readonly string[] = [
  kinds.PAYLOAD_BITS,
  kinds.CODED_BITS,
  kinds.FRAMED_BITS,
  kinds.SYMBOLS,
  kinds.INDICES,
  kinds.LATENTS,
];

export const isSent = (kind: string): boolean => SENT.includes(kind);

/** The bits of metadata beside the items of an array. */
export function sideInformation(
  metadata: JsonObject,
  items: number,
): { metrics: Metrics; warnings: JsonObject[] } {
  const bytes = Object.keys(metadata).length === 0 ? 0 : new TextEncoder().encode(canonicalJson(metadata)).length;
  const bits = 8 * Math.max(0, bytes - FREE_BYTES * items);
  const metrics = { [SIDE_INFORMATION]: BigInt(bits) };
  if (bits <= LARGE_BITS * items) return { metrics, warnings: [] };
  const message = `The metadata beside the link has ${bits} bits for ${items} item${items === 1 ? "" : "s"}`;
  const hint = "Send it in the array, or count it as rate: the receiver gets it without errors";
  const warning = diagnostic("side_information_large", [], message, { severity: "warning", hint });
  return { metrics, warnings: [warning as unknown as JsonObject] };
}
