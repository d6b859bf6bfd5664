/** Layout of samples in components, blocks and minimum coded units (T.81 annex A). */

/** Eight-bit pixels, row by row, channels interleaved: grey (1) or RGB (3). */
export interface JpegImage {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

/** A component of a frame: its sampling factors and its size in samples and in blocks of 8x8. */
export interface ComponentGeometry {
  readonly horizontal: number;
  readonly vertical: number;
  /** Image samples, without padding. */
  readonly width: number;
  readonly height: number;
  /** Blocks of those samples, which a scan of this component alone codes. */
  readonly blocksWide: number;
  readonly blocksHigh: number;
}

export interface FrameGeometry {
  readonly width: number;
  readonly height: number;
  /** The largest sampling factors. */
  readonly horizontal: number;
  readonly vertical: number;
  /** Minimum coded units of an interleaved scan. */
  readonly unitsWide: number;
  readonly unitsHigh: number;
  readonly components: readonly ComponentGeometry[];
}

/**
 * Computes the geometry of a frame.
 * @param factors sampling factors [horizontal, vertical] of each component
 */
export function frameGeometry(
  width: number,
  height: number,
  factors: readonly (readonly [horizontal: number, vertical: number])[],
): FrameGeometry {
  const horizontal = Math.max(...factors.map((pair) => pair[0])),
    vertical = Math.max(...factors.map((pair) => pair[1]));
  return {
    width,
    height,
    horizontal,
    vertical,
    unitsWide: Math.ceil(width / (8 * horizontal)),
    unitsHigh: Math.ceil(height / (8 * vertical)),
    components: factors.map(([h, v]) => ({
      horizontal: h,
      vertical: v,
      width: Math.ceil(width * h / horizontal),
      height: Math.ceil(height * v / vertical),
      blocksWide: Math.ceil(width * h / (8 * horizontal)),
      blocksHigh: Math.ceil(height * v / (8 * vertical)),
    })),
  };
}
