/** Decodes the entropy-coded data of one scan, sequential or progressive (T.81 annexes F.2 and G.2). */
import { BitReader, invalid } from "./bit_reader.ts";
import type { FrameGeometry } from "./geometry.ts";
import type { HuffmanDecoder } from "./huffman.ts";
import type { MarkerReader, ScanHeader } from "./markers.ts";
import { ZIGZAG } from "./tables.ts";

/** The tables of one component of a scan. */
interface ScanComponent {
  /** Index into the frame's components. */
  readonly index: number;
  readonly dc: HuffmanDecoder;
  readonly ac: HuffmanDecoder;
  previous: number;
}

/**
 * Visits the units of a scan, including restart markers.
 * @param visit decodes one block at a block column and row, possibly in the padding of the last unit
 * @param restarted called at the start of each restart interval
 * @returns position of the marker after the scan
 */
function walk(
  markers: MarkerReader,
  scan: ScanHeader,
  geometry: FrameGeometry,
  reader: BitReader,
  visit: (position: number, column: number, row: number) => void,
  restarted: () => void,
): number {
  const parts = scan.components.map((index) => geometry.components[index]);
  const alone = parts.length === 1;
  const unitsWide = alone ? parts[0].blocksWide : geometry.unitsWide;
  const unitsHigh = alone ? parts[0].blocksHigh : geometry.unitsHigh;
  let untilRestart = markers.restartInterval, restarts = 0;
  for (let unitRow = 0; unitRow < unitsHigh; unitRow++) {
    for (let unitColumn = 0; unitColumn < unitsWide; unitColumn++) {
      if (markers.restartInterval > 0 && untilRestart-- === 0) {
        reader.restart(restarts++ & 7);
        restarted();
        untilRestart = markers.restartInterval - 1;
      }
      for (let position = 0; position < parts.length; position++) {
        const wide = alone ? 1 : parts[position].horizontal, high = alone ? 1 : parts[position].vertical;
        for (let v = 0; v < high; v++) {
          for (let h = 0; h < wide; h++) visit(position, unitColumn * wide + h, unitRow * high + v);
        }
      }
      reader.check();
    }
  }
  return reader.finish();
}

function scanComponents(markers: MarkerReader, scan: ScanHeader, needsDc: boolean, needsAc: boolean): ScanComponent[] {
  const table = (slot: number, needed: boolean): HuffmanDecoder => {
    const found = markers.huffman[slot];
    if (needed && found === undefined) throw invalid("a scan uses an undefined Huffman table");
    return found!;
  };
  return scan.components.map((index, position) => ({
    index,
    dc: table(scan.dcTables[position] * 2, needsDc),
    ac: table(scan.acTables[position] * 2 + 1, needsAc),
    previous: 0,
  }));
}

/**
 * Decodes a sequential scan block by block.
 * @param output receives the dequantised coefficients of a block, natural order; `last` is the zigzag position of the
 *   last non-zero one
 * @param quantization divisors by component of the frame, natural order
 */
export function decodeSequentialScan(
  markers: MarkerReader,
  scan: ScanHeader,
  quantization: readonly Uint16Array[],
  output: (component: number, column: number, row: number, block: Int16Array, last: number) => void,
): number {
  if (scan.start !== 0 || scan.end !== 63 || scan.high !== 0 || scan.low !== 0) {
    throw invalid("a sequential scan selects a part of the coefficients");
  }
  const reader = new BitReader(markers.bytes, markers.position);
  const components = scanComponents(markers, scan, true, true);
  const block = new Int16Array(64);
  const visit = (position: number, column: number, row: number) => {
    const component = components[position], divisors = quantization[component.index];
    block.fill(0);
    component.previous += reader.value(reader.symbol(component.dc));
    block[0] = component.previous * divisors[0];
    let last = 0;
    for (let k = 1; k < 64; k++) {
      const symbol = reader.symbol(component.ac), category = symbol & 15;
      if (category === 0) {
        if (symbol !== 0xf0) break;
        k += 15;
        continue;
      }
      k += symbol >> 4;
      if (k > 63) throw invalid("a block has more than 64 coefficients");
      const at = ZIGZAG[k];
      block[at] = reader.value(category) * divisors[at];
      last = k;
    }
    output(component.index, column, row, block, last);
  };
  return walk(markers, scan, markers.frame!.geometry, reader, visit, () => {
    for (const component of components) component.previous = 0;
  });
}

