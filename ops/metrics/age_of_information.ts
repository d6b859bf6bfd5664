/**
 * Age of information of a link that sends status updates, a block of bits each: the average and the peak of the time since the
 * generation of the newest update that arrived without an error.
 *
 * Updates are generated every `update_period_s` and sent once: the measured ages are those of the observed sequence of errors,
 * between its first and its last arrival, and `age.independent_average_s` is the closed form for independent losses of the
 * same rate; the two differ where losses come in bursts. With `arrival_rate_hz` the report also has the ages of updates that
 * come at Poisson times, wait in a queue, and are sent until they arrive.
 *
 * An update takes `transmission_s`, or with symbols and a symbol rate the time of its symbols. Ages that are not finite (no two
 * arrivals, a queue at or above its capacity) are omitted, and `facts` say why. Formulas: lib/numeric/link/age_of_information.ts.
 */
import { BITS_ANY, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { float, SvcError, z } from "../api.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf, symbolsOf } from "../../lib/artifact/values.ts";
import { failedBlocks } from "../../lib/numeric/coding/bit_errors.ts";
import {
  type Age,
  ageInQueue,
  ageOfArrivals,
  ageOfIndependentLosses,
  repeatedAttempts,
} from "../../lib/numeric/link/age_of_information.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.age_of_information",
  name: "Age of information",
  description: "Average and peak age of status updates over a link with errors",
  inputs: { candidate: BITS_ANY, reference: BITS_ANY },
  optionalInputs: { symbols: SYMBOLS_ANY },
  params: z.strictObject({
    update_bits: z.int().positive().default(256).describe("bits of an update"),
    transmission_s: z.number().positive().default(1).describe("time of a transmission of an update in seconds"),
    symbol_rate_hz: z.number().nonnegative().default(0)
      .describe("symbols per second in Hz, which give the time of a transmission with symbols; 0 uses transmission_s"),
    update_period_s: z.number().nonnegative().default(0)
      .describe("time between updates in seconds; 0 sends them back to back"),
    arrival_rate_hz: z.number().nonnegative().default(0)
      .describe("rate in Hz of updates at Poisson times that are sent until they arrive; 0 for none"),
  }),
  run({ inputs, params }) {
    const { update_bits: size, arrival_rate_hz: rate } = params;
    const candidate = bitsOf(inputs.candidate), reference = bitsOf(inputs.reference);
    const count = reference.length / size;
    if (candidate.length !== reference.length || !Number.isInteger(count) || count === 0) {
      throw new SvcError(
        "boundary_count_mismatch",
        `Cannot divide ${reference.length} sent and ${candidate.length} received bits into updates of ${size}`,
        { hint: "Compare the bits before the encoder with those of the decoder, in whole updates" },
      );
    }
    const lost = Array.from(failedBlocks(candidate, reference, size));
    const counts = rateCounts(lost, inputs.candidate.metadata, "packet");
    const arrived = lost.filter((failed) => failed === 0).length;
    const delay = inputs.symbols !== undefined && params.symbol_rate_hz > 0
      ? symbolsOf(inputs.symbols).length / 2 / count / params.symbol_rate_hz
      : params.transmission_s;
    const times = { delay, period: params.update_period_s || delay }, probability = arrived / count;
    const measured = ageOfArrivals(lost.map((failed) => failed === 0), times);
    const queue = rate > 0 && arrived > 0 ? ageInQueue(rate, repeatedAttempts(delay, probability)) : undefined;
    const omitted = [
      ...(measured === undefined ? [`the ages: ${arrived} of ${count} updates arrived, two are needed`] : []),
      ...(queue !== undefined && queue.average === Infinity
        ? [`the ages in a queue: its load ${Number((rate * delay / probability).toPrecision(3))} is not below 1`]
        : []),
    ];
    const ages = (name: string, age: Age | undefined) =>
      age === undefined || !Number.isFinite(age.average)
        ? {}
        : { [`age.${name}average_s`]: age.average, [`age.${name}peak_s`]: age.peak };
    const metrics = {
      ...ages("", measured),
      ...ages("independent_", arrived === 0 ? undefined : ageOfIndependentLosses(probability, times)),
      ...ages("queue_", queue),
      "age.update_loss_rate": counts.events / counts.trials,
    };
    const facts = { transmission_s: float(delay), update_count: count, ...(omitted.length === 0 ? {} : { omitted }) };
    return { metrics, rates: { "age.update_loss_rate": counts }, facts };
  },
});
