/**
 * Slot for a classifier of BPSK, QPSK and 16QAM frames:
 *
 *     classical_cumulant     nearest fourth-order cumulants, blind to the phase
 *     classical_likelihood   largest likelihood at known noise, averaged over 64 phases
 *     classical_evm          smallest error vector after the M-th power phase estimate
 *     learned_artifact       a trained package: iq_ri [batch, sample, 2] -> class_logits [batch, 3]
 *
 * Formulas: lib/numeric/modulation_recognition.ts. No mode sees labels; equal scores go to the first class.
 *
 * Shapes: observation complex64 [frame, symbol] -> prediction int64 [frame], companions scores float64 [frame, class],
 * noise_variance and snr_db float64 [frame].
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import {
  LEARNED_ARTIFACT,
  learnedParameters,
  learnedProblems,
  realImaginary,
  slotAbi,
} from "../../lib/artifact/learned.ts";
import { travel } from "../../lib/artifact/values.ts";
import { bestClass, cumulantScores, evmScores, likelihoodScores } from "../../lib/numeric/modulation_recognition.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportPlanned } from "../_backends.ts";
import { CLASS_COUNT, CLASS_FACTS, classArray, MODULATION_IQ, MODULATION_PREDICTIONS } from "../_modulation.ts";

/** Frames in a call of a trained classifier. */
const ROWS = 1024;

const CLASSIFIERS = {
  classical_cumulant: cumulantScores,
  classical_likelihood: likelihoodScores,
  classical_evm: evmScores,
};

export default defineOperation({
  id: "model.modulation_classifier_adapter",
  name: "Modulation recognition slot",
  description: "Tells BPSK, QPSK and 16QAM frames apart, by a classical rule or by a trained artifact",
  inputs: { observation: [MODULATION_IQ] },
  outputs: { prediction: MODULATION_PREDICTIONS },
  params: z.strictObject({
    mode: z.enum(["classical_cumulant", "classical_likelihood", "classical_evm", LEARNED_ARTIFACT])
      .default("classical_cumulant"),
    ...learnedParameters("modulation_classifier"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "onnx" },
  materializations: [
    ...executed("numpy", "blind_differential_cumulant", { mode: "classical_cumulant" }),
    ...executed("numpy", "awgn_mixture_likelihood", { mode: "classical_likelihood" }),
    {
      runner: "benchmark_run",
      backend: "numpy",
      implementation: "minimum_constellation_evm",
      parameter_bindings: { mode: "classical_evm" },
    },
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "modulation_classification_training_endpoint"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "classifier",
    component_role: "modulation_classifier",
    entrypoint_id: "modulation_classifier",
    inputs: { iq_ri: ["batch", "sample", 2] },
    outputs: { class_logits: ["batch", 3] },
    required_operation_inputs: ["observation"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  outputMetadataGuarantees: { prediction: { from: "observation", keys: ["class_names", "classifier"] } },
  check: (params) => params.mode === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { mode } = context.params, arrays = arraysOf(context.inputs.observation);
    const frames = arrays.read("complex64", ["frame", "symbol"]);
    const noiseVariance = arrays.read("float64", ["frame"], "noise_variance");
    const snr = arrays.read("float64", ["frame"], "snr_db");
    const count = arrays.size("frame"), length = arrays.size("symbol"), scores = new Float64Array(CLASS_COUNT * count);
    if (mode === LEARNED_ARTIFACT) {
      const iq_ri = realImaginary(ndarray("complex64", frames, [count, length]));
      scores.set((await context.learned.run({ iq_ri }, { rows: ROWS })).class_logits.data as Float32Array);
    } else {
      for (let frame = 0; frame < count; frame++) {
        const own = frames.subarray(2 * frame * length, 2 * (frame + 1) * length);
        scores.set(CLASSIFIERS[mode](own, noiseVariance[frame]), CLASS_COUNT * frame);
      }
    }
    const classes = Array.from(
      { length: count },
      (_, i) => bestClass(scores.subarray(CLASS_COUNT * i, CLASS_COUNT * (i + 1))),
    );
    return {
      outputs: {
        prediction: {
          array: classArray(classes),
          companions: {
            scores: ndarray("float64", scores, [count, CLASS_COUNT]),
            noise_variance: ndarray("float64", noiseVariance.slice(), [count]),
            snr_db: ndarray("float64", snr.slice(), [count]),
          },
          metadata: travel(context.inputs.observation.metadata, { ...CLASS_FACTS, classifier: mode }),
        },
      },
    };
  },
});
