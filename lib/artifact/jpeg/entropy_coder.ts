/**
 * Entropy coding in two steps: a scan becomes tokens of one Huffman symbol with its extra bits, which are counted for fitted
 * tables, and written.
 */
import type { ByteWriter } from "./byte_writer.ts";
import type { FrameGeometry } from "./geometry.ts";
import { huffmanCodes } from "./huffman.ts";
import { kernels, Layout, memory, values, words } from "./kernel.ts";
import type { Scan } from "./progressive_script.ts";
import { type HuffmanSpec, ZIGZAG } from "./tables.ts";
import { blockRows, type BlockSource, KeptBlocks, rowRoom, rowsOfUnits } from "./transform.ts";

/** Slots of tables: twice the table id, plus one for AC; the last is for bits without a symbol. */
const SLOTS = 5;
/** Most tokens of a block, and of all blocks before it that wait for a symbol. */
const BLOCK_TOKENS = 70, WAITING_TOKENS = 2048;
/** Most bytes of a token that is written, and tokens that are written at once. */
const TOKEN_BYTES = 8, WRITTEN_TOKENS = 8192;
/** Words of a component of a scan. */
const HEAD = 8;
/** Blocks of one component that are coded at once. */
const CHUNK = 256;

/** The table id of a component, for Huffman codes and divisors. */
export const tableOf = (component: number): number => component === 0 ? 0 : 1;

/**
 * The factor by which the kernel divides coefficients, eight times the transform. It is larger by 2^-20 than the reciprocal,
 * so that halves are rounded away from zero. Exported for tests.
 */
export const reciprocalOf = (divisor: number): number => (1 + 2 ** -20) / (8 * divisor);

/** Codes the scans of one frame. Only one coder is in use at a time. */
export class EntropyCoder {
  readonly #frame: FrameGeometry;
  /** Transform coefficients, scaled by 8, or quantised ones. */
  #source: BlockSource;
  /** Quantised coefficients by component. */
  #quantized: readonly Int16Array[] = [];
  readonly #heads: number;
  readonly #reciprocals: number;
  readonly #blocks: number[];
  /** Coefficients that are not zero of each block. */
  readonly #sets: number[];
  readonly #chunk: number;
  /** Tokens of a row of units, or its bytes. */
  readonly #tokens: number;
  readonly #counts: number;
  readonly #codes: number;
  readonly #output: number;
  /** Tokens that wait for their tables. */
  #kept: Uint32Array[] = [];

  /** @param divisors by table, in zigzag order */
  constructor(source: BlockSource, divisors: readonly Uint8Array[]) {
    this.#source = source;
    const frame = this.#frame = source.frame, layout = new Layout();
    source.prepare(layout);
    this.#heads = layout.take(4 * HEAD * frame.components.length);
    this.#reciprocals = layout.take(4 * 64 * divisors.length);
    this.#blocks = rowRoom(frame, layout);
    this.#sets = frame.components.map(({ blocksWide }, at) => layout.take(8 * blockRows(frame, at) * blocksWide));
    this.#chunk = layout.take(128 * CHUNK);
    // Padding blocks have two tokens.
    const most = frame.components.reduce((sum, { blocksWide }, at) => sum + blockRows(frame, at) * blocksWide + 4, 0);
    this.#tokens = layout.take(TOKEN_BYTES * (BLOCK_TOKENS * Math.max(most, CHUNK) + WAITING_TOKENS));
    this.#counts = layout.take(4 * SLOTS * 256);
    this.#codes = layout.take(4 * SLOTS * 256);
    this.#output = layout.take(WRITTEN_TOKENS * TOKEN_BYTES);
    layout.reserve();
    const head = this.#head;
    frame.components.forEach(({ horizontal, blocksWide }, at) => {
      const across = frame.components.length === 1 ? 1 : horizontal, down = blockRows(frame, at);
      head.set([this.#blocks[at], blocksWide, 0, across, down, tableOf(at), this.#sets[at], 0], HEAD * at);
    });
    divisors.forEach((table, id) => {
      const reciprocals = new Float32Array(memory().buffer, this.#reciprocals + 256 * id, 64);
      table.forEach((divisor, k) => reciprocals[ZIGZAG[k]] = reciprocalOf(divisor));
    });
  }

  /** Quantises the coefficients, for progressive scans. */
  quantize(): void {
    const kept = KeptBlocks.from(this.#source, this.#blocks, (at, count) => this.#quantizeRow(at, count));
    this.#source = kept;
    this.#quantized = kept.blocks;
  }

  #quantizeRow(component: number, count: number): void {
    const reciprocals = this.#reciprocals + 256 * tableOf(component);
    kernels.quantizeBlocks(this.#blocks[component], count, reciprocals, this.#sets[component]);
  }

  /** Places the blocks of a row of units, and describes them. */
  #place(row: number, head: Uint32Array): void {
    this.#source.place(row, this.#blocks);
    for (let at = 0; at < this.#blocks.length; at++) {
      head[HEAD * at + 2] = rowsOfUnits(this.#frame, at, row)[1];
      if (row === 0) head[HEAD * at + 7] = 0;
    }
  }

  /** Rows of units of an interleaved scan, and units in a row. A unit of one component is one block. */
  #units(): [high: number, wide: number] {
    const { unitsHigh, unitsWide, components } = this.#frame;
    return components.length === 1 ? [components[0].blocksHigh, components[0].blocksWide] : [unitsHigh, unitsWide];
  }

  get #head(): Uint32Array {
    return words(this.#heads, HEAD * this.#blocks.length);
  }

  /**
   * Quantises all components, and gives the tokens of a sequential scan.
   * @param take receives the addresses of tokens and of their end
   */
  #sequential(take: (from: number, end: number) => void): void {
    const [high, wide] = this.#units(), { components } = this.#frame, head = this.#head;
    for (let row = 0; row < high; row++) {
      this.#place(row, head);
      for (let at = 0; at < components.length; at++) {
        this.#quantizeRow(at, head[HEAD * at + 2] * components[at].blocksWide);
      }
      take(this.#tokens, kernels.sequentialTokens(this.#heads, components.length, wide, this.#tokens));
    }
  }

  /** Keeps the tokens of a sequential scan. @returns symbol counts of the slots */
  countSequential(): Uint32Array[] {
    this.#startCount();
    this.#sequential((from, end) => this.#keep(from, end));
    return this.#frequencies();
  }

  /** Keeps the tokens of a progressive scan of quantised components. @returns symbol counts of the slots */
  countProgressive(scan: Scan): Uint32Array[] {
    this.#startCount();
    if (scan.start === 0) this.#dc(scan);
    else this.#ac(scan);
    return this.#frequencies();
  }

  #dc({ high, low }: Scan): void {
    const [rows, wide] = this.#units(), head = this.#head;
    for (let row = 0; row < rows; row++) {
      this.#place(row, head);
      const { length } = this.#frame.components;
      this.#keep(this.#tokens, kernels.dcTokens(this.#heads, length, wide, Number(high > 0), low, this.#tokens));
    }
  }

  #ac({ components: [index], start, end, high, low }: Scan): void {
    const slot = 2 * tableOf(index) + 1, blocks = this.#chunk;
    const tokens = this.#tokens, code = high === 0 ? kernels.acTokens : kernels.refinementTokens;
    kernels.startBand();
    chunks(this.#quantized[index], (part) => {
      values(blocks, part.length).set(part);
      this.#keep(tokens, code(blocks, part.length / 64, slot, start, end, low, tokens));
    });
    this.#keep(tokens, kernels.finishBand(slot, tokens));
  }

