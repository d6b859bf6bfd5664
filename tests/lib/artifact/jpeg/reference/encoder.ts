/** Reference of the encoder, written to be read: entropy-coded data are texts of the digits 0 and 1 (T.81 annexes F.1, G.1). */
import { ByteWriter } from "../../../../../lib/artifact/jpeg/byte_writer.ts";
import type { JpegCoding, JpegImage } from "../../../../../lib/artifact/jpeg/encoder.ts";
import { type FrameGeometry, frameGeometry } from "../../../../../lib/artifact/jpeg/geometry.ts";
import { huffmanCodes, optimalHuffman } from "../../../../../lib/artifact/jpeg/huffman.ts";
import { defaultScript, type Scan } from "../../../../../lib/artifact/jpeg/progressive_script.ts";
import { quantizationTables } from "../../../../../lib/artifact/jpeg/quantization.ts";
import {
  type JpegSubsampling,
  SAMPLING_FACTORS,
  writeHeader,
  writeScanHeader,
  writeTable,
} from "../../../../../lib/artifact/jpeg/segments.ts";
import { type HuffmanSpec, STANDARD_HUFFMAN, ZIGZAG } from "../../../../../lib/artifact/jpeg/tables.ts";
import { forward, sampleOf } from "./transform.ts";

/** A symbol of the table in a slot, or none, and further bits. */
interface Token {
  slot?: number;
  symbol?: number;
  bits: string;
}

/** Blocks of a component, row by row, quantised, in zigzag order. */
type Blocks = number[][];

const digits = (value: number, length: number) => length === 0 ? "" : value.toString(2).padStart(length, "0");
const category = (value: number) => value === 0 ? 0 : Math.abs(value).toString(2).length;
const tableOf = (component: number) => component === 0 ? 0 : 1;

/** A value after a run of zeros. */
function valueToken(slot: number, run: number, value: number): Token {
  const length = category(value);
  return { slot, symbol: run << 4 | length, bits: digits(value < 0 ? value + 2 ** length - 1 : value, length) };
}

function quantizedBlocks(image: JpegImage, frame: FrameGeometry, component: number, divisors: Uint8Array): Blocks {
  const { blocksWide, blocksHigh } = frame.components[component];
  return Array.from({ length: blocksWide * blocksHigh }, (_, block) => {
    const left = block % blocksWide * 8, top = Math.floor(block / blocksWide) * 8;
    const coefficients = forward((x, y) => sampleOf(image, frame, component, left + x, top + y));
    return Array.from(divisors, (divisor, k) => {
      const value = coefficients[ZIGZAG[k]], quotient = Math.floor((Math.abs(value) + 4 * divisor) / (8 * divisor));
      return value < 0 ? -quotient : quotient;
    });
  });
}

/** Blocks in coded order; a block that pads a unit is undefined. */
function* codedOrder(frame: FrameGeometry, blocks: readonly Blocks[]): Generator<[number, number[] | undefined]> {
  if (blocks.length === 1) return yield* blocks[0].map((block): [number, number[]] => [0, block]);
  for (let unit = 0; unit < frame.unitsHigh * frame.unitsWide; unit++) {
    for (const [component, { horizontal, vertical, blocksWide, blocksHigh }] of frame.components.entries()) {
      for (let part = 0; part < horizontal * vertical; part++) {
        const row = Math.floor(unit / frame.unitsWide) * vertical + Math.floor(part / horizontal);
        const column = unit % frame.unitsWide * horizontal + part % horizontal;
        const inside = row < blocksHigh && column < blocksWide;
        yield [component, inside ? blocks[component][row * blocksWide + column] : undefined];
      }
    }
  }
}

function sequentialTokens(frame: FrameGeometry, blocks: readonly Blocks[]): Token[] {
  const tokens: Token[] = [], previous = blocks.map(() => 0);
  for (const [component, block] of codedOrder(frame, blocks)) {
    const slot = 2 * tableOf(component), [dc, ...ac] = block ?? [previous[component], ...Array<number>(63).fill(0)];
    tokens.push(valueToken(slot, 0, dc - previous[component]));
    previous[component] = dc;
    let run = 0;
    for (const value of ac) {
      if (value === 0) {
        run++;
        continue;
      }
      for (; run > 15; run -= 16) tokens.push({ slot: slot + 1, symbol: 0xf0, bits: "" });
      tokens.push(valueToken(slot + 1, run, value));
      run = 0;
    }
    if (run > 0) tokens.push({ slot: slot + 1, symbol: 0, bits: "" });
  }
  return tokens;
}

function dcTokens(frame: FrameGeometry, blocks: readonly Blocks[], { high, low }: Scan): Token[] {
  const previous = blocks.map(() => 0);
  return Array.from(codedOrder(frame, blocks), ([component, block]) => {
    const value = block === undefined ? previous[component] : block[0] >> low;
    const token = high > 0 ? { bits: String(value & 1) } : valueToken(
      2 * tableOf(component),
      0,
      value - previous[component],
    );
    previous[component] = value;
    return token;
  });
}

