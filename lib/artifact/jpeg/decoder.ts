/**
 * JPEG decoder: baseline, extended and progressive files with 8-bit samples, grey, YCbCr or RGB (ITU-T T.81, JFIF
 * 1.02).
 *
 * Inverse transform, upsampling and colour conversion are libjpeg's defaults ("islow", "fancy"), so that pixels equal
 * those of libjpeg and libjpeg-turbo. Damaged files are refused; where a caller takes warnings, faults that libjpeg reads with
 * one are read as it does: behind the end of a cut file the pixels are grey, in a progressive one coarse, by the scans that came before.
 * libjpeg also smooths blocks whose AC coefficients are not all known; here they are shown as they are.
 * Own code: codec-libjpeg-turbo-8bit 1.2.8 cannot choose the exact DCT, jsquash is mozjpeg.
 */
import { SvcError } from "../../contract/error.ts";
import type { FrameGeometry, JpegImage } from "./geometry.ts";
import { kernels, Layout, memory, values } from "./kernel.ts";
import { type FrameHeader, invalid, MarkerReader, type ScanHeader, unsupported } from "./markers.ts";
import { type SamplePlane, toPixels } from "./pixels.ts";
import { type CoefficientPlane, decodeProgressiveScan, decodeSequentialScan } from "./scan_decoder.ts";
import type { JpegSubsampling } from "./segments.ts";

/** Default limit of decoded pixels. */
const MAXIMUM_PIXELS = 1 << 28;

/** The fault of a file without all of its scans: what they would add is left out. */
const MISSING = "scans are missing";

/** Even a short scan can visit every block; encoders write about ten scans. */
const MAXIMUM_SCANS = 256;

/**
 * Decodes a file.
 * @param options.maximumPixels refuses larger images; default 2^28
 * @param options.warnings receives the faults that libjpeg reads with a warning; without it such a file is damaged
 * @throws SvcError `jpeg_invalid` for a damaged or truncated file
 * @throws SvcError `jpeg_unsupported` for CMYK, other sample sizes, arithmetic and lossless coding, incomplete
 *   progressive files and too many pixels
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decodeJpeg } from "./decoder.ts";
 * import { encodeJpeg } from "./encoder.ts";
 *
 * const grey = { width: 8, height: 8, channels: 1 as const, data: new Uint8Array(64).fill(128) };
 * const { data } = decodeJpeg(encodeJpeg(grey, { quality: 75, subsampling: "444" }));
 * assert.ok(data.every((sample) => sample === 128));
 * ```
 */
export function decodeJpeg(
  bytes: Uint8Array,
  options: { maximumPixels?: number; warnings?: string[] } = {},
): JpegImage {
  const markers = new MarkerReader(bytes, options.warnings);
  let scan = markers.nextScan();
  const frame = markers.frame;
  if (frame === undefined || scan === undefined) throw invalid("it holds no image");
  checkSize(frame, bytes.length, options.maximumPixels ?? MAXIMUM_PIXELS);
  const image = frame.progressive ? new ProgressiveImage(markers, frame) : new SequentialImage(markers, frame);
  for (let scans = 1; scan !== undefined; scan = markers.nextScan(), scans++) {
    if (scans > MAXIMUM_SCANS) throw unsupported(`more than ${MAXIMUM_SCANS} scans`);
    markers.position = image.addScan(scan);
  }
  return toPixels(frame.geometry, image.planes(), markers.isRgb);
}

/**
 * The chroma subsampling of a file, "444" for grey ones.
 * @throws SvcError as {@link decodeJpeg} for damaged and unsupported headers
 */
export function jpegSubsampling(bytes: Uint8Array): JpegSubsampling | "other" {
  const markers = new MarkerReader(bytes);
  markers.nextScan();
  if (markers.frame === undefined) throw invalid("it holds no image");
  const [luma, ...chroma] = markers.frame.geometry.components;
  if (chroma.length === 0) return "444";
  if (chroma.some((part) => part.horizontal !== chroma[0].horizontal || part.vertical !== chroma[0].vertical)) {
    return "other";
  }
  const across = luma.horizontal / chroma[0].horizontal, down = luma.vertical / chroma[0].vertical;
  const names: Record<string, JpegSubsampling> = { "1,1": "444", "2,1": "422", "2,2": "420" };
  return names[`${across},${down}`] ?? "other";
}

/** Refuses sizes before allocation: each block takes at least one bit of the file. */
function checkSize({ geometry }: FrameHeader, byteCount: number, maximumPixels: number): void {
  const { width, height, components } = geometry;
  if (width * height > maximumPixels) {
    throw new SvcError("jpeg_unsupported", `Cannot decode a JPEG file of ${width} by ${height} pixels`, {
      hint: `At most ${maximumPixels} pixels are decoded`,
    });
  }
  const blocks = components.reduce((sum, component) => sum + component.blocksWide * component.blocksHigh, 0);
  if (blocks > byteCount * 8) throw invalid(`it is too short for ${width} by ${height} pixels`);
}

