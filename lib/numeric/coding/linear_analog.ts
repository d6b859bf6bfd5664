/**
 * Linear analog code of images: coefficients of a block transform are scaled and sent as amplitudes, without bits.
 *
 *     c = T·(image - 1/2)             T orthonormal: DCT-II of B x B blocks, and of the three colours
 *     x = g·λ^(-1/4)·c                sent coefficients in decreasing λ; two of them form a complex symbol
 *     y = a·x + n, n ~ CN(0, N0)      a contains the power normalisation and the gain of the channel
 *     â = mean of the pilots, which are sent as 1
 *     ĉ = G·λ / (G²·λ + v)·z          Wiener estimate of z = y/â: G = g·λ^(-1/4), v = N0 / (2·|â|²) per real part
 *
 * λ is the variance under the prior: brightness has the correlation ρ^(|dx|+|dy|), colour differences have the same form
 * and less power. g makes the mean power of the data symbols 1 under the prior. λ^(-1/4) minimises the mean squared error
 * at high Es/N0. Sides that are no multiples of B are continued by their last row and column. Symbols are in the order
 * pilots, then all blocks of the first coefficient, all blocks of the second; the last one may lack blocks.
 *
 * Shapes: image [height, width, channel] in [0, 1], channels 1 or 3; symbols interleaved (real, imaginary).
 *
 * Source: Lee and Petersen, Optimal linear coding for vector channels, IEEE Trans. Commun. 24(12), 1976; Jakubczak and
 * Katabi, A cross-layer design for scalable mobile video, MobiCom, 2011.
 */

/** Size of an image and settings of its code. */
export interface LinearAnalogSettings {
  readonly height: number;
  readonly width: number;
  /** 1 or 3. */
  readonly channels: number;
  /** Side of a block in pixels. */
  readonly blockSize: number;
  /** Largest number of complex symbols of the image, pilots included. */
  readonly symbols: number;
  /** Pilots among them. */
  readonly pilots: number;
  /** Correlation ρ of neighbouring pixels in the prior, in [0, 1). */
  readonly correlation: number;
}

/** The code of one image size. */
export interface LinearAnalogCode extends LinearAnalogSettings {
  readonly blocks: number;
  /** Real values sent, at most one per coefficient. */
  readonly values: number;
  /** Sent coefficients of a block as colour·B² + row·B + column, in decreasing variance. */
  readonly order: readonly number[];
  /** Prior variance of each sent coefficient. */
  readonly variances: readonly number[];
  /** Amplitude gain G of each sent coefficient. */
  readonly gains: readonly number[];
}

/** Prior variances of grey pixels, and of brightness and colour differences in the orthonormal colour transform. */
const GREY_VARIANCE = 0.06, COLOUR_VARIANCES = [0.18, 0.012, 0.002];

/**
 * Selects coefficients and gains.
 * @returns the code; its `symbols` are fewer than asked for when all coefficients are sent
 */
export function linearAnalogCode(settings: LinearAnalogSettings): LinearAnalogCode {
  const { height, width, channels, blockSize: side, symbols, pilots, correlation } = settings;
  const blocks = Math.ceil(height / side) * Math.ceil(width / side);
  const values = Math.min(2 * (symbols - pilots), blocks * channels * side * side);
  const line = lineVariances(side, correlation);
  const colours = channels === 1 ? [GREY_VARIANCE] : COLOUR_VARIANCES;
  const all = colours.flatMap((colour) => line.flatMap((row) => line.map((column) => colour * row * column)));
  const order = Array.from(all.keys()).sort((a, b) => all[b] - all[a] || a - b).slice(0, Math.ceil(values / blocks));
  const variances = order.map((at) => all[at]);
  const sent = (rank: number) => Math.min(blocks, values - rank * blocks);
  const power = variances.reduce((sum, variance, rank) => sum + sent(rank) * Math.sqrt(variance), 0);
  const dataSymbols = Math.ceil(values / 2), scale = Math.sqrt(dataSymbols / power);
  return {
    ...settings,
    symbols: pilots + dataSymbols,
    blocks,
    values,
    order,
    variances,
    gains: variances.map((variance) => scale * variance ** -0.25),
  };
}

/** Symbols of an image. @returns `code.symbols` complex values, interleaved */
export function linearAnalogEncode(code: LinearAnalogCode, image: ArrayLike<number>): Float32Array {
  const { pilots, blocks, values, order, gains, channels, blockSize } = code;
  const symbols = new Float32Array(2 * code.symbols);
  for (let at = 0; at < pilots; at++) symbols[2 * at] = 1;
  const size = channels * blockSize ** 2, block = new Float64Array(size), transform = blockTransform(code);
  for (let index = 0; index < blocks; index++) {
    readBlock(code, image, index, block);
    transform(block, false);
    for (let rank = 0, at = index; rank < order.length && at < values; rank++, at += blocks) {
      symbols[2 * pilots + at] = gains[rank] * block[order[rank]];
    }
  }
  return symbols;
}

/**
 * Image of received symbols, not clipped.
 * @param received `code.symbols` complex values, interleaved
 * @param noiseVariances variance of each complex symbol, or of all
 * @param adapt estimate the variance of each coefficient from its received power, with the prior counted as one block
 */
