/**
 * Trainable classifier of BPSK, QPSK and 16QAM frames, or by the classical modes of `classes`:
 *
 *     classical_cumulant     nearest fourth-order cumulants, independent of the phase
 *     classical_likelihood   largest likelihood at known noise, averaged over 64 phases
 *     classical_evm          smallest error vector after the M-th power phase estimate
 *     learned_artifact       iq_ri [batch, sample, 2] -> class_logits [batch, 3]
 *
 * Formulas: lib/numeric/link/modulation_recognition.ts. No mode receives labels; of equal scores the first class counts.
 *
 * Shapes: observation complex64 [frame, symbol] -> prediction int64 [frame], companions scores float64 [frame, class],
 * noise_variance and snr_db float64 [frame].
 */
import { defineSlot, LEARNED_ARTIFACT } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { travel } from "../../lib/artifact/values.ts";
import type { Modulation } from "../../lib/numeric/link/modulations.ts";
import {
  bestClass,
  cumulantScores,
  evmScores,
  likelihoodScores,
  MODULATION_CLASSES,
} from "../../lib/numeric/link/modulation_recognition.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { checkClasses, classArray, classesParameter, MODULATION_IQ, MODULATION_PREDICTIONS } from "../_modulation.ts";

export default defineSlot({
  id: "model.modulation_classifier_adapter",
  name: "Modulation recognition slot",
  description: "Classifies BPSK, QPSK and 16QAM frames, by a classical rule or by a trained artifact",
  inputs: { observation: [MODULATION_IQ] },
  outputs: { prediction: MODULATION_PREDICTIONS },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "onnx" },
  outputMetadataGuarantees: { prediction: { from: "observation" } },
  gradient: "surrogate",
  exports: { torch: "modulation_classification_training_endpoint" },
  twin: true,
  mode: { default: "classical_cumulant" },
  params: { classes: classesParameter() },
  check: ({ classes, mode }) => [
    ...checkClasses({ classes }),
    ...mode === LEARNED_ARTIFACT && classes !== undefined && classes.join() !== MODULATION_CLASSES.join()
      ? [{
        place: ["classes"],
        message: `Cannot classify ${classes.join(", ")} with an artifact: its scores are for ${
          MODULATION_CLASSES.join(", ")
        }`,
        hint: "Remove classes",
      }]
      : [],
  ],
  read({ inputs: { observation }, params: { classes = MODULATION_CLASSES } }) {
    const arrays = arraysOf(observation), frames = arrays.read("complex64", ["frame", "symbol"]);
    return {
      classes,
      frames,
      noiseVariance: arrays.read("float64", ["frame"], "noise_variance"),
      snr: arrays.read("float64", ["frame"], "snr_db"),
      count: arrays.size("frame"),
      length: arrays.size("symbol"),
    };
  },
  modes: {
    classical_cumulant: {
      implementation: "blind_differential_cumulant",
      run: (problem) => scored(problem, cumulantScores),
    },
    classical_likelihood: {
      implementation: "awgn_mixture_likelihood",
      run: (problem) => scored(problem, likelihoodScores),
    },
    classical_evm: {
      implementation: "minimum_constellation_evm",
      runners: ["benchmark_run"],
      run: (problem) => scored(problem, evmScores),
    },
  },
  learned: {
    component: { id: "classifier", role: "modulation_classifier", entrypoint: "modulation_classifier" },
    inputs: { iq_ri: ["batch", "sample", 2] },
    outputs: { class_logits: ["batch", 3] },
    meaning: {
      iq_ri: "received samples, real and imaginary part",
      class_logits: "score of each class, the largest one wins; order of the classes of the labels",
    },
    rows: 1024,
    async run({ frames, count, length }, call) {
      const { class_logits } = await call({ iq_ri: ndarray("float32", frames, [count, length, 2]) });
      return Float64Array.from(class_logits.data);
    },
  },
  result(scores, { classes: names, noiseVariance, snr, count }, { inputs, label }) {
    const width = names.length;
    const classes = Array.from(
      { length: count },
      (_, frame) => bestClass(scores.subarray(width * frame, width * (frame + 1))),
    );
    return {
      outputs: {
        prediction: {
          array: classArray(classes),
          companions: {
            scores: ndarray("float64", scores, [count, width]),
            noise_variance: ndarray("float64", noiseVariance.slice(), [count]),
            snr_db: ndarray("float64", snr.slice(), [count]),
          },
          metadata: travel(inputs.observation.metadata, { class_names: [...names], classifier: label }),
        },
      },
    };
  },
});

interface Frames {
  classes: readonly Modulation[];
  /** [frame, symbol], interleaved */
  frames: Float32Array;
  noiseVariance: Float64Array;
  count: number;
  length: number;
}

/** Scores of each frame separately, [frame, class]. */
function scored(
  { classes, frames, noiseVariance, count, length }: Frames,
  scoresOf: (frame: Float32Array, noiseVariance: number, classes: readonly Modulation[]) => ArrayLike<number>,
): Float64Array {
  const scores = new Float64Array(classes.length * count);
  for (let frame = 0; frame < count; frame++) {
    const own = frames.subarray(2 * frame * length, 2 * (frame + 1) * length);
    scores.set(scoresOf(own, noiseVariance[frame], classes), classes.length * frame);
  }
  return scores;
}
