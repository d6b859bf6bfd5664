/**
 * SSIM of one channel on several scales, and GMSD, for ../image_quality.ts, which has the formulas. The Gaussian window filters the
 * rows, then the columns, two pixels at a time; each sum is in the order of its taps, and totals in the order of the pixels.
 *
 * Memory from `BASE` on: for each scale the means of l·cs and of cs; the samples of both images; two lines each of sums and
 * differences, one each of their squares; a ring of filtered rows; planes of two coarser scales.
 */

const BASE: usize = 1024, WINDOW: i32 = 11, SAMPLES: usize = BASE + 128;
/** Bytes of the four filtered maps (sum, difference, their squares) of two pixels, and of room beside a line. */
const PAIR: usize = 64, SLACK: usize = 256;

/** Types of samples. */
const UINT8: i32 = 0, FLOAT32: i32 = 1;

/** The last six of the eleven weights; the window is symmetric. */
let w0: f64, w1: f64, w2: f64, w3: f64, w4: f64, w5: f64;

export function setWeights(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64): void {
  w0 = a;
  w1 = b;
  w2 = c;
  w3 = d;
  w4 = e;
  w5 = f;
}

export function resultsOffset(): usize {
  return BASE;
}
export function samplesOffset(): usize {
  return SAMPLES;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function aligned(at: usize): usize {
  return (at + 63) & ~63;
}

/** Bytes of a row of filtered maps. */
// @ts-ignore: decorator of AssemblyScript
@inline
function mapBytes(width: i32): usize {
  return PAIR * <usize>((width - WINDOW + 4) >> 1) | 64;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function lineBytes(width: i32): usize {
  return aligned(8 * <usize>width) + SLACK;
}

/** Makes room for two images of `bytes` each and for the work on one channel, or on their luma. @returns whether there is memory */
export function reserve(bytes: f64, height: i32, width: i32): bool {
  // In f64, because the sum may exceed the addresses.
  const coarse = 8 * <f64>(height >> 1) * <f64>(width >> 1) + <f64>SLACK;
  const lines = width < WINDOW ? 0 : <f64>(6 * lineBytes(width) + <usize>WINDOW * mapBytes(width)) + 4 * coarse;
  const work = Math.max(lines, <f64>(6 * lumaBytes(width >> 1)) + coarse);
  const pages = Math.ceil((<f64>(SAMPLES + 64 + SLACK) + 2 * bytes + work) / 65536);
  if (pages > 65536) return false;
  return <i32>pages <= memory.size() || memory.grow(<i32>pages - memory.size()) >= 0;
}

/**
 * Scores a channel.
 * @param kind type of the samples
 * @param bytes of an image; the second one follows the first
 */
export function similarity(
  kind: i32,
  bytes: usize,
  height: i32,
  width: i32,
  channels: i32,
  channel: i32,
  c1: f64,
  c2: f64,
  scales: i32,
): void {
  const line = lineBytes(width), lines = aligned(SAMPLES + 2 * bytes), ring = lines + 6 * line;
  const size = kind === UINT8 ? 1 : kind === FLOAT32 ? 4 : 8, step = size * <usize>channels;
  let first = SAMPLES + size * <usize>channel;
  // Planes of the coarser scales, alternately in two places.
  const room = 8 * <usize>(height >> 1) * <usize>(width >> 1) + SLACK;
  let plane = ring + <usize>WINDOW * mapBytes(width), next = plane + 2 * room;
  for (let scale = 0; scale < scales; scale++) {
    const valid = width - WINDOW + 1, row = mapBytes(width), half = width >> 1;
    const coarse = 8 * <usize>half * <usize>(height >> 1) + SLACK, planeBytes = 8 * <usize>width * <usize>height + SLACK;
    let ssim: f64 = 0, contrast: f64 = 0, sum: usize = 0, difference: usize = 0;
    for (let y = 0; y < height; y++) {
      const aboveSum = sum, aboveDifference = difference;
      if (scale === 0) {
        sum = lines + (y & 1 ? line : 0);
        difference = sum + 2 * line;
        readLine(kind, first, first + bytes, step, width, sum, difference);
        first += step * <usize>width;
      } else {
        sum = plane + 8 * <usize>y * <usize>width;
        difference = sum + planeBytes;
      }
      if (y & 1 && scale + 1 < scales) {
        const into = next + 8 * <usize>(y >> 1) * <usize>half;
        halveLines(aboveSum, sum, half, into);
        halveLines(aboveDifference, difference, half, into + coarse);
      }
      const squares = lines + 4 * line, into = ring + row * <usize>(y % WINDOW);
      square(sum, width, squares);
      square(difference, width, squares + line);
      filterLine(sum, valid, into);
      filterLine(difference, valid, into + 16);
      filterLine(squares, valid, into + 32);
      filterLine(squares + line, valid, into + 48);
      if (y < WINDOW - 1) continue;
      totals(ring, row, y + 1, valid, c1, c2, ssim, contrast);
      ssim = totalSsim;
      contrast = totalContrast;
    }
    const count = <f64>valid * <f64>(height - WINDOW + 1);
    store<f64>(BASE + 16 * <usize>scale, ssim / count);
    store<f64>(BASE + 16 * <usize>scale, contrast / count, 8);
    const used = plane;
    plane = next;
    next = used;
    width >>= 1;
    height >>= 1;
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function sample(kind: i32, at: usize): f64 {
  return kind === UINT8 ? <f64>load<u8>(at) : kind === FLOAT32 ? <f64>load<f32>(at) : load<f64>(at);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function readLineOf(kind: i32, x: usize, y: usize, step: usize, width: i32, sum: usize, difference: usize): void {
  for (const end = sum + 8 * <usize>width; sum < end; sum += 8, difference += 8, x += step, y += step) {
    const p = sample(kind, x), q = sample(kind, y);
    store<f64>(sum, p + q);
    store<f64>(difference, p - q);
  }
}

function readLine(kind: i32, x: usize, y: usize, step: usize, width: i32, sum: usize, difference: usize): void {
  if (kind === UINT8) readLineOf(UINT8, x, y, step, width, sum, difference);
  else if (kind === FLOAT32) readLineOf(FLOAT32, x, y, step, width, sum, difference);
  else readLineOf(2, x, y, step, width, sum, difference);
}

/** 2 x 2 means. */
function halveLines(above: usize, below: usize, half: i32, into: usize): void {
  for (const end = into + 8 * <usize>half; into < end; into += 8, above += 16, below += 16) {
    store<f64>(into, (load<f64>(above) + load<f64>(above, 8) + load<f64>(below) + load<f64>(below, 8)) / 4);
  }
}

function square(line: usize, width: i32, into: usize): void {
  for (const end = line + 8 * <usize>width; line < end; line += 16, into += 16) {
    const x = v128.load(line);
    v128.store(into, f64x2.mul(x, x));
  }
}

/** Filters along a line; values of two pixels go to each PAIR. Past the end of the line the results are not used. */
function filterLine(line: usize, valid: i32, into: usize): void {
  const a0 = f64x2.splat(w0), a1 = f64x2.splat(w1), a2 = f64x2.splat(w2), a3 = f64x2.splat(w3), a4 = f64x2.splat(w4);
  const a5 = f64x2.splat(w5);
  // Four pixels at a time, so that they share what is loaded.
  for (const end = line + 8 * <usize>valid; line < end; line += 32, into += 2 * PAIR) {
    const x5 = v128.load(line, 40), x7 = v128.load(line, 56), x6 = v128.load(line, 48), x8 = v128.load(line, 64);
    let s = f64x2.mul(a0, x5), t = f64x2.mul(a0, x7);
    const x4 = v128.load(line, 32), x9 = v128.load(line, 72);
    s = f64x2.add(s, f64x2.mul(a1, f64x2.add(x4, x6)));
    t = f64x2.add(t, f64x2.mul(a1, f64x2.add(x6, x8)));
    const x3 = v128.load(line, 24);
    s = f64x2.add(s, f64x2.mul(a2, f64x2.add(x3, x7)));
    t = f64x2.add(t, f64x2.mul(a2, f64x2.add(x5, x9)));
    const x2 = v128.load(line, 16), x10 = v128.load(line, 80);
    s = f64x2.add(s, f64x2.mul(a3, f64x2.add(x2, x8)));
    t = f64x2.add(t, f64x2.mul(a3, f64x2.add(x4, x10)));
    s = f64x2.add(s, f64x2.mul(a4, f64x2.add(v128.load(line, 8), x9)));
    t = f64x2.add(t, f64x2.mul(a4, f64x2.add(x3, v128.load(line, 88))));
    v128.store(into, f64x2.add(s, f64x2.mul(a5, f64x2.add(v128.load(line), x10))));
    v128.store(into, f64x2.add(t, f64x2.mul(a5, f64x2.add(x2, v128.load(line, 96)))), PAIR);
  }
}

let totalSsim: f64, totalContrast: f64;

/** Filters down the columns of a ring whose oldest row is `oldest` modulo its length, and adds the scores of its pixels. */
function totals(
  ring: usize,
  row: usize,
  oldest: i32,
  valid: i32,
  c1: f64,
  c2: f64,
  ssim: f64,
  contrast: f64,
): void {
  const r0 = ring + row * <usize>(oldest % WINDOW), r1 = ring + row * <usize>((oldest + 1) % WINDOW);
  const r2 = ring + row * <usize>((oldest + 2) % WINDOW), r3 = ring + row * <usize>((oldest + 3) % WINDOW);
  const r4 = ring + row * <usize>((oldest + 4) % WINDOW), r5 = ring + row * <usize>((oldest + 5) % WINDOW);
  const r6 = ring + row * <usize>((oldest + 6) % WINDOW), r7 = ring + row * <usize>((oldest + 7) % WINDOW);
  const r8 = ring + row * <usize>((oldest + 8) % WINDOW), r9 = ring + row * <usize>((oldest + 9) % WINDOW);
  const r10 = ring + row * <usize>((oldest + 10) % WINDOW);
  const k1 = f64x2.splat(c1), k2 = f64x2.splat(c2);
  let at: usize = 0;
  for (let left = valid; left > 0; left -= 2, at += PAIR) {
    const p0 = r0 + at, p1 = r1 + at, p2 = r2 + at, p3 = r3 + at, p4 = r4 + at, p5 = r5 + at;
    const p6 = r6 + at, p7 = r7 + at, p8 = r8 + at, p9 = r9 + at, p10 = r10 + at;
    const meanSum = down(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, 0);
    const meanDifference = down(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, 16);
    const p = f64x2.mul(meanSum, meanSum), m = f64x2.mul(meanDifference, meanDifference);
    const varianceSum = f64x2.sub(down(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, 32), p);
    const varianceDifference = f64x2.sub(down(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, 48), m);
    const c = f64x2.div(
      f64x2.add(f64x2.sub(varianceSum, varianceDifference), k2),
      f64x2.add(f64x2.add(varianceSum, varianceDifference), k2),
    );
    const l = f64x2.div(f64x2.add(f64x2.sub(p, m), k1), f64x2.add(f64x2.add(p, m), k1)), s = f64x2.mul(c, l);
    contrast += f64x2.extract_lane(c, 0);
    ssim += f64x2.extract_lane(s, 0);
    if (left === 1) break;
    contrast += f64x2.extract_lane(c, 1);
    ssim += f64x2.extract_lane(s, 1);
  }
  totalSsim = ssim;
  totalContrast = contrast;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function down(
  p0: usize,
  p1: usize,
  p2: usize,
  p3: usize,
  p4: usize,
  p5: usize,
  p6: usize,
  p7: usize,
  p8: usize,
  p9: usize,
  p10: usize,
  map: usize,
): v128 {
  let sum = f64x2.mul(f64x2.splat(w0), v128.load(p5 + map));
  sum = f64x2.add(sum, f64x2.mul(f64x2.splat(w1), f64x2.add(v128.load(p4 + map), v128.load(p6 + map))));
  sum = f64x2.add(sum, f64x2.mul(f64x2.splat(w2), f64x2.add(v128.load(p3 + map), v128.load(p7 + map))));
  sum = f64x2.add(sum, f64x2.mul(f64x2.splat(w3), f64x2.add(v128.load(p2 + map), v128.load(p8 + map))));
  sum = f64x2.add(sum, f64x2.mul(f64x2.splat(w4), f64x2.add(v128.load(p1 + map), v128.load(p9 + map))));
  return f64x2.add(sum, f64x2.mul(f64x2.splat(w5), f64x2.add(v128.load(p0 + map), v128.load(p10 + map))));
}

/** Bytes of a line of halved luma with a zero at each end. */
// @ts-ignore: decorator of AssemblyScript
@inline
function lumaBytes(columns: i32): usize {
  return aligned(8 * <usize>(columns + 2) + SLACK);
}

/**
 * GMSD of two images whose samples lie where `similarity` finds them.
 * Memory behind them: three lines of halved luma of each image, then the similarity of each pixel.
 */
export function gradientDeviation(kind: i32, bytes: usize, height: i32, width: i32, channels: i32, c: f64): f64 {
  const rows = height >> 1, columns = width >> 1, line = lumaBytes(columns), first = aligned(SAMPLES + 2 * bytes);
  const second = first + 3 * line, plane = second + 3 * line;
  memory.fill(first, 0, 6 * line);
  lumaLine(kind, SAMPLES, width, channels, columns, first);
  lumaLine(kind, SAMPLES + bytes, width, channels, columns, second);
  let total: f64 = 0, at = plane;
  for (let y = 0; y < rows; y++) {
    const below = line * <usize>((y + 1) % 3);
    if (y + 1 < rows) {
      lumaLine(kind, SAMPLES, width, channels, columns, first + below, y + 1);
      lumaLine(kind, SAMPLES + bytes, width, channels, columns, second + below, y + 1);
    } else {
      memory.fill(first + below, 0, line);
      memory.fill(second + below, 0, line);
    }
    const above = line * <usize>((y + 2) % 3);
    total = gradientLine(first, second, above, line * <usize>(y % 3), below, columns, c, at, total);
    at += 8 * <usize>columns;
  }
  const count = <f64>rows * <f64>columns, mean = total / count;
  let squares: f64 = 0;
  for (at = plane; at < plane + 8 * <usize>rows * <usize>columns; at += 8) {
    const difference = load<f64>(at) - mean;
    squares += difference * difference;
  }
  return Math.sqrt(squares / count);
}

/** A line of 2 x 2 means of luma, after a zero. */
function lumaLine(kind: i32, image: usize, width: i32, channels: i32, columns: i32, into: usize, y: i32 = 0): void {
  if (kind === UINT8) lumaLineOf(UINT8, image, width, channels, columns, into, y);
  else if (kind === FLOAT32) lumaLineOf(FLOAT32, image, width, channels, columns, into, y);
  else lumaLineOf(2, image, width, channels, columns, into, y);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function lumaLineOf(
  kind: i32,
  image: usize,
  width: i32,
  channels: i32,
  columns: i32,
  into: usize,
  y: i32,
): void {
  const size: usize = kind === UINT8 ? 1 : kind === FLOAT32 ? 4 : 8, step = size * <usize>channels;
  let above = image + step * <usize>width * <usize>(2 * y), below = above + step * <usize>width;
  for (let x = 0; x < columns; x++, above += 2 * step, below += 2 * step) {
    let sum = luma(kind, size, above, channels) / 4;
    sum += luma(kind, size, above + step, channels) / 4;
    sum += luma(kind, size, below, channels) / 4;
    sum += luma(kind, size, below + step, channels) / 4;
    store<f64>(into + 8 * <usize>(x + 1), sum);
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function luma(kind: i32, size: usize, at: usize, channels: i32): f64 {
  if (channels === 3) {
    return 0.299 * sample(kind, at) + 0.587 * sample(kind, at + size) + 0.114 * sample(kind, at + 2 * size);
  }
  const weight = 1 / <f64>channels;
  let sum: f64 = 0;
  for (let k = 0; k < channels; k++) sum += weight * sample(kind, at + size * <usize>k);
  return sum;
}

/** Similarities of the gradients of a line. @returns the total with those of the line */
function gradientLine(
  first: usize,
  second: usize,
  above: usize,
  middle: usize,
  below: usize,
  columns: i32,
  c: f64,
  into: usize,
  total: f64,
): f64 {
  const constant = f64x2.splat(c), two = f64x2.splat(2);
  for (let left = columns, x: usize = 0; left > 0; left -= 2, x += 16) {
    const g = gradient(first + above + x, first + middle + x, first + below + x);
    const h = gradient(second + above + x, second + middle + x, second + below + x);
    const s = f64x2.div(
      f64x2.add(f64x2.mul(f64x2.mul(two, g), h), constant),
      f64x2.add(f64x2.add(f64x2.mul(g, g), f64x2.mul(h, h)), constant),
    );
    v128.store(into + x, s);
    total += f64x2.extract_lane(s, 0);
    if (left > 1) total += f64x2.extract_lane(s, 1);
  }
  return total;
}

/** Magnitudes of the Prewitt gradient of two pixels from the lines above, of and below them. */
// @ts-ignore: decorator of AssemblyScript
@inline
function gradient(a: usize, b: usize, c: usize): v128 {
  const a0 = v128.load(a), a2 = v128.load(a, 16), c0 = v128.load(c), c2 = v128.load(c, 16);
  const across = f64x2.abs(
    f64x2.add(f64x2.add(f64x2.sub(a2, a0), f64x2.sub(v128.load(b, 16), v128.load(b))), f64x2.sub(c2, c0)),
  );
  const down = f64x2.abs(
    f64x2.add(f64x2.add(f64x2.sub(c0, a0), f64x2.sub(v128.load(c, 8), v128.load(a, 8))), f64x2.sub(c2, a2)),
  );
  // Scaled by the larger one, as a hypotenuse.
  const most = f64x2.max(across, down), p = f64x2.div(across, most), q = f64x2.div(down, most);
  const length = f64x2.mul(f64x2.sqrt(f64x2.add(f64x2.mul(p, p), f64x2.mul(q, q))), most);
  return f64x2.div(v128.and(length, f64x2.ne(most, f64x2.splat(0))), f64x2.splat(3));
}