/** A scan of a band of one component. Runs end as in libjpeg: at 32767 blocks, or beyond 937 correction bits. */
function acTokens(blocks: Blocks, { components: [component], start, end, high, low }: Scan): Token[] {
  const tokens: Token[] = [], slot = 2 * tableOf(component) + 1;
  /** Blocks without new coefficients, and correction bits: of those blocks, and since the last symbol. */
  let blockRun = 0, blockBits = "", bits = "";
  const endRun = () => {
    if (blockRun === 0) return;
    const length = category(blockRun) - 1;
    tokens.push({ slot, symbol: length << 4, bits: digits(blockRun - 2 ** length, length) + blockBits });
    blockRun = 0;
    blockBits = "";
  };
  for (const block of blocks) {
    const band = block.slice(start, end + 1).map((value) => Math.sign(value) * (Math.abs(value) >> low));
    const isNew = (value: number) => high === 0 ? value !== 0 : Math.abs(value) === 1;
    const lastNew = band.findLastIndex(isNew);
    let run = 0;
    band.forEach((value, at) => {
      if (value === 0) {
        run++;
        return;
      }
      for (; run > 15 && at <= lastNew; run -= 16) {
        endRun();
        tokens.push({ slot, symbol: 0xf0, bits });
        bits = "";
      }
      if (!isNew(value)) {
        bits += Math.abs(value) & 1;
        return;
      }
      endRun();
      const token = high === 0 ? valueToken(slot, run, value) : valueToken(slot, run, Math.sign(value));
      tokens.push({ ...token, bits: token.bits + bits });
      bits = "";
      run = 0;
    });
    if (run > 0 || bits !== "") {
      blockRun++;
      blockBits += bits;
      bits = "";
      if (blockRun === 0x7fff || blockBits.length > 937) endRun();
    }
  }
  endRun();
  return tokens;
}

/** Symbol counts by slot. */
function countsOf(tokens: readonly Token[]): Uint32Array[] {
  const counts = STANDARD_HUFFMAN.map(() => new Uint32Array(256));
  for (const { slot, symbol } of tokens) if (slot !== undefined) counts[slot][symbol!]++;
  return counts;
}

function write(writer: ByteWriter, tokens: readonly Token[], specs: readonly (HuffmanSpec | undefined)[]): void {
  const codes = specs.map((spec) => spec && huffmanCodes(spec));
  const text = tokens.map(({ slot, symbol, bits }) => {
    if (slot === undefined) return bits;
    const { codes: words, lengths } = codes[slot]!;
    return digits(words[symbol!], lengths[symbol!]) + bits;
  }).join("");
  for (let at = 0; at < text.length; at += 8) {
    const byte = parseInt(text.slice(at, at + 8).padEnd(8, "1"), 2);
    writer.bytes(byte === 0xff ? [byte, 0] : [byte]);
  }
}

export function referenceFile(image: JpegImage, options: JpegCoding & { subsampling: JpegSubsampling }): Uint8Array {
  const { quality, subsampling, optimize = false, progressive = false } = options, { channels } = image;
  const factors = [SAMPLING_FACTORS[subsampling], [1, 1], [1, 1]] as const;
  const frame = frameGeometry(image.width, image.height, factors.slice(0, channels));
  const divisors = quantizationTables(quality);
  const blocks = frame.components.map((_, index) => quantizedBlocks(image, frame, index, divisors[tableOf(index)]));
  const writer = new ByteWriter();
  writeHeader(writer, frame, quality, progressive);
  if (progressive) {
    for (const scan of defaultScript(channels)) {
      const { components, start, end, high, low } = scan, ac = start > 0;
      const tokens = ac ? acTokens(blocks[components[0]], scan) : dcTokens(frame, blocks, scan),
        counts = countsOf(tokens);
      const specs: HuffmanSpec[] = [];
      for (const slot of new Set(components.map((index) => 2 * tableOf(index) + Number(ac)))) {
        if (ac || high === 0) writeTable(writer, slot, specs[slot] = optimalHuffman(counts[slot]));
      }
      const rows = components.map((index) => [index + 1, tableOf(index) << (ac ? 0 : high === 0 ? 4 : 8) & 255]);
      writer.segment(0xda, [components.length, ...rows.flat(), start, end, high << 4 | low]);
      write(writer, tokens, specs);
    }
  } else {
    const tokens = sequentialTokens(frame, blocks), slots = channels === 1 ? 2 : 4;
    const specs = optimize ? countsOf(tokens).slice(0, slots).map(optimalHuffman) : STANDARD_HUFFMAN.slice(0, slots);
    specs.forEach((spec, slot) => writeTable(writer, slot, spec));
    writeScanHeader(writer, channels);
    write(writer, tokens, specs);
  }
  writer.bytes([0xff, 0xd9]);
  return writer.finish();
}