/** The coefficients of one component during decoding: 64 in zigzag order per block, including padding blocks. */
export interface CoefficientPlane {
  readonly data: Int16Array;
  readonly blocksPerRow: number;
}

/** Decodes a progressive scan into the coefficients. @returns position of the marker after the scan */
export function decodeProgressiveScan(
  markers: MarkerReader,
  scan: ScanHeader,
  planes: readonly CoefficientPlane[],
): number {
  const { start, end, high, low } = scan;
  const reader = new BitReader(markers.bytes, markers.position);
  const components = scanComponents(markers, scan, start === 0 && high === 0, start > 0);
  let bandRun = 0;
  const blockStart = (position: number, column: number, row: number) => {
    const plane = planes[scan.components[position]];
    return (row * plane.blocksPerRow + column) * 64;
  };
  const dcFirst = (position: number, column: number, row: number) => {
    const component = components[position];
    component.previous += reader.value(reader.symbol(component.dc));
    planes[component.index].data[blockStart(position, column, row)] = component.previous << low;
  };
  const dcRefinement = (position: number, column: number, row: number) => {
    if (reader.bits(1) === 1) {
      planes[scan.components[position]].data[blockStart(position, column, row)] |= 1 << low;
    }
  };
  const acFirst = (position: number, column: number, row: number) => {
    if (bandRun > 0) {
      bandRun--;
      return;
    }
    const { data } = planes[scan.components[position]], at = blockStart(position, column, row);
    const table = components[position].ac;
    for (let k = start; k <= end; k++) {
      const symbol = reader.symbol(table), run = symbol >> 4, category = symbol & 15;
      if (category === 0) {
        if (run < 15) {
          bandRun = (1 << run) - 1 + (run > 0 ? reader.bits(run) : 0);
          return;
        }
        k += 15;
        continue;
      }
      k += run;
      if (k > end) throw invalid("a block has more coefficients than its scan");
      data[at + k] = reader.value(category) << low;
    }
  };
  const plus = 1 << low, minus = -1 << low;
  const correct = (data: Int16Array, at: number) => {
    if (reader.bits(1) === 1 && (data[at] & plus) === 0) data[at] += data[at] >= 0 ? plus : minus;
  };
  const acRefinement = (position: number, column: number, row: number) => {
    const { data } = planes[scan.components[position]], at = blockStart(position, column, row);
    const table = components[position].ac;
    let k = start;
    while (bandRun === 0 && k <= end) {
      const symbol = reader.symbol(table), category = symbol & 15;
      let run = symbol >> 4, value = 0;
      if (category === 1) {
        value = reader.bits(1) === 1 ? plus : minus;
      } else if (category !== 0) {
        throw invalid("a refinement adds more than one bit");
      } else if (run < 15) {
        bandRun = (1 << run) + (run > 0 ? reader.bits(run) : 0);
        break;
      }
      // Known coefficients take a correction bit; the run counts the zeros between them.
      for (; k <= end; k++) {
        if (data[at + k] !== 0) correct(data, at + k);
        else if (--run < 0) break;
      }
      if (value !== 0) {
        if (k > end) throw invalid("a block has more coefficients than its scan");
        data[at + k] = value;
      }
      k++;
    }
    if (bandRun > 0) {
      for (; k <= end; k++) if (data[at + k] !== 0) correct(data, at + k);
      bandRun--;
    }
  };
  const visit = start === 0 ? (high === 0 ? dcFirst : dcRefinement) : (high === 0 ? acFirst : acRefinement);
  const position = walk(markers, scan, markers.frame!.geometry, reader, visit, () => {
    if (bandRun > 0) throw invalid("a run of blocks crosses a restart marker");
    for (const component of components) component.previous = 0;
  });
  if (bandRun > 0) throw invalid("a run of blocks continues after the last block");
  return position;
}
