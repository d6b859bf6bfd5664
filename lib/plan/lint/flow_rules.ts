/** Steps without effect on any number, metrics that do not see the channel, and misspelt names in the metadata. */
import { editDistance } from "../../contract/nearest.ts";
import { inputOf, type LintStep, type LintView, opOf, type Rule } from "./view.ts";
import { BIT_LINKS, SYMBOL_LINKS } from "./wiring.ts";

/** Operations over which content travels with errors. */
const CHANNELS = [
  ...SYMBOL_LINKS,
  ...BIT_LINKS,
  "wireless.mimo_ofdm_channel",
  "wireless.multipath_waveform",
  "noise.semantic_feature_noise",
];

/** Outputs that are results themselves: reports, networks, images and texts for a person. */
const RESULT_KIND = /report|bundle|\.batch|preview|format/;

/** Metadata that the program reads. */
const METADATA_KEYS = [
  "channel_enabled",
  "codec_timing",
  "matrix",
  "matrix_selection",
  "noise_variance",
  "rate_count_fixed_point",
  "research",
  "research_stage",
  "seed",
  "seed_namespace",
  "snr_db",
  "sweeps",
  "task_id",
  "training_performed",
  "ui_configured",
  "ui_sweeps",
];

/** Whether a name is a known one with a typing mistake; short names of another length are mostly other words. */
const isMisspelt = (name: string, known: string): boolean =>
  known.length > 6 ? editDistance(name, known) <= 2 : name.length === known.length && editDistance(name, known) === 1;

/** Steps that some other step reads. */
function readSteps(recipe: LintView): Set<LintStep> {
  return new Set(
    recipe.steps.flatMap((step) => Object.keys(step.inputs).flatMap((port) => recipe.source(step, port)?.step ?? [])),
  );
}

const isMetric = ({ op }: LintStep) => op.startsWith("metrics.");

export const FLOW_RULES: readonly Rule[] = [
  {
    code: "step_without_effect",
    severity: "warning",
    whenSound: true,
    *find(recipe) {
      if (!recipe.steps.some(isMetric)) return;
      const read = readSteps(recipe);
      for (const step of recipe.steps) {
        if (read.has(step) || isMetric(step) || step.contract === undefined || step.external !== undefined) continue;
        // An unused estimate has a finding of its own; a source without readers is often kept as data.
        if (step.op === "model.ofdm_channel_estimator") continue;
        const kinds = Object.values(step.outputs);
        if (kinds.length === 0 || kinds.some((kind) => RESULT_KIND.test(kind))) continue;
        yield {
          place: opOf(step),
          message: `${step.id} has no effect: no step reads its outputs, and it reports no metric`,
          hint: "Wire an output to a metric, or remove the step",
          step,
        };
      }
    },
  },
  {
    code: "metric_bypasses_channel",
    severity: "warning",
    whenSound: true,
    *find(recipe) {
      const channels = recipe.ofOp(...CHANNELS);
      if (channels.length === 0) return;
      const receiving = (step: LintStep) => recipe.ancestors(step);
      for (const step of recipe.steps.filter(isMetric)) {
        const sent = recipe.source(step, "reference");
        const port = Object.keys(step.inputs).find((name) => /^(candidate|reconstruction)$/.test(name));
        const scored = port === undefined ? undefined : recipe.source(step, port);
        if (sent === undefined || scored === undefined || sent.step === scored.step) continue;
        // The reference goes over a channel, and the candidate comes from this side of it.
        const crossed = channels.find((channel) => receiving(channel).has(sent.step));
        const past = [scored.step, ...receiving(scored.step)];
        if (crossed === undefined || past.some((one) => channels.includes(one))) continue;
        // Scores of the sender are kept beside those of the receiver; an error rate has a meaning behind a channel only.
        const rate = /_error_rate$/.test(step.op);
        const others = recipe.steps.some((other) =>
          other !== step && isMetric(other) && (!rate || other.op === step.op) &&
          [...receiving(other)].some((one) => channels.includes(one))
        );
        if (others) continue;
        yield {
          place: inputOf(step, port!),
          message: `${step.id} does not see ${crossed.id}: ${step.inputs[port!]} is an output of the sender`,
          hint: "Wire it to the received data, behind the channel",
          step,
        };
      }
    },
  },
  {
    code: "metadata_key_unknown",
    severity: "warning",
    *find(recipe) {
      for (const key of Object.keys(recipe.recipe.metadata)) {
        if (METADATA_KEYS.includes(key)) continue;
        // Own keys are allowed: only a name that is nearly a known one is taken for it.
        const near = METADATA_KEYS.find((known) => isMisspelt(key.toLowerCase(), known));
        if (near === undefined) continue;
        yield {
          place: ["metadata", key],
          message: `metadata.${key} has no effect: the program does not know it`,
          hint: `Did you mean ${near}?`,
        };
      }
    },
  },
];
