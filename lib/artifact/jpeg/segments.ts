/** Writes marker segments of JPEG files (T.81 annex B). */
import type { ByteWriter } from "./byte_writer.ts";
import type { FrameGeometry } from "./geometry.ts";
import { quantizationTables } from "./quantization.ts";
import type { HuffmanSpec } from "./tables.ts";

/** Chroma subsampling: full resolution, half the columns, or half of both. */
export type JpegSubsampling = "444" | "422" | "420";

/** Sampling factors of the first component, horizontal and vertical; the others have 1. */
export const SAMPLING_FACTORS: Readonly<Record<JpegSubsampling, readonly [number, number]>> = {
  "444": [1, 1],
  "422": [2, 1],
  "420": [2, 2],
};

/** Writes all segments before the Huffman tables. */
export function writeHeader(writer: ByteWriter, frame: FrameGeometry, quality: number, progressive: boolean): void {
  const { width, height, components } = frame;
  writer.bytes([0xff, 0xd8]);
  // JFIF 1.01 without a thumbnail; density 1:1 without a unit.
  writer.segment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]);
  const tables = quantizationTables(quality).slice(0, components.length);
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

/** @param slot twice the table id, plus one for AC */
export function writeTable(writer: ByteWriter, slot: number, spec: HuffmanSpec): void {
  writer.segment(0xc4, [(slot & 1) << 4 | slot >> 1, ...spec.counts, ...spec.symbols]);
}

/** The header of a sequential scan over all components: tables 0 for the first, tables 1 for the others. */
export function writeScanHeader(writer: ByteWriter, components: number): void {
  const rows = Array.from({ length: components }, (_, index) => [index + 1, index === 0 ? 0 : 17]).flat();
  writer.segment(0xda, [components, ...rows, 0, 63, 0]);
}