export function linearAnalogDecode(
  code: LinearAnalogCode,
  received: Float32Array,
  noiseVariances: number | ArrayLike<number>,
  adapt: boolean,
): Float64Array {
  const { height, width, channels, blockSize, pilots, blocks, values, order, gains } = code;
  const noiseOf = (symbol: number) => typeof noiseVariances === "number" ? noiseVariances : noiseVariances[symbol];
  const { estimates, noise } = withoutGain(received, pilots, noiseOf);
  order.forEach((_, rank) => {
    const gain = gains[rank], from = rank * blocks, to = Math.min(values, from + blocks);
    let power = gain * gain * code.variances[rank];
    if (adapt) power = receivedPower(estimates, noise, { from, to, power });
    for (let at = from; at < to; at++) {
      const total = power + noise[at >> 1];
      estimates[at] *= total > 0 ? power / total / gain : 0;
    }
  });
  const image = new Float64Array(height * width * channels);
  const block = new Float64Array(channels * blockSize ** 2), transform = blockTransform(code);
  for (let index = 0; index < blocks; index++) {
    block.fill(0);
    for (let rank = 0, at = index; rank < order.length && at < values; rank++, at += blocks) {
      block[order[rank]] = estimates[at];
    }
    transform(block, true);
    writeBlock(code, image, index, block);
  }
  return image;
}

/** Data divided by the gain of the pilots, and the noise variance of each real part per data symbol. */
function withoutGain(received: Float32Array, pilots: number, noiseOf: (symbol: number) => number) {
  let real = 0, imaginary = 0, weights = 0;
  for (let at = 0; at < pilots; at++) {
    const weight = 1 / Math.max(noiseOf(at), 1e-30);
    real += weight * received[2 * at];
    imaginary += weight * received[2 * at + 1];
    weights += weight;
  }
  real /= weights;
  imaginary /= weights;
  const power = real * real + imaginary * imaginary;
  const data = received.length / 2 - pilots;
  const estimates = new Float64Array(2 * data), noise = new Float64Array(data).fill(Infinity);
  if (power === 0) return { estimates, noise };
  for (let at = 0; at < data; at++) {
    const symbol = pilots + at, yr = received[2 * symbol], yi = received[2 * symbol + 1];
    estimates[2 * at] = (yr * real + yi * imaginary) / power;
    estimates[2 * at + 1] = (yi * real - yr * imaginary) / power;
    noise[at] = noiseOf(symbol) / 2 / power;
  }
  return { estimates, noise };
}

/** Power of a coefficient's values without noise: weighted by the inverse variance of their squares, never negative. */
function receivedPower(
  values: Float64Array,
  noise: Float64Array,
  { from, to, power }: { from: number; to: number; power: number },
): number {
  let weights = 1 / power ** 2, sum = power * weights;
  for (let at = from; at < to; at++) {
    const variance = noise[at >> 1];
    if (variance === Infinity) continue;
    const weight = 1 / (power + variance) ** 2;
    sum += weight * (values[at] ** 2 - variance);
    weights += weight;
  }
  return Math.max(0, sum / weights);
}

/** Variances of the DCT coefficients of a line of pixels with unit variance and the correlation ρ^distance. */
function lineVariances(side: number, correlation: number): number[] {
  const basis = cosines(side);
  return Array.from({ length: side }, (_, k) => {
    let sum = 0;
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) sum += basis[k * side + i] * basis[k * side + j] * correlation ** Math.abs(i - j);
    }
    return sum;
  });
}

/** Orthonormal DCT-II [frequency, position]. */
function cosines(size: number): Float64Array {
  return Float64Array.from({ length: size * size }, (_, at) => {
    const k = Math.floor(at / size), i = at % size;
    return Math.sqrt((k === 0 ? 1 : 2) / size) * Math.cos(Math.PI * k * (2 * i + 1) / (2 * size));
  });
}

/** Transforms a block [colour, row, column] in place, or back. */
function blockTransform({ blockSize: side, channels }: LinearAnalogSettings) {
  const plane = side * side;
  const axes = [{ size: channels, stride: plane }, { size: side, stride: side }, { size: side, stride: 1 }]
    .filter(({ size }) => size > 1)
    .map((axis) => ({ ...axis, basis: cosines(axis.size), line: new Float64Array(axis.size) }));
  return (block: Float64Array, inverse: boolean): void => {
    for (const { size, stride, basis, line } of axes) {
      for (let start = 0; start < block.length; start++) {
        if (Math.floor(start / stride) % size !== 0) continue;
        for (let i = 0; i < size; i++) line[i] = block[start + i * stride];
        for (let k = 0; k < size; k++) {
          let sum = 0;
          for (let i = 0; i < size; i++) sum += line[i] * (inverse ? basis[i * size + k] : basis[k * size + i]);
          block[start + k * stride] = sum;
        }
      }
    }
  };
}

function readBlock(settings: LinearAnalogSettings, image: ArrayLike<number>, index: number, block: Float64Array): void {
  const { height, width, channels, blockSize: side } = settings, columns = Math.ceil(width / side);
  const top = side * Math.floor(index / columns), left = side * (index % columns);
  for (let at = 0, channel = 0; channel < channels; channel++) {
    for (let y = top; y < top + side; y++) {
      for (let x = left; x < left + side; x++) {
        const pixel = Math.min(y, height - 1) * width + Math.min(x, width - 1);
        block[at++] = image[pixel * channels + channel] - 0.5;
      }
    }
  }
}

function writeBlock(settings: LinearAnalogSettings, image: Float64Array, index: number, block: Float64Array): void {
  const { height, width, channels, blockSize: side } = settings, columns = Math.ceil(width / side);
  const top = side * Math.floor(index / columns), left = side * (index % columns);
  for (let channel = 0; channel < channels; channel++) {
    for (let y = top; y < Math.min(top + side, height); y++) {
      for (let x = left; x < Math.min(left + side, width); x++) {
        const at = (channel * side + y - top) * side + x - left;
        image[(y * width + x) * channels + channel] = block[at] + 0.5;
      }
    }
  }
}
