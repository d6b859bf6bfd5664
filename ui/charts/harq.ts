/** Blocks of a link with retransmissions, by the transmission that delivers them. */
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import type { BarFigure } from "../../lib/figure/types.ts";

/** Blocks that each transmission delivers, and those that none delivers. */
export interface Deliveries {
  delivered: number[];
  undelivered: number;
}

/** The deliveries of a report, or null. */
export function deliveriesOf(
  { delivered_at_transmission: delivered, undelivered_block_count: undelivered }: JsonObject,
): Deliveries | null {
  if (!Array.isArray(delivered) || !delivered.every(isNumber) || !isNumber(undelivered)) return null;
  return { delivered: delivered.map(toNumber), undelivered: toNumber(undelivered) };
}

/** One bar per transmission, and one for the blocks that are lost. */
export function deliveriesFigure(
  { delivered, undelivered }: Deliveries,
  facts: Pick<BarFigure, "title" | "subtitle" | "source">,
): BarFigure {
  const bar = (label: string, value: number, kind: "measured" | "baseline" = "measured") => ({
    label,
    kind,
    value,
    low: null,
    high: null,
  });
  return {
    ...facts,
    form: "bars",
    type: "harq-transmissions",
    value: { title: "Blocks", unit: "", scale: "linear", domain: null },
    bars: [
      ...delivered.map((count, index) => bar(`Transmission ${index + 1}`, count)),
      bar("Not delivered", undelivered, "baseline"),
    ],
  };
}
