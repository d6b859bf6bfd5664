/**
 * Scores predictions of a satellite; the beam of a prediction is the nearest to its position:
 *
 *     ntn.doppler_mae_hz, ntn.doppler_rmse_hz  mean modulus and root of the mean square of the Doppler error
 *     ntn.beam_handover_accuracy               share of predictions with the true beam; also task.score
 *     ntn.beam_outage_rate                     share whose beam is more than 1 away from the true position
 *     ntn.handover_lead_time_mean_s            mean time from the prediction to the first handover, over handovers
 *                                              after which the predicted beam is true; omitted without any
 */
import { float } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { metadataOf } from "../../lib/artifact/values.ts";
import { servingBeam } from "../../lib/numeric/channel/leo_pass.ts";
import { rootMeanSquare } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { LEO_DECISION, LEO_TRUTH } from "../_leo.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.leo_ntn_tracking",
  name: "Satellite tracking scores",
  description: "Measures the errors of predicted Doppler and beams of a satellite",
  inputs: { decision: [LEO_DECISION], truth: [LEO_TRUTH] },
  inputMetadataRequirements: { truth: { all_of: ["beam_count"] } },
  twin: true,
  run({ inputs }) {
    const truths = arraysOf(inputs.truth), truth = truths.read("float64", ["example", 2]);
    const handovers = truths.read("float64", ["example"], "handover_s");
    const decision = truths.beside(inputs.decision).read("float64", ["example", 2]);
    const { beam_count: beamCount } = metadataOf(inputs.truth, LEO_TRUTH), examples = truths.size("example");
    const errors = new Float64Array(examples), leads: number[] = [];
    const lost = new Uint8Array(examples), misnamed = new Uint8Array(examples);
    for (let example = 0; example < examples; example++) {
      const position = truth[2 * example + 1], beam = servingBeam(decision[2 * example + 1], beamCount);
      const named = beam === servingBeam(position, beamCount);
      errors[example] = decision[2 * example] - truth[2 * example];
      if (!named) misnamed[example] = 1;
      if (Math.abs(beam - position) > 1) lost[example] = 1;
      if (named && handovers[example] > 0) leads.push(handovers[example]);
    }
    const outage = rateCounts(lost, {}, "source_item"), accuracy = successes(rateCounts(misnamed, {}, "source_item"));
    const right = 1 - accuracy.events / examples;
    return {
      pooled: { "ntn.doppler_rmse_hz": rootMeanSquare(errors) },
      metrics: {
        "ntn.doppler_mae_hz": mean(errors.map(Math.abs)),
        "ntn.beam_handover_accuracy": right,
        "ntn.beam_outage_rate": outage.events / examples,
        ...(leads.length > 0 ? { "ntn.handover_lead_time_mean_s": mean(leads) } : {}),
        "task.score": right,
      },
      rates: { "ntn.beam_outage_rate": outage, "ntn.beam_handover_accuracy": accuracy, "task.score": accuracy },
      facts: {
        example_count: examples,
        handover_count: handovers.filter((seconds) => seconds > 0).length,
        handovers_foreseen: leads.length,
        doppler_errors_hz: Array.from(errors, float),
      },
    };
  },
});
