/**
 * Importance sampling by noise scaling: a channel draws its noise with `scale` times the standard deviation, so that errors
 * are frequent, and stores the likelihood ratio of each unit of symbols. With noise n ~ CN(0, N0), drawn from CN(0, s²·N0):
 *
 *     w_u = Π_i p(n_i)/q(n_i) = Π_i s²·exp(-|n_i|²/N0·(1 - 1/s²))        over the symbols i of unit u
 *     E_q[w·e] = E_p[e]
 *
 * The weights, float64 [units], are the companion array {@link WEIGHTS} of the received symbols; {@link SAMPLING} in the metadata
 * holds scale and units. They stay valid as long as an element of unit u depends on the symbols of unit u alone.
 *
 * Source: Smith, Shafi and Gao, "Quick simulation: a review of importance sampling techniques in communications systems",
 * IEEE JSAC 15(4), 1997.
 */
import { SvcError } from "./error.ts";
import type { ImportanceRole, InputArtifact, OperationResult, PlainDefinition, StreamInput } from "./operation.ts";
import { isObject, type JsonObject } from "./value.ts";

/** Companion array of the weights, and key of their record in the metadata. */
export const WEIGHTS = "importance_weight", SAMPLING = "importance_sampling";

/** Whether a step with these parameters scales its noise. */
export const scalesNoise = ({ importance_scale: scale }: { importance_scale?: unknown }): boolean =>
  scale !== undefined && Number(scale) !== 1;

/** The record of the weights of an input, or null. */
export function samplingOf(
  { [SAMPLING]: record }: JsonObject,
): { scale: number; units: number; symbols: number } | null {
  if (!isObject(record)) return null;
  const { scale, units, symbols } = record;
  return { scale: Number(scale), units: Number(units), symbols: Number(symbols) };
}

/** The operation with the treatment of weighted inputs that its role asks for. */
export function withImportance(definition: PlainDefinition): PlainDefinition {
  const { run, streaming, importance: role, id } = definition;
  const weighted = (inputs: Readonly<Record<string, InputArtifact | StreamInput | undefined>> = {}) =>
    Object.values(inputs).find((input) => input !== undefined && Object.hasOwn(input.metadata, SAMPLING));
  return {
    ...definition,
    run(context) {
      const input = weighted(context.inputs);
      if (input === undefined) return run(context);
      const { symbols } = samplingOf(input.metadata)!;
      if (role === undefined || role === "block" && symbols === 1) throw refusal(id, role);
      return role === "metric" ? run(context) : Promise.resolve(run(context)).then((result) => carried(result, input));
    },
    ...(streaming === undefined ? {} : {
      // Weights are companion arrays, which streams do not have.
      streaming: { ...streaming, open: (context) => weighted(context.inputs) ? null : streaming.open(context) },
    }),
  };
}

/** The error of an operation that cannot carry weights. */
export function refusal(operation: string, role: ImportanceRole | undefined): SvcError {
  return role === "block"
    ? new SvcError(
      "importance_unsupported",
      `Cannot decode blocks with ${operation} where each symbol has its own weight`,
      {
        hint: "Set importance_block_symbols of the channel to the symbols of a code word",
      },
    )
    : new SvcError("importance_unsupported", `Cannot use ${operation} after a channel with importance_scale`, {
      hint: "It ignores the weights of importance sampling: set importance_scale to 1, or measure with " +
        "metrics.bit_error_rate or metrics.block_error_rate",
    });
}

/** Adds the weights of an input to all arrays of a result. */
function carried(result: OperationResult, input: InputArtifact): OperationResult {
  const companions = { [WEIGHTS]: input.array(WEIGHTS) }, record = { [SAMPLING]: input.metadata[SAMPLING] };
  const outputs = Object.entries(result.outputs).map(([port, output]) => [
    port,
    output.array === undefined ? output : {
      ...output,
      companions: { ...output.companions, ...companions },
      metadata: { ...output.metadata, ...record },
    },
  ]);
  return { ...result, outputs: Object.fromEntries(outputs) };
}

/** The weights of a unit of noise samples. Shapes: noise interleaved (real, imaginary) [2n] -> float64 [ceil(n / symbols)]. */
export function importanceWeights(
  noise: Float32Array | Float64Array,
  { variance, scale, symbols }: { variance: number; scale: number; symbols: number },
): Float64Array {
  const weights = new Float64Array(Math.ceil(noise.length / 2 / symbols));
  const gain = 2 * Math.log(scale), slope = (1 - 1 / scale ** 2) / variance;
  for (let unit = 0; unit < weights.length; unit++) {
    const end = Math.min(noise.length, 2 * symbols * (unit + 1));
    let logarithm = 0;
    for (let i = 2 * symbols * unit; i < end; i += 2) {
      logarithm += gain - slope * (noise[i] * noise[i] + noise[i + 1] * noise[i + 1]);
    }
    weights[unit] = Math.exp(logarithm);
  }
  return weights;
}
