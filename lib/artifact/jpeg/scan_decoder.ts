/** Decodes the entropy-coded data of one scan, sequential or progressive: the units between restart markers, by rows. */
import { kernels, Layout, memory, values, words } from "./kernel.ts";
import { ENDS, invalid, type MarkerReader, type ScanHeader } from "./markers.ts";
import { ZIGZAG } from "./tables.ts";
import type { SamplePlane } from "./pixels.ts";

/** Results of the kernels, from 1 on. */
const FAILURES = [
  "unknown Huffman code",
  "a block has more than 64 coefficients",
  "the entropy-coded data end early",
  "a block has more coefficients than its scan",
  "a refinement adds more than one bit",
];
const ENDED = 3;
/** The fault of a sequential scan that libjpeg completes: the unit at the end gets zero bits, all others are grey. */
const CUT = "the entropy-coded data end early, the rest of the image is grey";
/** The same of a progressive scan: blocks behind the unit at the end keep what earlier scans gave. */
const COARSE = "the entropy-coded data end early, the rest of the image is coarse";

/** Bytes that a block takes at most, stuffing included: 64 codes of 16 bits with 15 extra bits. */
const BLOCK_BYTES = 2 * Math.ceil(64 * (16 + 15) / 8);
/** Bytes that the kernel reads ahead, and that are read beyond those of a row. */
const AHEAD_BYTES = 64, SPARE_BYTES = 1 << 16;
/** Words of a component of a scan. */
const HEAD = 8;

/** Coefficients of one component: 64 in natural order per block, including padding blocks. */
export interface CoefficientPlane {
  readonly data: Int16Array;
  readonly blocksPerRow: number;
}

/** The part of the file that the kernel sees. */
class Window {
  /** Position in the file of the first byte. */
  #start: number;
  #end: number;
  readonly #capacity: number;
  readonly #address: number;

  /** @param rowBytes most bytes that {@link ensure} asks for */
  constructor(readonly markers: MarkerReader, position: number, rowBytes: number, layout: Layout) {
    this.#capacity = Math.min(2 * rowBytes + SPARE_BYTES, markers.bytes.length - position);
    this.#address = layout.take(this.#capacity);
    this.#start = this.#end = position;
  }

