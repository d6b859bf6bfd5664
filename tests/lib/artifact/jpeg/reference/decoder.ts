/** Reference of the decoder, written to be read: bit by bit and block by block (T.81 annexes F.2, G.2). */
import type { JpegImage } from "../../../../../lib/artifact/jpeg/encoder.ts";
import { huffmanCodes } from "../../../../../lib/artifact/jpeg/huffman.ts";
import { invalid, MarkerReader, type ScanHeader } from "../../../../../lib/artifact/jpeg/markers.ts";
import { type HuffmanSpec, ZIGZAG } from "../../../../../lib/artifact/jpeg/tables.ts";
import { SvcError } from "../../../../../lib/contract/error.ts";
import { inverse, rgb, upsampled } from "./transform.ts";

/** Bits up to the next marker; zeros follow. */
class Bits {
  #byte = 0;
  #left = 0;
  #missing = false;

  constructor(readonly bytes: Uint8Array, public position: number) {}

  bit(): number {
    if (this.#left === 0) {
      const byte = this.bytes[this.position];
      const ends = byte === undefined || (byte === 0xff && this.bytes[this.position + 1] !== 0);
      this.#missing ||= ends;
      this.#byte = ends ? 0 : byte;
      if (!ends) this.position += byte === 0xff ? 2 : 1;
      this.#left = 8;
    }
    return this.#byte >> --this.#left & 1;
  }

  bits(length: number): number {
    let value = 0;
    for (let at = 0; at < length; at++) value = 2 * value + this.bit();
    return value;
  }

  /** A signed value of a category. */
  value(category: number): number {
    const bits = this.bits(category);
    return category > 0 && bits < 2 ** (category - 1) ? bits - 2 ** category + 1 : bits;
  }

  symbol(codes: Map<string, number>): number {
    let code = "";
    while (code.length < 16) {
      code += this.bit();
      const symbol = codes.get(code);
      if (symbol !== undefined) return symbol;
    }
    throw invalid("unknown Huffman code");
  }

