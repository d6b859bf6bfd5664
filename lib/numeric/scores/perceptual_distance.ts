/**
 * Distances of two images over the features of a network, layer by layer. Features are [channel, position], channel-major.
 *
 * LPIPS of a layer: at each position the features are scaled to length 1 over the channels, with 1e-10 added to the length;
 * the squared differences are weighted per channel, summed over the channels, and averaged over the positions. LPIPS is the
 * sum over the layers. Source: Zhang et al., "The unreasonable effectiveness of deep features as a perceptual metric", CVPR
 * 2018, equation 1.
 *
 * DISTS: for each channel of a layer, with means m, variances v and covariance c over the positions,
 *
 *     texture   (2 m_x m_y + 1e-6) / (m_x² + m_y² + 1e-6)
 *     structure (2 c + 1e-6) / (v_x + v_y + 1e-6)
 *
 * DISTS is 1 minus the mean of all of them, weighted by alpha (texture) and beta (structure). Source: Ding et al., "Image
 * quality assessment: unifying structure and texture similarity", IEEE TPAMI 2022, equations 5 to 7.
 */

const LENGTH_OFFSET = 1e-10, STABILISER = 1e-6;

/** The share of a layer in LPIPS. @param weights one per channel */
export function lpipsLayer(x: ArrayLike<number>, y: ArrayLike<number>, weights: readonly number[]): number {
  const positions = x.length / weights.length;
  const lengths = [x, y].map((features) => {
    const squares = new Float64Array(positions);
    for (let i = 0; i < features.length; i++) squares[i % positions] += features[i] ** 2;
    return squares.map((square) => Math.sqrt(square) + LENGTH_OFFSET);
  });
  let sum = 0;
  weights.forEach((weight, channel) => {
    let squares = 0;
    for (let at = 0, i = channel * positions; at < positions; at++, i++) {
      squares += (x[i] / lengths[0][at] - y[i] / lengths[1][at]) ** 2;
    }
    sum += weight * squares;
  });
  return sum / positions;
}

/** The weights of DISTS, one per channel of a layer. */
export interface DistsWeights {
  alpha: readonly number[];
  beta: readonly number[];
}

/** The weighted sum of the similarities of a layer. DISTS is 1 - (sum over layers) / (sum of all weights). */
export function distsLayer(x: ArrayLike<number>, y: ArrayLike<number>, { alpha, beta }: DistsWeights): number {
  const positions = x.length / alpha.length;
  return alpha.reduce((sum, weight, channel) => {
    const from = channel * positions;
    let meanX = 0, meanY = 0;
    for (let i = from; i < from + positions; i++) meanX += x[i], meanY += y[i];
    meanX /= positions, meanY /= positions;
    let varianceX = 0, varianceY = 0, covariance = 0;
    for (let i = from; i < from + positions; i++) {
      const dx = x[i] - meanX, dy = y[i] - meanY;
      varianceX += dx * dx, varianceY += dy * dy, covariance += dx * dy;
    }
    const texture = (2 * meanX * meanY + STABILISER) / (meanX ** 2 + meanY ** 2 + STABILISER);
    const structure = (2 * covariance / positions + STABILISER) / ((varianceX + varianceY) / positions + STABILISER);
    return sum + weight * texture + beta[channel] * structure;
  }, 0);
}
