/**
 * JPEG encoder: baseline, optionally with fitted Huffman tables, or progressive with libjpeg's default script (ITU-T
 * T.81, JFIF 1.01).
 *
 * All arithmetic is integer in libjpeg's order, so that equal settings give the bytes of libjpeg 6b and libjpeg-turbo.
 */
import { SvcError } from "../../contract/error.ts";
import { smallestTables, writeAbbreviatedHeader } from "./abbreviated.ts";
import { BitWriter } from "./bit_writer.ts";
import { forwardDct } from "./dct.ts";
import { colorPlanes, greyPlane, type Plane } from "./downsampling.ts";
import { TokenCodes, Tokens } from "./entropy_tokens.ts";
import { type FrameGeometry, frameGeometry } from "./geometry.ts";
import { optimalHuffman } from "./huffman.ts";
import { defaultScript, progressiveTokens } from "./progressive_scan.ts";
import { quantizationTables, quantize } from "./quantization.ts";
import { type JpegSubsampling, SAMPLING_FACTORS, writeHeader, writeScanHeader, writeTable } from "./segments.ts";
import { type CodedComponent, sequentialTokens } from "./sequential_scan.ts";
import { type HuffmanSpec, STANDARD_HUFFMAN } from "./tables.ts";

export type { JpegSubsampling };

/** Eight-bit pixels, row by row, channels interleaved: grey (1) or RGB (3). */
export interface JpegImage {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

export interface JpegCoding {
  /** 1 ... 100. */
  quality: number;
  /** Huffman tables fitted to the image. */
  optimize?: boolean;
  /** Spectral selection and successive approximation; tables are always fitted. */
  progressive?: boolean;
}

/** libjpeg's limit of width and height. */
const LARGEST_DIMENSION = 65500;

/**
 * Encodes an image; the program uses {@link JpegEncoder}. Exported for tests.
 * @throws SvcError `jpeg_unsupported` for a side outside 1 … 65500
 * @throws RangeError for invalid data or options
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeJpeg } from "./encoder.ts";
 *
 * const grey = { width: 8, height: 8, channels: 1 as const, data: new Uint8Array(64).fill(128) };
 * const file = encodeJpeg(grey, { quality: 75, subsampling: "444" });
 * assert.ok(file[0] === 0xff && file[1] === 0xd8);
 * ```
 */
export function encodeJpeg(image: JpegImage, options: JpegCoding & { subsampling: JpegSubsampling }): Uint8Array {
  return new JpegEncoder(image, options.subsampling).encode(options);
}

/** An image that is encoded several times: transform coefficients are computed once. */
export class JpegEncoder {
  readonly #frame: FrameGeometry;
  /** Transform coefficients per component, zigzag order, scaled by 8. */
  readonly #coefficients: Int16Array[];