  get #position(): number {
    return this.#start + kernels.inputAt() - this.#address;
  }

  /** Starts a run of entropy-coded data, at the position or behind it; {@link ensure} provides its bytes. */
  start(position: number): void {
    kernels.startData();
    kernels.setInput(this.#address + position - this.#start, this.#address + this.#end - this.#start);
  }

  #move(position: number): void {
    const part = this.markers.bytes.subarray(position, position + this.#capacity);
    memory().set(part, this.#address);
    this.#start = position;
    this.#end = position + part.length;
    kernels.setInput(this.#address, this.#address + part.length);
  }

  /** Provides a number of bytes, or all that are left. */
  ensure(count: number): void {
    const position = this.#position;
    if (position + count > this.#end && this.#end < this.markers.bytes.length) this.#move(position);
  }

  /**
   * Ends a run of entropy-coded data.
   * @returns position of the following marker
   * @throws SvcError `jpeg_invalid` when the data ended before, or continue
   */
  finish(): number {
    const { bytes } = this.markers;
    let at = this.#position;
    const more = kernels.unusedBits() >= 8;
    if (!more && at >= bytes.length) {
      if (this.markers.tolerates(ENDS)) return at;
      throw invalid("it ends without a marker");
    }
    if (more || bytes[at] !== 0xff || bytes[at + 1] === 0) {
      // The reader of markers skips the bytes.
      if (this.markers.tolerates("the entropy-coded data continue after the last block")) return at;
      throw invalid("the entropy-coded data continue after the last block");
    }
    // Fill bytes may precede a marker.
    while (bytes[at + 1] === 0xff) at++;
    return at;
  }

  /** The place where the data ended early; null where neither the end of the image nor that of the file is there. */
  cutAt(): number | null {
    const { bytes } = this.markers, at = this.#position;
    let next = at;
    while (bytes[next] === 0xff) next++;
    return bytes[next] === undefined || bytes[next] === 0xd9 ? at : null;
  }

  /** Skips a restart marker. @throws SvcError `jpeg_invalid` for another marker */
  restart(number: number): void {
    const at = this.finish(), marker = this.markers.bytes[at + 1], cut = marker === undefined;
    if (marker !== 0xd0 + number && !(cut && this.markers.tolerates(ENDS))) {
      throw invalid(`restart marker ${number} is missing`);
    }
    this.start(cut ? at : at + 2);
  }
}

/** What a scan decodes into: samples, or coefficients that it adds to. */
interface Target {
  /** Bytes of a sample or coefficient. */
  readonly size: 1 | 2;
  readonly planes: readonly { readonly data: Uint8Array | Int16Array; readonly stride: number }[];
  /** Whether the old contents matter. */
  readonly keeps: boolean;
}

/** One scan in the memory of the kernels: a row of units at a time. */
class ScanMemory {
  readonly unitsWide: number;
  readonly unitsHigh: number;
  readonly heads: number;
  /** Addresses of the row of units, by scan position. */
  readonly rows: number[];
  readonly window: Window;
  readonly #rowBlocks: number[];
  readonly #unitBlocks: number;
  /** Whether the data ended early. */
  ended = false;

  constructor(
    readonly markers: MarkerReader,
    readonly scan: ScanHeader,
    readonly target: Target,
    tables: { dc: boolean; ac: boolean; divisors?: readonly Uint16Array[] },
  ) {
    const { components } = scan, geometry = markers.frame!.geometry, alone = components.length === 1;
    const parts = components.map((index) => geometry.components[index]);
    this.unitsWide = alone ? parts[0].blocksWide : geometry.unitsWide;
    this.unitsHigh = alone ? parts[0].blocksHigh : geometry.unitsHigh;
    const across = parts.map(({ horizontal }) => alone ? 1 : horizontal);
    const down = parts.map(({ vertical }) => alone ? 1 : vertical);
    const strides = components.map((index) => target.planes[index].stride);
    this.#rowBlocks = strides.map((stride, position) => stride / 8 * down[position]);
    this.#unitBlocks = across.reduce((sum, wide, position) => sum + wide * down[position], 0);
    const huffman = scanTables(markers, scan, tables);
    const layout = new Layout();
    this.heads = layout.take(4 * HEAD * components.length);
    this.rows = this.#rowBlocks.map((blocks) => layout.take(64 * target.size * blocks));
    const spec = layout.take(16 + 256), tableBytes = kernels.tableBytes();
    const built = new Map([...new Set(huffman.flat())].map((table) => [table, layout.take(tableBytes)]));
    const divisors = components.map(() => layout.take(4 * 64));
    const rowBytes = this.#unitBlocks * this.unitsWide * BLOCK_BYTES + AHEAD_BYTES;
    this.window = new Window(markers, markers.position, rowBytes, layout);
    layout.reserve();
    for (const [table, address] of built) {
      if (table === undefined) continue;
      memory().set(table.counts, spec);
      memory().set(table.symbols, spec + 16);
      kernels.buildTable(spec, address);
    }
    components.forEach((index, position) => {
      const [dc, ac] = huffman[position].map((table) => built.get(table)!);
      const row = this.rows[position], factors = [across[position], down[position]];
      words(this.heads, HEAD * components.length).set(
        [row, strides[position], ...factors, dc, ac, divisors[position], 0],
        HEAD * position,
      );
      const values = tables.divisors?.[index];
      if (values !== undefined) {
        words(divisors[position], 64).set(Array.from(ZIGZAG, (at) => values[at] << 16 | 2 * at));
      }
    });
    this.window.start(markers.position);
  }

  /** Zeroes the last DC values. */
  restart(): void {
    const heads = words(this.heads, HEAD * this.rows.length);
    for (let at = HEAD - 1; at < heads.length; at += HEAD) heads[at] = 0;
  }

  /**
   * Decodes all units, including restart markers.
   * @param decode a number of units from a column on
   * @param restarted called at the start of each restart interval
   * @param cut whether data that end early are completed, as libjpeg does
   * @returns position of the marker after the scan; null for data that end early and can be completed
   */
  walk(decode: (column: number, units: number) => number, restarted: () => void, cut = false): number | null {
    const { restartInterval } = this.markers, interval = restartInterval > 0 ? restartInterval : Infinity;
    let untilRestart = interval, restarts = 0;
    for (let row = 0; row < this.unitsHigh; row++) {
      if (this.target.keeps) this.#copyRow(row, "in");
      for (let column = 0; column < this.unitsWide;) {
        if (untilRestart === 0) {
          this.window.restart(restarts++ & 7);
          this.restart();
          restarted();
          untilRestart = interval;
        }
        const units = cut ? 1 : Math.min(this.unitsWide - column, untilRestart);
        this.window.ensure(units * this.#unitBlocks * BLOCK_BYTES + AHEAD_BYTES);
        const failure = decode(column, units);
        const end = failure === ENDED ? this.window.cutAt() : null, keeps = this.target.keeps;
        if (end !== null && this.markers.tolerates(keeps ? COARSE : CUT)) {
          this.ended = true;
          if (keeps) this.#copyRow(row, "out");
          else if (!cut) return null;
          else this.#grey(row, column + 1);
          return end;
        }
        if (failure > 0) throw invalid(FAILURES[failure - 1]);
        column += units;
        untilRestart -= units;
      }
      this.#copyRow(row, "out");
    }
    return this.window.finish();
  }

  /** Fills the units from a column on, and all rows below, with the middle of the samples. */
  #grey(row: number, column: number): void {
    const heads = words(this.heads, HEAD * this.rows.length);
    this.rows.forEach((address, position) => {
      const [, stride, across, down] = heads.subarray(HEAD * position, HEAD * (position + 1));
      for (let line = 0; line < 8 * down; line++) {
        memory().fill(128, address + line * stride + 8 * across * column, address + (line + 1) * stride);
      }
    });
    this.#copyRow(row, "out");
    this.scan.components.forEach((index, position) => {
      this.target.planes[index].data.fill(128, (row + 1) * 64 * this.#rowBlocks[position]);
    });
  }

  #copyRow(row: number, direction: "in" | "out"): void {
    const { scan, target, rows } = this;
    scan.components.forEach((index, position) => {
      const { data } = target.planes[index], length = 64 * this.#rowBlocks[position], from = row * length;
      const kept = target.size === 1
        ? memory().subarray(rows[position], rows[position] + length)
        : values(rows[position], length);
      if (direction === "in") kept.set(data.subarray(from, from + length));
      else data.set(kept, from);
    });
  }
}

/** The DC and the AC table of each component; undefined where the scan uses none. */
function scanTables(markers: MarkerReader, scan: ScanHeader, needs: { dc: boolean; ac: boolean }) {
  const table = (slot: number, needed: boolean) => {
    return needed ? markers.huffmanTable(slot) : undefined;
  };
  return scan.components.map((_, position) => [
    table(scan.dcTables[position] * 2, needs.dc),
    table(scan.acTables[position] * 2 + 1, needs.ac),
  ]);
}

/**
 * Decodes a sequential scan.
 * @param divisors by component of the frame, natural order
 * @param planes receive the samples
 * @returns position of the marker after the scan
 */
export function decodeSequentialScan(
  markers: MarkerReader,
  scan: ScanHeader,
  divisors: readonly Uint16Array[],
  planes: readonly SamplePlane[],
): number {
  if (scan.start !== 0 || scan.end !== 63 || scan.high !== 0 || scan.low !== 0) {
    throw invalid("a sequential scan selects a part of the coefficients");
  }
  const target = { size: 1, planes, keeps: false } as const, count = scan.components.length;
  const decode = (cut: boolean) => {
    const task = new ScanMemory(markers, scan, target, { dc: true, ac: true, divisors });
    return task.walk((column, units) => kernels.sequentialUnits(task.heads, count, column, units), () => {}, cut);
  };
  // Unit by unit only where the data end early: there the place of the last unit matters.
  return decode(false) ?? decode(true)!;
}

/** Decodes a progressive scan into the coefficients. @returns position of the marker after the scan */
export function decodeProgressiveScan(
  markers: MarkerReader,
  scan: ScanHeader,
  planes: readonly CoefficientPlane[],
): number {
  const { start, end, high, low } = scan, count = scan.components.length;
  const target: Target = {
    size: 2,
    planes: planes.map(({ data, blocksPerRow }) => ({ data, stride: blocksPerRow * 8 })),
    keeps: true,
  };
  const task = new ScanMemory(markers, scan, target, { dc: start === 0 && high === 0, ac: start > 0 });
  const refines = high > 0, blocks = task.rows[0], table = words(task.heads, HEAD)[5];
  const ofBand = refines ? kernels.refinementBlocks : kernels.acBlocks;
  const decode = start === 0
    ? (column: number, units: number) => kernels.dcUnits(task.heads, count, column, units, Number(refines), low)
    : (column: number, units: number) => ofBand(blocks + 128 * column, units, table, start, end, low);
  kernels.startBlocks();
  const position = task.walk(decode, () => {
    if (kernels.remainingBlocks() > 0) throw invalid("a run of blocks crosses a restart marker");
  })!;
  if (!task.ended && kernels.remainingBlocks() > 0) throw invalid("a run of blocks continues after the last block");
  return position;
}