  #startCount(): void {
    this.#kept = [];
    words(this.#counts, SLOTS * 256).fill(0);
  }

  #keep(from: number, end: number): void {
    kernels.countTokens(from, end, this.#counts);
    this.#kept.push(words(from, (end - from) / 4).slice());
  }

  #frequencies(): Uint32Array[] {
    const counts = words(this.#counts, SLOTS * 256).slice();
    return Array.from({ length: SLOTS - 1 }, (_, slot) => counts.subarray(slot * 256, (slot + 1) * 256));
  }

  /** @param specs tables by slot; unused slots may be undefined */
  #setTables(specs: readonly (HuffmanSpec | undefined)[]): void {
    const codes = words(this.#codes, SLOTS * 256).fill(0);
    specs.forEach((spec, slot) => {
      if (spec !== undefined) codes.set(packedCodes(spec), slot * 256);
    });
    kernels.startBits();
  }

  #write(from: number, end: number, writer: ByteWriter): void {
    const step = 4 * WRITTEN_TOKENS, output = this.#output;
    for (let at = from; at < end; at += step) {
      const done = kernels.writeTokens(at, Math.min(at + step, end), this.#codes, output);
      writer.bytes(memory().subarray(output, done));
    }
  }

  #finish(writer: ByteWriter): void {
    writer.bytes(memory().subarray(this.#output, kernels.finishBits(this.#output)));
  }

  /** Writes the kept tokens as entropy-coded data. */
  writeKept(specs: readonly (HuffmanSpec | undefined)[], writer: ByteWriter): void {
    this.#setTables(specs);
    for (const tokens of this.#kept) {
      words(this.#tokens, tokens.length).set(tokens);
      this.#write(this.#tokens, this.#tokens + 4 * tokens.length, writer);
    }
    this.#finish(writer);
  }

  /** Writes the entropy-coded data of a sequential scan with given tables. */
  writeSequential(specs: readonly HuffmanSpec[], writer: ByteWriter): void {
    this.#setTables(specs);
    this.#sequential((from, end) => this.#write(from, end, writer));
    this.#finish(writer);
  }
}

/** By symbol: code word << 8 | length. */
function packedCodes(spec: HuffmanSpec): Uint32Array {
  const { codes, lengths } = huffmanCodes(spec), packed = new Uint32Array(256);
  for (let symbol = 0; symbol < 256; symbol++) packed[symbol] = codes[symbol] << 8 | lengths[symbol];
  return packed;
}

/** Visits blocks in groups of at most {@link CHUNK}. */
function chunks(blocks: Int16Array, visit: (part: Int16Array) => void): void {
  for (let at = 0; at < blocks.length; at += 64 * CHUNK) visit(blocks.subarray(at, at + 64 * CHUNK));
}
