/**
 * RGB and YCbCr rows of the JPEG codec, their downsampling and upsampling, sixteen samples at a time.
 *
 * JFIF 1.02 (ITU-R BT.601, full range) in fixed point with 16 fraction bits and libjpeg's rounding: half up for Y, slightly
 * below the half for Cb and Cr. Downsampling averages 2x1 or 2x2 samples with a rounding that alternates from column to
 * column. Upsampling by two is the triangle filter 3/4, 1/4 with libjpeg's alternating rounding ("fancy upsampling").
 *
 * Rows may be read up to 32 bytes past their end and written up to 48 past it; rows are written in rising order.
 */

/** Samples 0 … 3 of R and G, and of B and G, as pairs of 16 bits. */
const RG: v128 = i8x16(0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1);
const BG: v128 = i8x16(2, -1, 1, -1, 5, -1, 4, -1, 8, -1, 7, -1, 11, -1, 10, -1);

// @ts-ignore: decorator of AssemblyScript
@inline
function samples(a: v128, b: v128, c: v128, d: v128): v128 {
  return i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}

/**
 * Pairs of weights: of R and G, then of B and G, for Y (half of the weight of G in each, since 38470 has more than 16 bits),
 * for -Cb and for -Cr; of Cb and Cr for G; the factors of Cr and of Cb for R and B. Constants in memory are faster than those
 * in the code, which are made again for each use.
 */
const WEIGHTS = memory.data<i16>([
  19595, 22086, 7471, 16384, 11058, 0, -32768, 21710, -32768, 27439, 5329, 0, -22554, 18734, 13173, 13173, -7471, -7471,
], 16);
/** The rounding half of Y and G, and the sum of the offset of Cb and Cr and of their half. */
const HALVES = memory.data<i32>([1 << 15, (128 << 16) + (1 << 15) - 1], 16);
/** Pairs of 16 bits: the offset of Cb and Cr, and the rounding of sums in pairs of columns. */
const ROUNDING = memory.data<i16>([128, 128, 0, 1, 1, 2, 1, 1, 2, 2, 8, 8, 7, 7], 4);
const OFFSET: usize = ROUNDING, HALVE_2: usize = ROUNDING + 4, HALVE_4: usize = ROUNDING + 8, ONE: usize = ROUNDING + 12;
const TWO: usize = ROUNDING + 16, EIGHT: usize = ROUNDING + 20, SEVEN: usize = ROUNDING + 24;

