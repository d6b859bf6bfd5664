/** Tokens of the scans of a progressive frame (T.81 annex G), and the default scan script. */
import { BARE, type Tokens } from "./entropy_tokens.ts";
import type { FrameGeometry } from "./geometry.ts";
import { type CodedComponent, pushDifference, visitUnits } from "./sequential_scan.ts";

/** One scan: components, spectral band, and successive approximation from bit `high` (0: first pass) to bit `low`. */
export interface Scan {
  readonly components: readonly number[];
  readonly start: number;
  readonly end: number;
  readonly high: number;
  readonly low: number;
}

/** libjpeg's default script: ten scans for YCbCr, six for grey. */
export function defaultScript(componentCount: 1 | 3): Scan[] {
  const scan = (components: number[], start: number, end: number, high: number, low: number): Scan => ({
    components,
    start,
    end,
    high,
    low,
  });
  if (componentCount === 1) {
    return [
      scan([0], 0, 0, 0, 1),
      scan([0], 1, 5, 0, 2),
      scan([0], 6, 63, 0, 2),
      scan([0], 1, 63, 2, 1),
      scan([0], 0, 0, 1, 0),
      scan([0], 1, 63, 1, 0),
    ];
  }
  return [
    scan([0, 1, 2], 0, 0, 0, 1),
    scan([0], 1, 5, 0, 2),
    scan([2], 1, 63, 0, 1),
    scan([1], 1, 63, 0, 1),
    scan([0], 6, 63, 0, 2),
    scan([0], 1, 63, 2, 1),
    scan([0, 1, 2], 0, 0, 1, 0),
    scan([2], 1, 63, 1, 0),
    scan([1], 1, 63, 1, 0),
    scan([0], 1, 63, 1, 0),
  ];
}

export function progressiveTokens(
  frame: FrameGeometry,
  components: readonly CodedComponent[],
  scan: Scan,
  tokens: Tokens,
): void {
  if (scan.start === 0) dcTokens(frame, components, scan, tokens);
  else if (scan.high === 0) acFirstTokens(components[scan.components[0]], scan, tokens);
  else acRefinementTokens(components[scan.components[0]], scan, tokens);
}

function dcTokens(frame: FrameGeometry, components: readonly CodedComponent[], scan: Scan, tokens: Tokens): void {
  const previous = new Int32Array(components.length);
  visitUnits(frame, (index, block) => {
    const { coefficients, table } = components[index];
    const value = block < 0 ? previous[index] : coefficients[block * 64] >> scan.low;
    tokens.reserve(1);
    if (scan.high === 0) pushDifference(tokens, table * 2, value - previous[index]);
    else tokens.push(BARE, 0, 1, value & 1);
    previous[index] = value;
  }, () => {});
}

/** The longest run of blocks without new coefficients for one symbol. */
const LONGEST_BAND_RUN = 0x7fff;

function acFirstTokens(component: CodedComponent, scan: Scan, tokens: Tokens): void {
  const { coefficients, table } = component;
  const slot = table * 2 + 1;
  let bandRun = 0;
  const flush = () => {
    if (bandRun === 0) return;
    const bits = 31 - Math.clz32(bandRun);
    tokens.push(slot, bits << 4, bits, bandRun - (1 << bits));
    bandRun = 0;
  };
  for (let block = 0; block < coefficients.length; block += 64) {
    tokens.reserve(66);
    let run = 0;
    for (let at = block + scan.start; at <= block + scan.end; at++) {
      const value = coefficients[at], sign = value >> 31;
      // The point transform of AC coefficients rounds towards zero.
      const magnitude = ((value ^ sign) - sign) >> scan.low;
      if (magnitude === 0) {
        run++;
        continue;
      }
      flush();
      for (; run > 15; run -= 16) tokens.push(slot, 0xf0, 0, 0);
      const category = 32 - Math.clz32(magnitude);
      tokens.push(slot, run << 4 | category, category, (magnitude ^ sign) & ((1 << category) - 1));
      run = 0;
    }
    if (run > 0 && ++bandRun === LONGEST_BAND_RUN) flush();
  }
  tokens.reserve(1);
  flush();
}

/** A run of blocks ends before its correction bits exceed libjpeg's buffer, so that streams agree. */
const MOST_CORRECTION_BITS = 1000 - 63;

function acRefinementTokens(component: CodedComponent, scan: Scan, tokens: Tokens): void {
  const { coefficients, table } = component;
  const slot = table * 2 + 1;
  const magnitudes = new Int32Array(64);
  // Correction bits: those of the blocks in the run, then those since the last symbol of this block.
  const corrections = new Uint8Array(1024 + 64);
  let bandRun = 0, bandBits = 0;
  const pushBits = (from: number, to: number) => {
    for (let at = from; at < to; at++) tokens.push(BARE, 0, 1, corrections[at]);
  };
  const flush = () => {
    if (bandRun === 0) return;
    const bits = 31 - Math.clz32(bandRun);
    tokens.push(slot, bits << 4, bits, bandRun - (1 << bits));
    pushBits(0, bandBits);
    bandRun = bandBits = 0;
  };
  for (let block = 0; block < coefficients.length; block += 64) {
    tokens.reserve(1280);
    let lastNew = 0;
    for (let k = scan.start; k <= scan.end; k++) {
      magnitudes[k] = Math.abs(coefficients[block + k]) >> scan.low;
      if (magnitudes[k] === 1) lastNew = k;
    }
    let run = 0, from = bandBits, to = bandBits;
    for (let k = scan.start; k <= scan.end; k++) {
      const magnitude = magnitudes[k];
      if (magnitude === 0) {
        run++;
        continue;
      }
      while (run > 15 && k <= lastNew) {
        flush();
        tokens.push(slot, 0xf0, 0, 0);
        run -= 16;
        pushBits(from, to);
        from = to = 0;
      }
      if (magnitude > 1) { // already known: its next bit follows the next symbol
        corrections[to++] = magnitude & 1;
        continue;
      }
      flush();
      tokens.push(slot, run << 4 | 1, 1, coefficients[block + k] < 0 ? 0 : 1);
      pushBits(from, to);
      from = to = run = 0;
    }
    if (run > 0 || to > from) {
      bandRun++;
      bandBits += to - from;
      if (bandRun === LONGEST_BAND_RUN || bandBits > MOST_CORRECTION_BITS) flush();
    }
  }
  tokens.reserve(1280);
  flush();
}
