/** Bits and channel uses of a link as a waterfall chart, from the accounting of a report. */
import { valueText } from "../runs/metrics.ts";

export interface RateStep {
  label: string;
  /** The added amount, or for a total the total. */
  amount: number;
  /** Start of its bar; 0 for totals. */
  from: number;
  kind: "total" | "added";
  unit: "bits" | "symbols";
  explanation: string;
}

/**
 * The steps from source bits to channel uses.
 *
 * @param report of `channel.communication_resource_accounting`
 * @returns no steps for a report without accounting
 */
export function rateSteps(report: Record<string, unknown>): RateStep[] {
  const accounting = report.accounting as Record<string, unknown> | undefined;
  if (typeof accounting !== "object" || accounting === null) return [];
  const of = (name: string): number => Number(accounting[name] ?? 0);
  const steps: RateStep[] = [];
  let level = 0;
  const add = (unit: RateStep["unit"], label: string, amount: number, explanation: string) => {
    // Stages that the link does not have are omitted.
    if (amount === 0) return;
    steps.push({ label, amount, from: level, kind: "added", unit, explanation });
    level += amount;
  };
  const total = (unit: RateStep["unit"], label: string, amount: number, explanation: string) => {
    steps.push({ label, amount, from: 0, kind: "total", unit, explanation });
    level = amount;
  };
  total("bits", "Payload", of("payload_bits"), "bits that the source coder made");
  add("bits", "Framing", of("framing_bits"), "headers, checksums and padding of packets");
  add("bits", "Error protection", of("fec_bits"), "redundancy of the channel code");
  add("bits", "Modulation padding", of("modulation_padding_bits"), "bits that fill the last symbol");
  total("bits", "Transmitted", of("transmitted_bits"), "bits that were mapped to symbols");
  total("symbols", "Data symbols", of("data_symbols"), "symbols that carry them");
  add("symbols", "Pilots", of("pilot_symbols"), "symbols the receiver knows");
  add("symbols", "Headers", of("header_symbols"), "symbols of headers");
  add("symbols", "Grid padding", of("grid_padding_symbols"), "symbols that fill the grid");
  total("symbols", "Channel uses", of("channel_uses"), "used by the link");
  return steps;
}

/** The waterfall in one sentence. */
export function rateSentence(steps: readonly RateStep[]): string {
  const amount = (label: string) => steps.find((step) => step.label === label)?.amount ?? 0;
  const [payload, sent, uses] = [amount("Payload"), amount("Transmitted"), amount("Channel uses")];
  if (!(payload > 0) || !(uses > 0)) return "The report has no payload.";
  return `${valueText(payload)} payload bits became ${valueText(sent)} transmitted bits in ` +
    `${valueText(uses)} channel uses: ${valueText(payload / uses)} payload bits a channel use.`;
}