// @ts-ignore: decorator of AssemblyScript
@inline
function splat(address: usize): v128 {
  return v128.load32_splat(address);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function weights(index: usize): v128 {
  return splat(WEIGHTS + 4 * index);
}

/** 0.299 R + 0.587 G + 0.114 B; the weight of G, too large for 16 bits, in two parts. */
// @ts-ignore: decorator of AssemblyScript
@inline
function luma(rg: v128, ofRg: v128, bg: v128, ofBg: v128, half: v128): v128 {
  const sum = i32x4.add(i32x4.dot_i16x8_s(rg, ofRg), i32x4.dot_i16x8_s(bg, ofBg));
  return i32x4.shr_u(i32x4.add(sum, half), 16);
}

/** Cb or Cr from its negative, whose weights have 16 bits: 0.5 is 32768/65536. */
// @ts-ignore: decorator of AssemblyScript
@inline
function chroma(own: v128, ofOwn: v128, other: v128, ofOther: v128, half: v128): v128 {
  const negative = i32x4.add(i32x4.dot_i16x8_s(own, ofOwn), i32x4.dot_i16x8_s(other, ofOther));
  return i32x4.shr_u(i32x4.sub(half, negative), 16);
}

/** One row of pixels to three rows of samples. */
function rowToYcc(rgb: usize, width: i32, y: usize, blue: usize, red: usize): void {
  const yRg = weights(0), yBg = weights(1), blueRg = weights(2), blueBg = weights(3), redRg = weights(4);
  const redBg = weights(5), lumaHalf = splat(HALVES), half = splat(HALVES + 4);
  for (let x: usize = 0; x < <usize>width; x += 16, rgb += 48) {
    const p0 = v128.load(rgb), p1 = v128.load(rgb, 12), p2 = v128.load(rgb, 24), p3 = v128.load(rgb, 36);
    const rg0 = i8x16.swizzle(p0, RG), bg0 = i8x16.swizzle(p0, BG);
    const rg1 = i8x16.swizzle(p1, RG), bg1 = i8x16.swizzle(p1, BG);
    const rg2 = i8x16.swizzle(p2, RG), bg2 = i8x16.swizzle(p2, BG);
    const rg3 = i8x16.swizzle(p3, RG), bg3 = i8x16.swizzle(p3, BG);
    v128.store(
      y + x,
      samples(
        luma(rg0, yRg, bg0, yBg, lumaHalf),
        luma(rg1, yRg, bg1, yBg, lumaHalf),
        luma(rg2, yRg, bg2, yBg, lumaHalf),
        luma(rg3, yRg, bg3, yBg, lumaHalf),
      ),
    );
    v128.store(
      blue + x,
      samples(
        chroma(bg0, blueBg, rg0, blueRg, half),
        chroma(bg1, blueBg, rg1, blueRg, half),
        chroma(bg2, blueBg, rg2, blueRg, half),
        chroma(bg3, blueBg, rg3, blueRg, half),
      ),
    );
    v128.store(
      red + x,
      samples(
        chroma(rg0, redRg, bg0, redBg, half),
        chroma(rg1, redRg, bg1, redBg, half),
        chroma(rg2, redRg, bg2, redBg, half),
        chroma(rg3, redRg, bg3, redBg, half),
      ),
    );
  }
}

/** Repeats the last sample of a row up to its padded width. */
// @ts-ignore: decorator of AssemblyScript
@inline
function padRow(row: usize, width: i32, padded: i32): void {
  memory.fill(row + <usize>width, load<u8>(row + <usize>width - 1), <usize>(padded - width));
}

/** Repeats the last of `rows` rows up to `padded` rows. */
function padRows(plane: usize, stride: i32, rows: i32, padded: i32): void {
  const last = plane + <usize>((rows - 1) * stride);
  for (let row = rows; row < padded; row++) memory.copy(plane + <usize>(row * stride), last, <usize>stride);
}

/** Averages pairs of columns: `count` samples. */
function halveColumns(row: usize, target: usize, count: i32): void {
  const bias = splat(HALVE_2);
  for (let x: usize = 0; x < <usize>count; x += 16) {
    const left = i16x8.extadd_pairwise_i8x16_u(v128.load(row + 2 * x));
    const right = i16x8.extadd_pairwise_i8x16_u(v128.load(row + 2 * x, 16));
    v128.store(
      target + x,
      i8x16.narrow_i16x8_u(i16x8.shr_u(i16x8.add(left, bias), 1), i16x8.shr_u(i16x8.add(right, bias), 1)),
    );
  }
}

/** Averages 2x2 samples: `count` of them. */
function halveBoth(upper: usize, lower: usize, target: usize, count: i32): void {
  const bias = splat(HALVE_4);
  for (let x: usize = 0; x < <usize>count; x += 16) {
    const left = i16x8.add(
      i16x8.extadd_pairwise_i8x16_u(v128.load(upper + 2 * x)),
      i16x8.extadd_pairwise_i8x16_u(v128.load(lower + 2 * x)),
    );
    const right = i16x8.add(
      i16x8.extadd_pairwise_i8x16_u(v128.load(upper + 2 * x, 16)),
      i16x8.extadd_pairwise_i8x16_u(v128.load(lower + 2 * x, 16)),
    );
    v128.store(
      target + x,
      i8x16.narrow_i16x8_u(i16x8.shr_u(i16x8.add(left, bias), 2), i16x8.shr_u(i16x8.add(right, bias), 2)),
    );
  }
}

/**
 * A strip of grey pixels: eight rows of samples, padded to whole blocks by the last column and the last row.
 * @param rows pixel rows, 1 … 8
 */
export function greyStrip(pixels: usize, rows: i32, width: i32, plane: usize, stride: i32): void {
  for (let row = 0; row < rows; row++) {
    const line = plane + <usize>(row * stride);
    memory.copy(line, pixels + <usize>(row * width), <usize>width);
    padRow(line, width, stride);
  }
  padRows(plane, stride, rows, 8);
}

/**
 * A strip of RGB pixels: 8·vertical rows of Y samples and eight rows of Cb and of Cr. Padding repeats the last column
 * before and the last row after downsampling.
 * @param rows pixel rows, 1 … 8·vertical
 * @param full four rows of chroma at full resolution, each with room for horizontal·chromaStride + 16 samples
 */
export function colorStrip(
  pixels: usize,
  rows: i32,
  width: i32,
  horizontal: i32,
  vertical: i32,
  lumaPlane: usize,
  lumaStride: i32,
  bluePlane: usize,
  redPlane: usize,
  chromaStride: i32,
  full: usize,
): void {
  const fullWidth = horizontal * chromaStride, fullStride = <usize>(fullWidth + 16);
  const chromaRows = (rows + vertical - 1) / vertical;
  for (let group = 0; group < chromaRows; group++) {
    const blueTarget = bluePlane + <usize>(group * chromaStride), redTarget = redPlane + <usize>(group * chromaStride);
    for (let part = 0; part < vertical; part++) {
      const row = group * vertical + part;
      const blue = horizontal == 1 ? blueTarget : full + <usize>part * fullStride;
      const red = horizontal == 1 ? redTarget : full + <usize>(2 + part) * fullStride;
      if (row >= rows) { // odd height: the last row is repeated
        memory.copy(blue, blue - fullStride, <usize>fullWidth);
        memory.copy(red, red - fullStride, <usize>fullWidth);
        continue;
      }
      const line = lumaPlane + <usize>(row * lumaStride);
      rowToYcc(pixels + <usize>(3 * row * width), width, line, blue, red);
      padRow(line, width, lumaStride);
      padRow(blue, width, fullWidth);
      padRow(red, width, fullWidth);
    }
    if (horizontal == 1) continue;
    if (vertical == 1) {
      halveColumns(full, blueTarget, chromaStride);
      halveColumns(full + 2 * fullStride, redTarget, chromaStride);
    } else {
      halveBoth(full, full + fullStride, blueTarget, chromaStride);
      halveBoth(full + 2 * fullStride, full + 3 * fullStride, redTarget, chromaStride);
    }
  }
  padRows(lumaPlane, lumaStride, rows, 8 * vertical);
  padRows(bluePlane, chromaStride, chromaRows, 8);
  padRows(redPlane, chromaStride, chromaRows, 8);
}

/** 3·near + far of eight samples. */
// @ts-ignore: decorator of AssemblyScript
@inline
function weighted(near: v128, far: v128): v128 {
  return i16x8.add(i16x8.add(near, i16x8.shl(near, 1)), far);
}

/**
 * Doubles the columns of sums of samples.
 * @param sums `width` values of 16 bits, the first repeated before and the last after them
 * @param even rounding of even columns; odd ones have `odd`
 */
// @ts-ignore: decorator of AssemblyScript
@inline
function doubleSums(sums: usize, width: i32, even: v128, odd: v128, shift: i32, output: usize): void {
  for (let x: usize = 0; x < <usize>width; x += 8) {
    const at = sums + 2 * x, centre = v128.load(at);
    const left = i16x8.shr_u(i16x8.add(weighted(centre, v128.load(at - 2)), even), shift);
    const right = i16x8.shr_u(i16x8.add(weighted(centre, v128.load(at + 2)), odd), shift);
    v128.store(output + 2 * x, v128.or(left, i16x8.shl(right, 8)));
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function repeatEnds(sums: usize, width: i32): void {
  store<u16>(sums - 2, load<u16>(sums));
  store<u16>(sums + 2 * <usize>width, load<u16>(sums + 2 * <usize>width - 2));
}

function doubleColumns(row: usize, width: i32, sums: usize, output: usize): void {
  for (let x: usize = 0; x < <usize>width; x += 8) v128.store(sums + 2 * x, v128.load8x8_u(row + x));
  repeatEnds(sums, width);
  doubleSums(sums, width, splat(ONE), splat(TWO), 2, output);
}

function doubleRows(near: usize, far: usize, width: i32, bias: usize, output: usize): void {
  const half = splat(bias);
  for (let x: usize = 0; x < <usize>width; x += 16) {
    const n = v128.load(near + x), f = v128.load(far + x);
    const low = weighted(i16x8.extend_low_i8x16_u(n), i16x8.extend_low_i8x16_u(f));
    const high = weighted(i16x8.extend_high_i8x16_u(n), i16x8.extend_high_i8x16_u(f));
    v128.store(
      output + x,
      i8x16.narrow_i16x8_u(i16x8.shr_u(i16x8.add(low, half), 2), i16x8.shr_u(i16x8.add(high, half), 2)),
    );
  }
}

function doubleBoth(near: usize, far: usize, width: i32, sums: usize, output: usize): void {
  for (let x: usize = 0; x < <usize>width; x += 8) {
    v128.store(sums + 2 * x, weighted(v128.load8x8_u(near + x), v128.load8x8_u(far + x)));
  }
  repeatEnds(sums, width);
  doubleSums(sums, width, splat(EIGHT), splat(SEVEN), 4, output);
}

function repeatColumns(row: usize, width: i32, across: i32, output: usize): void {
  for (let x = 0, part = 0; x < width; x++) {
    store<u8>(output + <usize>x, load<u8>(row));
    if (++part == across) {
      part = 0;
      row++;
    }
  }
}

/**
 * A source of rows: eight words of 32 bits: address of the first row, stride, samples, and factors across and down, then
 * the number of the first row, the number of rows of the component, and the address of a row at full resolution.
 */
// @ts-ignore: decorator of AssemblyScript
@inline
function lineOf(source: usize, row: i32): usize {
  const last = load<i32>(source, 24) - 1, number = row < 0 ? 0 : row > last ? last : row;
  return <usize>load<u32>(source) + <usize>((number - load<i32>(source, 20)) * load<i32>(source, 4));
}

/** A row of a component at full resolution. @returns its address */
function upsampled(source: usize, row: i32, frameWidth: i32, sums: usize): usize {
  const width = load<i32>(source, 8), across = load<i32>(source, 12), down = load<i32>(source, 16);
  if (across == 1 && down == 1) return lineOf(source, row);
  const output = <usize>load<u32>(source, 28), near = lineOf(source, row / down);
  if (down == 2 && (across == 1 || (across == 2 && width > 2))) {
    const far = lineOf(source, (row >> 1) + (row & 1 ? 1 : -1));
    if (across == 1) doubleRows(near, far, width, row & 1 ? TWO : ONE, output);
    else doubleBoth(near, far, width, sums, output);
  } else if (across == 2 && down == 1 && width > 2) doubleColumns(near, width, sums, output);
  else repeatColumns(near, frameWidth, across, output);
  return output;
}

/** Sixteen pixels from their three channels. */
// @ts-ignore: decorator of AssemblyScript
@inline
function storePixels(rgb: usize, red: v128, green: v128, blue: v128): void {
  const low = v128.shuffle<i8>(red, green, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const high = v128.shuffle<i8>(red, green, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  v128.store(rgb, v128.shuffle<i8>(low, blue, 0, 1, 16, 2, 3, 17, 4, 5, 18, 6, 7, 19, 8, 9, 20, 10));
  const middle = v128.shuffle<i8>(low, high, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25);
  v128.store(rgb, v128.shuffle<i8>(middle, blue, 1, 21, 2, 3, 22, 4, 5, 23, 6, 7, 24, 8, 9, 25, 10, 11), 16);
  v128.store(rgb, v128.shuffle<i8>(high, blue, 26, 6, 7, 27, 8, 9, 28, 10, 11, 29, 12, 13, 30, 14, 15, 31), 32);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function sum16(low: v128, high: v128, addLow: v128, addHigh: v128): v128 {
  return i8x16.narrow_i16x8_u(i16x8.add(low, addLow), i16x8.add(high, addHigh));
}

/** 1.402 Cr: Cr + 0.402 Cr. */
// @ts-ignore: decorator of AssemblyScript
@inline
function redPart(red: v128, factor: v128): v128 {
  return i16x8.add(red, i16x8.q15mulr_sat_s(red, factor));
}

/** 1.772 Cb: 2 Cb - 0.228 Cb. */
// @ts-ignore: decorator of AssemblyScript
@inline
function bluePart(blue: v128, factor: v128): v128 {
  return i16x8.add(i16x8.shl(blue, 1), i16x8.q15mulr_sat_s(blue, factor));
}

/** -0.344 Cb - 0.714 Cr: 0.286 Cr - 0.344 Cb, less Cr. */
// @ts-ignore: decorator of AssemblyScript
@inline
function greenPart(blue: v128, red: v128, ofBoth: v128, half: v128): v128 {
  const low = v128.shuffle<i16>(blue, red, 0, 8, 1, 9, 2, 10, 3, 11);
  const high = v128.shuffle<i16>(blue, red, 4, 12, 5, 13, 6, 14, 7, 15);
  const sum = i16x8.narrow_i32x4_s(
    i32x4.shr_s(i32x4.add(i32x4.dot_i16x8_s(low, ofBoth), half), 16),
    i32x4.shr_s(i32x4.add(i32x4.dot_i16x8_s(high, ofBoth), half), 16),
  );
  return i16x8.sub(sum, red);
}

function rowToRgb(y: usize, blue: usize, red: usize, width: i32, rgb: usize): void {
  const middle = splat(OFFSET), ofBoth = weights(6), ofRed = weights(7), ofBlue = weights(8), half = splat(HALVES);
  for (let x: usize = 0; x < <usize>width; x += 16, rgb += 48) {
    const luma = v128.load(y + x), lumaLow = i16x8.extend_low_i8x16_u(luma), lumaHigh = i16x8.extend_high_i8x16_u(luma);
    const blueLow = i16x8.sub(v128.load8x8_u(blue + x), middle), redLow = i16x8.sub(v128.load8x8_u(red + x), middle);
    const blueHigh = i16x8.sub(v128.load8x8_u(blue + x, 8), middle);
    const redHigh = i16x8.sub(v128.load8x8_u(red + x, 8), middle);
    storePixels(
      rgb,
      sum16(lumaLow, lumaHigh, redPart(redLow, ofRed), redPart(redHigh, ofRed)),
      sum16(
        lumaLow,
        lumaHigh,
        greenPart(blueLow, redLow, ofBoth, half),
        greenPart(blueHigh, redHigh, ofBoth, half),
      ),
      sum16(lumaLow, lumaHigh, bluePart(blueLow, ofBlue), bluePart(blueHigh, ofBlue)),
    );
  }
}

/**
 * Rows of RGB pixels from three components.
 * @param sources three row sources of eight words
 * @param converts whether the components are YCbCr
 * @param sums room for the samples of a row, 16 bits each, and 16 bytes before and 32 after them
 */
export function pixelRows(
  sources: usize,
  from: i32,
  to: i32,
  width: i32,
  converts: bool,
  sums: usize,
  pixels: usize,
): void {
  for (let row = from; row < to; row++, pixels += <usize>(3 * width)) {
    const first = upsampled(sources, row, width, sums), second = upsampled(sources + 32, row, width, sums);
    const third = upsampled(sources + 64, row, width, sums);
    if (converts) rowToRgb(first, second, third, width, pixels);
    else {
      for (let x: usize = 0, rgb = pixels; x < <usize>width; x += 16, rgb += 48) {
        storePixels(rgb, v128.load(first + x), v128.load(second + x), v128.load(third + x));
      }
    }
  }
}
