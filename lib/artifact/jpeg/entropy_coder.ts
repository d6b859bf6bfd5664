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
import { blockRows } from "./transform.ts";

/** Slots of tables: twice the table id, plus one for AC; the last is for bits without a symbol. */
const SLOTS = 5;
/** Most tokens of a block, and of all blocks before it that wait for a symbol. */
const BLOCK_TOKENS = 70, WAITING_TOKENS = 2048;
/** Tokens that are written at once, and most bytes of a token. */
const WRITTEN_TOKENS = 8192, TOKEN_BYTES = 8;
/** Blocks of one component that are coded at once. */
const CHUNK = 256;

/** A component with its coefficients: 64 in natural order per block, row by row. */
export interface CodedComponent {
  readonly coefficients: Int16Array;
  /** Huffman table id, which is also the quantisation table id. */
  readonly table: number;
}

/** Codes the scans of one frame. Only one coder is in use at a time. */
export class EntropyCoder {
  readonly #heads: number;
  readonly #reciprocals: number;
  readonly #blocks: number[];
  readonly #tokens: number;
  readonly #counts: number;
  readonly #codes: number;
  readonly #output: number;
  /** Tokens that wait for their tables. */
  #kept: Uint32Array[] = [];

  /** Transform coefficients, scaled by 8, or quantised ones. */
  #components: readonly CodedComponent[];

  constructor(readonly frame: FrameGeometry, components: readonly CodedComponent[]) {
    this.#components = components;
    const layout = new Layout();
    const counts = frame.components.map(({ blocksWide }, index) => blockRows(frame, index) * blocksWide);
    this.#heads = layout.take(32 * components.length);
    this.#reciprocals = layout.take(4 * 64 * 2);
    this.#blocks = counts.map((count) => layout.take(128 * Math.max(count, CHUNK)));
    // Padding blocks have two tokens.
    const most = counts.reduce((sum, count) => sum + count + 4, 0);
    this.#tokens = layout.take(4 * (BLOCK_TOKENS * Math.max(most, CHUNK) + WAITING_TOKENS));
    this.#counts = layout.take(4 * SLOTS * 256);
    this.#codes = layout.take(4 * SLOTS * 256);
    this.#output = layout.take(WRITTEN_TOKENS * TOKEN_BYTES);
    layout.reserve();
  }

  get components(): readonly CodedComponent[] {
    return this.#components;
  }

  /**
   * Sets the divisors of a table, for {@link quantize} and for sequential scans.
   * @param divisors in zigzag order
   */
  setDivisors(table: number, divisors: Uint8Array): void {
    const reciprocals = new Float32Array(memory().buffer, this.#reciprocals + 256 * table, 64);
    divisors.forEach((divisor, k) => reciprocals[ZIGZAG[k]] = (1 + 2 ** -20) / (8 * divisor));
  }

  /** Replaces the coefficients of all components by quantised ones, for progressive scans. */
  quantize(): void {
    const from = this.#blocks[0], to = this.#tokens;
    this.#components = this.#components.map(({ coefficients, table }) => {
      const quantized = new Int16Array(coefficients.length);
      chunks(coefficients, (part, at) => {
        values(from, part.length).set(part);
        kernels.quantizeBlocks(from, part.length / 64, this.#reciprocals + 256 * table, to);
        quantized.set(values(to, part.length), at);
      });
      return { coefficients: quantized, table };
    });
  }

  /** Places the blocks of a row of units, and describes them. */
  #place(row: number): void {
    const { frame } = this, components = this.#components;
    const head = words(this.#heads, 8 * components.length);
    components.forEach(({ coefficients, table }, index) => {
      const { horizontal, blocksWide, blocksHigh } = frame.components[index];
      const wanted = blockRows(frame, index), first = row * wanted, found = Math.min(wanted, blocksHigh - first);
      const from = first * blocksWide * 64, length = found * blocksWide * 64;
      values(this.#blocks[index], length).set(coefficients.subarray(from, from + length));
      const across = components.length === 1 ? 1 : horizontal, previous = row === 0 ? 0 : head[8 * index + 7];
      const reciprocals = this.#reciprocals + 256 * table;
      head.set([this.#blocks[index], blocksWide, found, across, wanted, table, reciprocals, previous], 8 * index);
    });
  }

  /** Rows of units of an interleaved scan, and units in a row. A unit of one component is one block. */
  #units(): [high: number, wide: number] {
    const { unitsHigh, unitsWide, components } = this.frame;
    return components.length === 1 ? [components[0].blocksHigh, components[0].blocksWide] : [unitsHigh, unitsWide];
  }

  /**
   * Quantises all components, and gives the tokens of a sequential scan.
   * @param take receives the addresses of tokens and of their end
   */
  #sequential(take: (from: number, end: number) => void): void {
    const [high, wide] = this.#units();
    for (let row = 0; row < high; row++) {
      this.#place(row);
      take(
        this.#tokens,
        kernels.sequentialTokens(this.#heads, this.#components.length, wide, this.#tokens),
      );
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
    const [rows, wide] = this.#units();
    for (let row = 0; row < rows; row++) {
      this.#place(row);
      const { length } = this.#components;
      this.#keep(this.#tokens, kernels.dcTokens(this.#heads, length, wide, Number(high > 0), low, this.#tokens));
    }
  }

  #ac({ components: [index], start, end, high, low }: Scan): void {
    const { coefficients, table } = this.#components[index], slot = 2 * table + 1, blocks = this.#blocks[0];
    const tokens = this.#tokens, code = high === 0 ? kernels.acTokens : kernels.refinementTokens;
    kernels.startBand();
    chunks(coefficients, (part) => {
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
    const table = words(this.#codes, SLOTS * 256).fill(0);
    specs.forEach((spec, slot) => {
      if (spec === undefined) return;
      const { codes, lengths } = huffmanCodes(spec);
      for (let symbol = 0; symbol < 256; symbol++) table[slot * 256 + symbol] = codes[symbol] << 8 | lengths[symbol];
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

/** Visits blocks in groups of at most {@link CHUNK}. */
function chunks(coefficients: Int16Array, visit: (part: Int16Array, at: number) => void): void {
  for (let at = 0; at < coefficients.length; at += 64 * CHUNK) visit(coefficients.subarray(at, at + 64 * CHUNK), at);
}