  /** @throws SvcError `jpeg_unsupported` for a side outside 1 … 65500 */
  constructor(image: JpegImage, readonly subsampling: JpegSubsampling) {
    const { width, height, channels, data } = image;
    for (const side of [width, height]) {
      if (!Number.isInteger(side) || side < 1 || side > LARGEST_DIMENSION) {
        throw new SvcError("jpeg_unsupported", `Cannot encode an image of ${width} by ${height} pixels as JPEG`, {
          hint: `Each side is 1 to ${LARGEST_DIMENSION} pixels long`,
        });
      }
    }
    if (data.length !== width * height * channels) throw new RangeError("The image does not fill its size");
    // A grey image keeps the factors in its header, as libjpeg's sampling option does, without other effect.
    const factors = [SAMPLING_FACTORS[subsampling], [1, 1], [1, 1]] as const;
    this.#frame = frameGeometry(width, height, factors.slice(0, channels));
    const planes = channels === 1 ? [greyPlane(data, this.#frame)] : colorPlanes(data, this.#frame);
    this.#coefficients = planes.map(transform);
  }

  /** Encodes with the given settings; may be called again. */
  encode(options: JpegCoding): Uint8Array {
    const { quality, progressive = false } = options;
    const components = this.#quantized(quality);
    const writer = new BitWriter();
    writeHeader(writer, this.#frame, quality, progressive);
    if (progressive) writeProgressive(writer, this.#frame, components);
    else writeSequential(writer, this.#frame, components, options.optimize ?? false);
    writer.bytes([0xff, 0xd9]);
    return writer.finish();
  }

  /**
   * Encodes as an abbreviated stream (`abbreviated.ts`): sequential, without marker segments, with the Huffman tables
   * that make it smallest.
   * @param options.half whether the receiver expects an image of twice this size
   * @param options.limit bytes that the stream may have
   * @returns the stream; undefined where it exceeds the limit
   */
  encodeAbbreviated(quality: number, options: { half?: boolean; limit?: number } = {}): Uint8Array | undefined {
    const { half = false, limit = Infinity } = options;
    const tokens = this.#tokens(quality), tables = smallestTables(this.#frequenciesOf(tokens));
    if (tables.bits > limit * 8) return undefined;
    const writer = new BitWriter();
    writeAbbreviatedHeader(writer, { quality, half, subsampling: this.subsampling, ...tables });
    new TokenCodes(tables.specs).write(tokens, writer);
    writer.align();
    const stream = writer.finish();
    return stream.length <= limit ? stream : undefined;
  }

  /** Symbol counts of a sequential scan by table slot. */
  frequencies(quality: number): Uint32Array[] {
    return this.#frequenciesOf(this.#tokens(quality));
  }

  #frequenciesOf(tokens: Tokens): Uint32Array[] {
    return tokens.frequencies().slice(0, this.#coefficients.length === 1 ? 2 : 4);
  }

  #tokens(quality: number): Tokens {
    const tokens = new Tokens();
    sequentialTokens(this.#frame, this.#quantized(quality), tokens, () => {});
    return tokens;
  }

  #quantized(quality: number): CodedComponent[] {
    if (!Number.isInteger(quality) || quality < 1 || quality > 100) throw new RangeError(`Quality ${quality}`);
    const tables = quantizationTables(quality);
    return this.#coefficients.map((coefficients, index): CodedComponent => {
      const table = index === 0 ? 0 : 1;
      return { coefficients: quantize(coefficients, tables[table]), table };
    });
  }
}

function transform({ data, stride }: Plane): Int16Array {
  const coefficients = new Int16Array(data.length);
  for (let row = 0, to = 0; row < data.length; row += stride * 8) {
    for (let at = row; at < row + stride; at += 8, to += 64) forwardDct(data, at, stride, coefficients, to);
  }
  return coefficients;
}

function writeSequential(
  writer: BitWriter,
  frame: FrameGeometry,
  components: readonly CodedComponent[],
  optimize: boolean,
): void {
  const tokens = new Tokens();
  let specs = STANDARD_HUFFMAN.slice(0, components.length === 1 ? 2 : 4);
  if (optimize) {
    sequentialTokens(frame, components, tokens, () => {});
    const frequencies = tokens.frequencies();
    specs = specs.map((_, slot) => optimalHuffman(frequencies[slot]));
  }
  specs.forEach((spec, slot) => writeTable(writer, slot, spec));
  writeScanHeader(writer, components.length);
  const codes = new TokenCodes(specs);
  if (optimize) {
    codes.write(tokens, writer);
  } else {
    sequentialTokens(frame, components, tokens, () => {
      codes.write(tokens, writer);
      tokens.length = 0;
    });
  }
  writer.align();
}

function writeProgressive(writer: BitWriter, frame: FrameGeometry, components: readonly CodedComponent[]): void {
  const tokens = new Tokens();
  for (const scan of defaultScript(components.length as 1 | 3)) {
    tokens.length = 0;
    progressiveTokens(frame, components, scan, tokens);
    // A scan defines its tables; refining DC uses none.
    const tables = [...new Set(scan.components.map((index) => components[index].table))];
    const slots = scan.start > 0
      ? tables.map((table) => table * 2 + 1)
      : scan.high === 0
      ? tables.map((t) => t * 2)
      : [];
    const frequencies = tokens.frequencies();
    const specs: HuffmanSpec[] = [];
    for (const slot of slots) writeTable(writer, slot, specs[slot] = optimalHuffman(frequencies[slot]));
    const rows = scan.components.flatMap((index) => {
      const { table } = components[index];
      return [index + 1, scan.start > 0 ? table : scan.high === 0 ? table << 4 : 0];
    });
    const { start, end, high, low } = scan;
    writer.segment(0xda, [scan.components.length, ...rows, start, end, high << 4 | low]);
    new TokenCodes(specs).write(tokens, writer);
    writer.align();
  }
}
