/**
 * JPEG encoder: baseline, optionally with fitted Huffman tables, or progressive with libjpeg's default script (ITU-T
 * T.81, JFIF 1.01).
 *
 * All arithmetic is integer in libjpeg's order, so that equal settings give the bytes of libjpeg 6b and libjpeg-turbo,
 * which no package does.
 */
import { SvcError } from "../../contract/error.ts";
import { smallestTables, writeAbbreviatedHeader } from "./abbreviated.ts";
import { ByteWriter } from "./byte_writer.ts";
import { EntropyCoder, tableOf } from "./entropy_coder.ts";
import { type FrameGeometry, frameGeometry, type JpegImage } from "./geometry.ts";
import { optimalHuffman } from "./huffman.ts";
import { defaultScript } from "./progressive_script.ts";
import { quantizationTables } from "./quantization.ts";
import { type JpegSubsampling, SAMPLING_FACTORS, writeHeader, writeScanHeader, writeTable } from "./segments.ts";
import { type HuffmanSpec, STANDARD_HUFFMAN } from "./tables.ts";
import { type BlockSource, KeptBlocks, TransformedImage } from "./transform.ts";

export type { JpegImage, JpegSubsampling };

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
 * Encodes an image once.
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
  return fileOf(new TransformedImage(image, frameOf(image, options.subsampling)), options);
}

/** The layout of an image. @throws SvcError, RangeError as {@link encodeJpeg} */
function frameOf({ width, height, channels, data }: JpegImage, subsampling: JpegSubsampling): FrameGeometry {
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
  return frameGeometry(width, height, factors.slice(0, channels));
}

function coderOf(source: BlockSource, quality: number): EntropyCoder {
  if (!Number.isInteger(quality) || quality < 1 || quality > 100) throw new RangeError(`Quality ${quality}`);
  return new EntropyCoder(source, quantizationTables(quality));
}

/** A file of transform coefficients. */
function fileOf(source: BlockSource, { quality, progressive = false, optimize = false }: JpegCoding): Uint8Array {
  const coder = coderOf(source, quality), writer = new ByteWriter(), { components } = source.frame;
  writeHeader(writer, source.frame, quality, progressive);
  if (progressive) writeProgressive(writer, coder, components.length as 1 | 3);
  else writeSequential(writer, coder, components.length, optimize);
  writer.bytes([0xff, 0xd9]);
  return writer.finish();
}

/** Slots of the tables of a sequential scan. */
const slotsOf = (components: number): number => components === 1 ? 2 : 4;

/** An image that is encoded several times: transform coefficients are computed once. */
export class JpegEncoder {
  readonly #coefficients: KeptBlocks;

  /** @throws SvcError, RangeError as {@link encodeJpeg} */
  constructor(image: JpegImage, readonly subsampling: JpegSubsampling) {
    this.#coefficients = KeptBlocks.ofImage(image, frameOf(image, subsampling));
  }

  /** Encodes with the given settings; may be called again. */
  encode(options: JpegCoding): Uint8Array {
    return fileOf(this.#coefficients, options);
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
    const coder = coderOf(this.#coefficients, quality), tables = smallestTables(this.#counts(coder));
    if (tables.bits > limit * 8) return undefined;
    const writer = new ByteWriter();
    writeAbbreviatedHeader(writer, { quality, half, subsampling: this.subsampling, ...tables });
    coder.writeKept(tables.specs, writer);
    const stream = writer.finish();
    return stream.length <= limit ? stream : undefined;
  }

  /** Symbol counts of a sequential scan by table slot. */
  frequencies(quality: number): Uint32Array[] {
    return this.#counts(coderOf(this.#coefficients, quality));
  }

  #counts(coder: EntropyCoder): Uint32Array[] {
    return coder.countSequential().slice(0, slotsOf(this.#coefficients.blocks.length));
  }
}

function writeSequential(writer: ByteWriter, coder: EntropyCoder, components: number, optimize: boolean): void {
  const slots = slotsOf(components);
  const specs = optimize
    ? coder.countSequential().slice(0, slots).map(optimalHuffman)
    : STANDARD_HUFFMAN.slice(0, slots);
  specs.forEach((spec, slot) => writeTable(writer, slot, spec));
  writeScanHeader(writer, components);
  if (optimize) coder.writeKept(specs, writer);
  else coder.writeSequential(specs, writer);
}

function writeProgressive(writer: ByteWriter, coder: EntropyCoder, components: 1 | 3): void {
  coder.quantize();
  for (const scan of defaultScript(components)) {
    const frequencies = coder.countProgressive(scan);
    // A scan defines its tables; refining DC uses none.
    const tables = [...new Set(scan.components.map(tableOf))];
    const slots = scan.start > 0
      ? tables.map((table) => table * 2 + 1)
      : scan.high === 0
      ? tables.map((t) => t * 2)
      : [];
    const specs: HuffmanSpec[] = [];
    for (const slot of slots) writeTable(writer, slot, specs[slot] = optimalHuffman(frequencies[slot]));
    const rows = scan.components.flatMap((index) => {
      const table = tableOf(index);
      return [index + 1, scan.start > 0 ? table : scan.high === 0 ? table << 4 : 0];
    });
    const { start, end, high, low } = scan;
    writer.segment(0xda, [scan.components.length, ...rows, start, end, high << 4 | low]);
    coder.writeKept(specs, writer);
  }
}
