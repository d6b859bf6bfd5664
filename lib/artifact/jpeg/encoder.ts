/**
 * JPEG encoder: baseline, optionally with fitted Huffman tables, or progressive with libjpeg's default script (ITU-T
 * T.81, JFIF 1.01).
 *
 * All arithmetic is integer in libjpeg's order, so that equal settings give the bytes of libjpeg 6b and libjpeg-turbo.
 */
import { SvcError } from "../../contract/error.ts";
import { BitWriter } from "./bit_writer.ts";
import { forwardDct } from "./dct.ts";
import { colorPlanes, greyPlane, type Plane } from "./downsampling.ts";
import { TokenCodes, Tokens } from "./entropy_tokens.ts";
import { type FrameGeometry, frameGeometry } from "./geometry.ts";
import { optimalHuffman } from "./huffman.ts";
import { defaultScript, progressiveTokens } from "./progressive_scan.ts";
import { quantizationTables, quantize } from "./quantization.ts";
import { type CodedComponent, sequentialTokens } from "./sequential_scan.ts";
import { type HuffmanSpec, STANDARD_HUFFMAN } from "./tables.ts";

/** Chroma subsampling: full resolution, half the columns, or half of both. */
export type JpegSubsampling = "444" | "422" | "420";

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

const FACTORS: Record<JpegSubsampling, readonly [number, number]> = { "444": [1, 1], "422": [2, 1], "420": [2, 2] };

/**
 * Encodes an image.
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
  constructor(image: JpegImage, subsampling: JpegSubsampling) {
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
    const factors = [FACTORS[subsampling], [1, 1], [1, 1]] as const;
    this.#frame = frameGeometry(width, height, factors.slice(0, channels));
    const planes = channels === 1 ? [greyPlane(data, this.#frame)] : colorPlanes(data, this.#frame);
    this.#coefficients = planes.map(transform);
  }

  /** Encodes with the given settings; may be called again. */
  encode(options: JpegCoding): Uint8Array {
    const { quality, progressive = false } = options;
    if (!Number.isInteger(quality) || quality < 1 || quality > 100) throw new RangeError(`Quality ${quality}`);
    const tables = quantizationTables(quality);
    const components = this.#coefficients.map((coefficients, index): CodedComponent => {
      const table = index === 0 ? 0 : 1;
      return { coefficients: quantize(coefficients, tables[table]), table };
    });
    const writer = new BitWriter();
    writeHeader(writer, this.#frame, tables.slice(0, components.length), progressive);
    if (progressive) writeProgressive(writer, this.#frame, components);
    else writeSequential(writer, this.#frame, components, options.optimize ?? false);
    writer.bytes([0xff, 0xd9]);
    return writer.finish();
  }
}

function transform({ data, stride }: Plane): Int16Array {
  const coefficients = new Int16Array(data.length);
  for (let row = 0, to = 0; row < data.length; row += stride * 8) {
    for (let at = row; at < row + stride; at += 8, to += 64) forwardDct(data, at, stride, coefficients, to);
  }
  return coefficients;
}

function writeHeader(writer: BitWriter, frame: FrameGeometry, tables: Uint8Array[], progressive: boolean): void {
  const { width, height, components } = frame;
  writer.bytes([0xff, 0xd8]);
  // JFIF 1.01 without a thumbnail; density 1:1 without a unit.
  writer.segment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]);
  tables.forEach((table, id) => writer.segment(0xdb, [id, ...table]));
  const rows = components.flatMap((component, index) => [
    index + 1,
    component.horizontal << 4 | component.vertical,
    index === 0 ? 0 : 1,
  ]);
  writer.segment(progressive ? 0xc2 : 0xc0, [
    ...[8, height >> 8, height & 255, width >> 8, width & 255],
    ...[components.length, ...rows],
  ]);
}

function writeTable(writer: BitWriter, slot: number, spec: HuffmanSpec): void {
  writer.segment(0xc4, [(slot & 1) << 4 | slot >> 1, ...spec.counts, ...spec.symbols]);
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
  const rows = components.flatMap(({ table }, index) => [index + 1, table * 17]);
  writer.segment(0xda, [components.length, ...rows, 0, 63, 0]);
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
