/**
 * Abbreviated JPEG streams: a sequential scan whose marker segments both ends know and which are not sent. A JPEG file
 * of 96 by 96 pixels is to a large part header and tables, so a file per image measures them and not the codec.
 *
 *     byte 0   bit 7: the image was halved in width and height before coding; bits 0-6: quality, 1 to 100
 *     byte 1   bits 6-7: subsampling (0 444, 1 422, 2 420); bits 0-5: Huffman tables (0 those of T.81 annex K, 1 and
 *              more the fitted ones of this module, 63 tables that follow)
 *     tables   only for 63: by slot (DC, AC; of three components also DC, AC of chroma) 16 counts and the symbols
 *     scan     entropy-coded data as in the file; fill bytes 0xFF may follow
 *
 * The receiver knows width, height and channels of the image. It puts the segments back, and the result is a JPEG file
 * for any decoder. The first byte of a file is 0xFF, which no stream starts with.
 *
 * Source: ITU-T T.81, B.4 (abbreviated format for compressed image data) and annex K.3.
 */
import { ByteWriter } from "./byte_writer.ts";
import { frameGeometry } from "./geometry.ts";
import { huffmanCodes, optimalHuffman } from "./huffman.ts";
import { invalid } from "./markers.ts";
import { type JpegSubsampling, SAMPLING_FACTORS, writeHeader, writeScanHeader, writeTable } from "./segments.ts";
import { SHARED_HUFFMAN } from "./shared_huffman.ts";
import { type HuffmanSpec, STANDARD_HUFFMAN } from "./tables.ts";

const SUBSAMPLINGS: readonly JpegSubsampling[] = ["444", "422", "420"];
const OWN = 63;
const HEADER_BYTES = 2;

/** Tables that both ends know, by number. */
const KNOWN: readonly (readonly HuffmanSpec[])[] = [STANDARD_HUFFMAN, ...SHARED_HUFFMAN];
const KNOWN_LENGTHS = KNOWN.map((specs) => specs.map((spec) => huffmanCodes(spec).lengths));

interface TableChoice {
  /** Number in the header. */
  readonly id: number;
  readonly specs: readonly HuffmanSpec[];
  /** Bits of the stream without byte stuffing: a lower bound of its size. */
  readonly bits: number;
}

/** The tables that give the smallest stream, whose own size counts where they must be sent. */
export function smallestTables(frequencies: readonly Uint32Array[]): TableChoice {
  // The extra bits of a symbol are its low four bits, DC and AC alike; 0xF0 and 0 have none.
  let extra = HEADER_BYTES * 8;
  for (const counts of frequencies) counts.forEach((count, symbol) => extra += count * (symbol & 15));
  const coded = (lengths: readonly Uint8Array[]) =>
    frequencies.reduce((sum, counts, slot) => {
      for (let symbol = 0; symbol < 256; symbol++) sum += counts[symbol] * lengths[slot][symbol];
      return sum;
    }, extra);
  const own = frequencies.map(optimalHuffman);
  const sent = own.reduce((sum, { symbols }) => sum + (16 + symbols.length) * 8, 0);
  let best: TableChoice = { id: OWN, specs: own, bits: sent + coded(own.map((spec) => huffmanCodes(spec).lengths)) };
  KNOWN_LENGTHS.forEach((lengths, id) => {
    const bits = coded(lengths);
    if (bits < best.bits) best = { id, specs: KNOWN[id].slice(0, frequencies.length), bits };
  });
  return best;
}

/** Writes everything before the scan. */
export function writeAbbreviatedHeader(
  writer: ByteWriter,
  stream: { quality: number; half: boolean; subsampling: JpegSubsampling } & TableChoice,
): void {
  const { quality, half, subsampling, id, specs } = stream;
  writer.bytes([Number(half) << 7 | quality, SUBSAMPLINGS.indexOf(subsampling) << 6 | id]);
  if (id === OWN) { for (const { counts, symbols } of specs) writer.bytes([...counts, ...symbols]); }
}

/** Whether bytes are an abbreviated stream and not a file. */
export function isAbbreviated(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes[0] !== 0xff;
}

/** The size of an image halved in width and height. */
export const halfSize = ({ width, height }: { width: number; height: number }) => ({
  width: Math.ceil(width / 2),
  height: Math.ceil(height / 2),
});

/**
 * Puts the marker segments of an abbreviated stream back.
 * @param shape the image that the receiver expects
 * @returns the JPEG file; of half the width and height where the stream says so
 * @throws SvcError `jpeg_invalid` for a damaged header
 */
export function completeJpeg(
  bytes: Uint8Array,
  shape: { width: number; height: number; channels: number },
): Uint8Array {
  if (bytes.length <= HEADER_BYTES) throw invalid("the stream is truncated");
  const quality = bytes[0] & 127, subsampling = SUBSAMPLINGS[bytes[1] >> 6], id = bytes[1] & 63;
  if (quality < 1 || quality > 100 || subsampling === undefined) throw invalid("the header of the stream is damaged");
  const { width, height } = bytes[0] > 127 ? halfSize(shape) : shape;
  const slots = shape.channels === 1 ? 2 : 4;
  let at = HEADER_BYTES, specs = KNOWN[id]?.slice(0, slots);
  if (id === OWN) {
    specs = Array.from({ length: slots }, () => {
      const counts = bytes.subarray(at, at + 16);
      const symbols = bytes.subarray(at + 16, at += 16 + counts.reduce((sum, count) => sum + count, 0));
      return { counts, symbols };
    });
  }
  if (specs === undefined || at >= bytes.length) throw invalid("the header of the stream is damaged");
  const writer = new ByteWriter();
  const factors = [SAMPLING_FACTORS[subsampling], [1, 1], [1, 1]] as const;
  writeHeader(writer, frameGeometry(width, height, factors.slice(0, shape.channels)), quality, false);
  specs.forEach((spec, slot) => writeTable(writer, slot, spec));
  writeScanHeader(writer, shape.channels);
  writer.bytes(bytes.subarray(at));
  writer.bytes([0xff, 0xd9]);
  return writer.finish();
}
