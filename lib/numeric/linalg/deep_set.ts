/**
 * A permutation-equivariant network: every element passes the same layers phi, the mean over all elements is appended
 * to each of them, and the same layers rho map the pair to a score,
 *
 *     e_k = phi(x_k)        s_k = rho([e_k ; mean of e])
 *
 * so reordering the elements reorders the scores. A layer is y = x·W + b with W [inputs, outputs]; all layers except
 * the last of rho end with max(y, 0). Arithmetic is binary64.
 *
 * Source: Zaheer et al., "Deep Sets", NeurIPS 2017.
 */

export interface DenseLayer {
  readonly inputs: number;
  readonly outputs: number;
  /** [inputs, outputs] */
  readonly weight: Float64Array;
  readonly bias: Float64Array;
}

export interface DeepSet {
  readonly phi: readonly DenseLayer[];
  readonly rho: readonly DenseLayer[];
}

/**
 * The reason why layers do not form a network, or null: widths must match, rho begins with twice the outputs of phi and
 * ends with one score.
 */
export function deepSetProblem({ phi, rho }: DeepSet): string | null {
  if (phi.length === 0 || rho.length === 0) return "it has no layers phi or no layers rho";
  for (const [name, layers] of [["phi", phi], ["rho", rho]] as const) {
    for (let i = 0; i + 1 < layers.length; i++) {
      if (layers[i].outputs !== layers[i + 1].inputs) return `layers ${i} and ${i + 1} of ${name} do not fit`;
    }
  }
  if (rho[0].inputs !== 2 * phi.at(-1)!.outputs) return "rho does not take the outputs of phi and their mean";
  return rho.at(-1)!.outputs === 1 ? null : "rho does not end with one score";
}

/**
 * Scores of the elements of a set.
 * @param features [element, inputs of phi]
 * @returns one score per element, a new array
 */
export function deepSetScores({ phi, rho }: DeepSet, features: Float64Array): Float64Array<ArrayBuffer> {
  const count = features.length / phi[0].inputs;
  const width = phi.at(-1)!.outputs;
  const embedded = dense(phi, features, count, true);
  const pooled = new Float64Array(width);
  for (let i = 0; i < embedded.length; i++) pooled[i % width] += embedded[i] / count;
  const pairs = new Float64Array(2 * embedded.length);
  for (let k = 0; k < count; k++) {
    pairs.set(embedded.subarray(k * width, (k + 1) * width), 2 * k * width);
    pairs.set(pooled, (2 * k + 1) * width);
  }
  return dense(rho, pairs, count, false);
}

function dense(
  layers: readonly DenseLayer[],
  values: Float64Array,
  count: number,
  rectifyLast: boolean,
): Float64Array<ArrayBuffer> {
  let current = values;
  layers.forEach(({ inputs, outputs, weight, bias }, depth) => {
    const rectify = rectifyLast || depth + 1 < layers.length;
    const next = new Float64Array(count * outputs);
    for (let k = 0; k < count; k++) {
      for (let out = 0; out < outputs; out++) {
        let y = bias[out];
        for (let i = 0; i < inputs; i++) y += current[k * inputs + i] * weight[i * outputs + out];
        next[k * outputs + out] = rectify ? Math.max(y, 0) : y;
      }
    }
    current = next;
  });
  return current as Float64Array<ArrayBuffer>;
}