  check(): void {
    if (this.#missing) throw invalid("the entropy-coded data end early");
  }

  /** @returns position of the following marker */
  finish(): number {
    const { bytes } = this;
    let at = this.position;
    if (at >= bytes.length) throw invalid("it ends without a marker");
    if (bytes[at] !== 0xff || bytes[at + 1] === 0) {
      throw invalid("the entropy-coded data continue after the last block");
    }
    while (bytes[at + 1] === 0xff) at++;
    return at;
  }

  restart(number: number): void {
    const at = this.finish();
    if (this.bytes[at + 1] !== 0xd0 + number) throw invalid(`restart marker ${number} is missing`);
    this.position = at + 2;
    this.#left = 0;
  }
}

/** Symbols by code word. */
function codesOf(spec: HuffmanSpec): Map<string, number> {
  const { codes, lengths } = huffmanCodes({ counts: spec.counts, symbols: spec.symbols.map((_, at) => at) });
  return new Map(Array.from(spec.symbols, (symbol, at) => [codes[at].toString(2).padStart(lengths[at], "0"), symbol]));
}

/** Quantised coefficients of one component in zigzag order, with those of the padding of units. */
interface Plane {
  readonly wide: number;
  readonly blocks: Int16Array[];
}

/** Decodes one scan into the planes. @returns position of the following marker */
function decodeScan(markers: MarkerReader, scan: ScanHeader, planes: readonly Plane[]): number {
  const { start, end, high, low } = scan, { progressive, geometry } = markers.frame!;
  const reader = new Bits(markers.bytes, markers.position), plus = 1 << low;
  const table = (slot: number, needed: boolean) => {
    const spec = markers.huffman[slot];
    if (needed && spec === undefined) throw invalid("a scan uses an undefined Huffman table");
    return needed ? codesOf(spec!) : new Map<string, number>();
  };
  const tables = scan.components.map((_, at) => ({
    dc: table(2 * scan.dcTables[at], start === 0 && high === 0),
    ac: table(2 * scan.acTables[at] + 1, start > 0 || !progressive),
  }));
  const previous = scan.components.map(() => 0);
  let blockRun = 0;

  const dc = (block: Int16Array, at: number) => {
    if (high > 0) block[0] |= reader.bit() << low;
    else block[0] = (previous[at] += reader.value(reader.symbol(tables[at].dc))) << low;
  };
  const first = (block: Int16Array, at: number, from: number, message: string) => {
    if (blockRun > 0) blockRun--;
    else {
      for (let k = from; k <= end; k++) {
        const symbol = reader.symbol(tables[at].ac), run = symbol >> 4, category = symbol & 15;
        if (category === 0 && run < 15) {
          if (progressive) blockRun = (1 << run) - 1 + reader.bits(run);
          return;
        }
        k += run;
        if (category === 0) continue;
        if (k > end) throw invalid(message);
        block[k] = reader.value(category) << low;
      }
    }
  };
  const refine = (block: Int16Array, at: number) => {
    let k = start;
    /** Corrects known coefficients up to the zero after `zeros` others. */
    const pass = (zeros: number) => {
      for (; k <= end; k++) {
        if (block[k] === 0) {
          if (zeros-- === 0) return;
        } else if (reader.bit() === 1 && (block[k] & plus) === 0) block[k] += block[k] >= 0 ? plus : -plus;
      }
    };
    while (blockRun === 0 && k <= end) {
      const symbol = reader.symbol(tables[at].ac), run = symbol >> 4, category = symbol & 15;
      if (category > 1) throw invalid("a refinement adds more than one bit");
      if (category === 0 && run < 15) {
        blockRun = (1 << run) + reader.bits(run);
        break;
      }
      const value = category === 0 ? 0 : reader.bit() === 1 ? plus : -plus;
      pass(run);
      if (value !== 0) {
        if (k > end) throw invalid("a block has more coefficients than its scan");
        block[k] = value;
      }
      k++;
    }
    if (blockRun > 0) {
      pass(64);
      blockRun--;
    }
  };
  const decode = (block: Int16Array, at: number) => {
    if (!progressive) {
      dc(block, at);
      first(block, at, 1, "a block has more than 64 coefficients");
    } else if (start === 0) dc(block, at);
    else if (high > 0) refine(block, at);
    else first(block, at, start, "a block has more coefficients than its scan");
  };

  const alone = scan.components.length === 1, parts = scan.components.map((index) => geometry.components[index]);
  const unitsWide = alone ? parts[0].blocksWide : geometry.unitsWide;
  const units = unitsWide * (alone ? parts[0].blocksHigh : geometry.unitsHigh);
  for (let unit = 0; unit < units; unit++) {
    if (unit > 0 && markers.restartInterval > 0 && unit % markers.restartInterval === 0) {
      reader.restart(unit / markers.restartInterval - 1 & 7);
      if (blockRun > 0) throw invalid("a run of blocks crosses a restart marker");
      previous.fill(0);
    }
    parts.forEach(({ horizontal, vertical }, at) => {
      const across = alone ? 1 : horizontal,
        down = alone ? 1 : vertical,
        { wide, blocks } = planes[scan.components[at]];
      for (let part = 0; part < across * down; part++) {
        const row = Math.floor(unit / unitsWide) * down + Math.floor(part / across);
        decode(blocks[row * wide + unit % unitsWide * across + part % across], at);
      }
    });
    reader.check();
  }
  const position = reader.finish();
  if (blockRun > 0) throw invalid("a run of blocks continues after the last block");
  return position;
}

/** Divisors of a component, kept at its first scan. */
function divisorsOf(markers: MarkerReader, component: number): Uint16Array {
  const table = markers.quantization[markers.frame!.tables[component]];
  if (table === undefined) throw invalid("a component uses an undefined quantisation table");
  return table;
}

/** Decodes a file whose size and headers {@link decodeJpeg} accepts. */
export function referencePixels(bytes: Uint8Array): JpegImage {
  const markers = new MarkerReader(bytes);
  let scan = markers.nextScan();
  const { geometry, progressive } = markers.frame!, { width, height } = geometry;
  const planes = geometry.components.map(({ horizontal, vertical }): Plane => {
    const wide = geometry.unitsWide * horizontal, count = wide * geometry.unitsHigh * vertical;
    return { wide, blocks: Array.from({ length: count }, () => new Int16Array(64)) };
  });
  const divisors: Uint16Array[] = [], lowest = planes.map(() => new Int8Array(64).fill(-1));
  for (; scan !== undefined; scan = markers.nextScan()) {
    const { components, start, end, high, low } = scan;
    if (progressive) {
      const band = start === 0 ? end === 0 : start <= end && end <= 63 && components.length === 1;
      if (!band || low > 13 || (high > 0 && low !== high - 1)) throw invalid("malformed progressive scan header");
    }
    for (const index of components) {
      if (!progressive && divisors[index] !== undefined) throw invalid("a component is coded twice");
      divisors[index] ??= divisorsOf(markers, index);
      if (!progressive) continue;
      if (start > 0 && lowest[index][0] < 0) throw invalid("AC coefficients come before DC");
      for (let k = start; k <= end; k++) {
        if (lowest[index][k] !== (high === 0 ? -1 : high)) throw invalid("the progressive scans are out of order");
        lowest[index][k] = low;
      }
    }
    if (!progressive && (start !== 0 || end !== 63 || high !== 0 || low !== 0)) {
      throw invalid("a sequential scan selects a part of the coefficients");
    }
    markers.position = decodeScan(markers, scan, planes);
  }
  if (progressive && lowest.some((bits) => bits.some((bit) => bit !== 0))) {
    throw new SvcError("jpeg_unsupported", "Cannot decode a progressive JPEG file with missing scans");
  }
  const sources = planes.map(({ wide, blocks }, index) => {
    if (divisors[index] === undefined) throw invalid("a component is missing");
    const samples = blocks.map((block) => {
      const natural = new Int16Array(64);
      block.forEach((value, k) => natural[ZIGZAG[k]] = value * divisors[index][ZIGZAG[k]]);
      return inverse(natural);
    });
    const sample = (x: number, y: number) => samples[(y >> 3) * wide + (x >> 3)][(y & 7) * 8 + (x & 7)];
    return upsampled(geometry, geometry.components[index], sample);
  });
  const pixels = Array.from({ length: width * height }, (_, at) => {
    const found = sources.map((source) => source(at % width, Math.floor(at / width)));
    return found.length === 1 || markers.isRgb ? found : rgb(found[0], found[1], found[2]);
  });
  return { width, height, channels: sources.length as 1 | 3, data: Uint8Array.from(pixels.flat()) };
}
