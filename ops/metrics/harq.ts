/**
 * Throughput and block error rates of hybrid ARQ, from the reports of a decoder after 1 to 4 transmissions of the same
 * blocks. A block succeeds at the first report in which its CRC holds; later failures do not count. With a feedback delay of
 * d transmissions a block that succeeds at r has cost min(r + d, reports) transmissions.
 *
 *     bler_r                       share of blocks not delivered after r transmissions
 *     residual_bler                the same after the last one
 *     mean_transmissions           transmissions per block; an undelivered block has cost all of them
 *     throughput_bits_per_symbol   delivered payload bits / (transmissions · modulation symbols of a transmission)
 *
 * With one report it is the throughput of a link without retransmissions. The unit of intervals is the transport block.
 */
import { REPORT } from "../../lib/contract/kinds.ts";
import { type InputArtifact, isNumber, SvcError, toNumber, z } from "../api.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import type { Scores } from "../../lib/artifact/values.ts";
import { defineReport } from "../_report.ts";

const PORTS = ["report_1", "report_2", "report_3", "report_4"] as const;

export default defineReport({
  id: "metrics.harq",
  name: "HARQ throughput",
  description: "Throughput, transmissions and block error rates of a link with retransmissions",
  inputs: { report_1: [REPORT] },
  optionalInputs: { report_2: [REPORT], report_3: [REPORT], report_4: [REPORT] },
  params: z.strictObject({
    feedback_delay_transmissions: z.int().min(0).max(3).default(0)
      .describe("transmissions sent before an acknowledgement arrives"),
  }),
  formats: { artifact: "json", tensor: "none" },
  check: (_params, connected) => {
    const gap = PORTS.findIndex((port) => !connected.has(port));
    return PORTS.filter((port, index) => gap >= 0 && index > gap && connected.has(port)).map((port) => ({
      input: port,
      message: `Cannot count ${port} without ${PORTS[gap]}`,
      hint: `Wire ${PORTS[gap]}: reports count the transmissions from 1`,
    }));
  },
  run({ inputs, params }) {
    const wired = PORTS.filter((port) => inputs[port] !== undefined);
    const reports = wired.map((port) => readReport(inputs[port]!, port));
    const [first] = reports, count = first.passed.length;
    reports.forEach((report, index) => {
      const same = report.passed.length === count && report.size === first.size && report.symbols === first.symbols;
      if (!same) {
        throw new SvcError("params_conflict", `Cannot combine ${wired[index]} with report_1: their blocks differ`, {
          hint: "Decode the same blocks with every report",
        });
      }
    });
    // Index of the report that delivers a block, or the number of reports.
    const delivered = first.passed.map((_, block) => {
      const at = reports.findIndex(({ passed }) => passed[block]);
      return at < 0 ? reports.length : at;
    });
    const left = reports.map((_, index) =>
      rateCounts(delivered.map((at) => at > index ? 1 : 0), {}, "transport_block")
    );
    const used = delivered.map((at) => Math.min(at + 1 + params.feedback_delay_transmissions, reports.length));
    const transmissions = used.reduce((sum, one) => sum + one, 0);
    const arrived = delivered.filter((at) => at < reports.length).length;
    const payload = delivered.reduce(
      (sum, at, block) =>
        sum + (at < reports.length ? Math.min(first.size, first.payloadBits - block * first.size) : 0),
      0,
    );
    const rates = Object.fromEntries([
      ["harq.residual_bler", left.at(-1)!],
      ...left.map((counts, index) => [`harq.bler_${index + 1}`, counts] as const),
    ]);
    const metrics: Scores = {
      ...Object.fromEntries(
        Object.entries(rates).filter(() => count > 0).map(([name, { events, trials }]) => [name, events / trials]),
      ),
      ...(count > 0
        ? {
          "harq.mean_transmissions": transmissions / count,
          "harq.throughput_bits_per_symbol": payload / (transmissions * first.symbols),
        }
        : {}),
      "harq.delivered_block_count": BigInt(arrived),
      "harq.block_count": BigInt(count),
    };
    const histogram = reports.map((_, index) => delivered.filter((at) => at === index).length);
    return {
      metrics,
      facts: { delivered_at_transmission: histogram, undelivered_block_count: count - arrived },
      ...(count > 0 ? { rates } : {}),
    };
  },
});

/** @throws SvcError `boundary_value_invalid` for a report without decoded blocks */
function readReport(input: InputArtifact, port: string) {
  const { crc_passed: passed, ...facts } = input.json();
  const read = (key: string): number => {
    const value = facts[key];
    if (isNumber(value) && toNumber(value) >= 0) return toNumber(value);
    throw new SvcError("boundary_value_invalid", `Cannot count blocks of ${port}: the report has no ${key}`, {
      hint: "Wire the report of channel.nr_ldpc_decoder or channel.nr_polar_decoder",
    });
  };
  const symbols = read("symbols_per_block"), size = read("transport_block_size_bits");
  if (!Array.isArray(passed)) {
    throw new SvcError("boundary_value_invalid", `Cannot count blocks of ${port}: the report has no crc_passed`);
  }
  return { passed: passed.map((one) => one === true), size, symbols, payloadBits: read("payload_bits") };
}