/** Blocks per row and column of a component, including padding of interleaved scans. */
function paddedBlocks(geometry: FrameGeometry): [wide: number, high: number][] {
  return geometry.components.map((c) => [geometry.unitsWide * c.horizontal, geometry.unitsHigh * c.vertical]);
}

function divisorsOf(markers: MarkerReader, frame: FrameHeader, component: number): Uint16Array {
  const table = markers.quantization[frame.tables[component]];
  if (table === undefined) throw invalid("a component uses an undefined quantisation table");
  return table;
}

function emptyPlanes(geometry: FrameGeometry): SamplePlane[] {
  return paddedBlocks(geometry).map(([wide, high]) => ({
    data: new Uint8Array(wide * high * 64),
    stride: wide * 8,
  }));
}

class SequentialImage {
  readonly #planes: SamplePlane[];
  readonly #divisors: Uint16Array[] = [];

  constructor(readonly markers: MarkerReader, readonly frame: FrameHeader) {
    this.#planes = emptyPlanes(frame.geometry);
  }

  addScan(scan: ScanHeader): number {
    for (const component of scan.components) {
      if (this.#divisors[component] !== undefined) throw invalid("a component is coded twice");
      this.#divisors[component] = divisorsOf(this.markers, this.frame, component);
    }
    return decodeSequentialScan(this.markers, scan, this.#divisors, this.#planes);
  }

  planes(): SamplePlane[] {
    for (const [component, plane] of this.#planes.entries()) {
      if (this.#divisors[component] !== undefined) continue;
      if (!this.markers.tolerates(MISSING)) throw invalid("a component is missing");
      plane.data.fill(128);
    }
    return this.#planes;
  }
}

class ProgressiveImage {
  readonly #coefficients: CoefficientPlane[];
  readonly #divisors: Uint16Array[] = [];
  /** Per component, by zigzag position: the lowest known bit, -1 before the first scan. */
  readonly #lowest: Int8Array[];

  constructor(readonly markers: MarkerReader, readonly frame: FrameHeader) {
    this.#coefficients = paddedBlocks(frame.geometry).map(([wide, high]) => ({
      data: new Int16Array(wide * high * 64),
      blocksPerRow: wide,
    }));
    this.#lowest = this.#coefficients.map(() => new Int8Array(64).fill(-1));
  }

  addScan(scan: ScanHeader): number {
    const { components, start, end, high, low } = scan;
    const band = start === 0 ? end === 0 : start <= end && end <= 63 && components.length === 1;
    if (!band || low > 13 || (high > 0 && low !== high - 1)) throw invalid("malformed progressive scan header");
    for (const component of components) {
      this.#divisors[component] ??= divisorsOf(this.markers, this.frame, component);
      const lowest = this.#lowest[component];
      if (start > 0 && lowest[0] < 0) throw invalid("AC coefficients come before DC");
      for (let k = start; k <= end; k++) {
        if (lowest[k] !== (high === 0 ? -1 : high)) throw invalid("the progressive scans are out of order");
        lowest[k] = low;
      }
    }
    return decodeProgressiveScan(this.markers, scan, this.#coefficients);
  }

  planes(): SamplePlane[] {
    const incomplete = this.#lowest.some((bits) => bits.some((bit) => bit !== 0));
    if (incomplete && !this.markers.tolerates(MISSING)) {
      throw new SvcError("jpeg_unsupported", "Cannot decode a progressive JPEG file with missing scans", {
        hint: "The file may be truncated; save it again",
      });
    }
    const planes = emptyPlanes(this.frame.geometry);
    planes.forEach((plane, index) => {
      // A component without a scan has no divisors yet.
      if (this.#divisors[index] === undefined) plane.data.fill(128);
      else inverse(this.#coefficients[index], this.#divisors[index], plane);
    });
    return planes;
  }
}

/** Coefficients of one component to samples. */
function inverse({ data, blocksPerRow }: CoefficientPlane, divisors: Uint16Array, plane: SamplePlane): void {
  const layout = new Layout(), length = 64 * blocksPerRow;
  const divisorsAt = layout.take(2 * 64), blocks = layout.take(2 * length), samples = layout.take(length);
  layout.reserve();
  values(divisorsAt, 64).set(divisors);
  for (let at = 0; at < data.length; at += length) {
    values(blocks, length).set(data.subarray(at, at + length));
    kernels.inverseBlocks(blocks, blocksPerRow, divisorsAt, samples);
    plane.data.set(memory().subarray(samples, samples + length), at);
  }
}
