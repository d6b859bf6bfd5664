/** Tokens of a sequential scan over all components (T.81 F.1.2). */
import type { Tokens } from "./entropy_tokens.ts";
import type { FrameGeometry } from "./geometry.ts";

/** A component with its quantised coefficients: 64 in zigzag order per block, row by row. */
export interface CodedComponent {
  readonly coefficients: Int16Array;
  /** Huffman table id, which is also the quantisation table id. */
  readonly table: number;
}

/**
 * Visits the blocks of an interleaved scan in coded order. A block that pads a unit has the index -1; it repeats the DC
 * value of the previous block and has no AC.
 * @param endOfRow called after each row of units
 */
export function visitUnits(
  frame: FrameGeometry,
  visit: (component: number, block: number) => void,
  endOfRow: () => void,
): void {
  const { components } = frame;
  if (components.length === 1) { // one component: a unit is one block, whatever the sampling factors
    const { blocksWide, blocksHigh } = components[0];
    for (let row = 0, block = 0; row < blocksHigh; row++) {
      for (let column = 0; column < blocksWide; column++) visit(0, block++);
      endOfRow();
    }
    return;
  }
  for (let unitRow = 0; unitRow < frame.unitsHigh; unitRow++) {
    for (let unitColumn = 0; unitColumn < frame.unitsWide; unitColumn++) {
      for (let index = 0; index < components.length; index++) {
        const { horizontal, vertical, blocksWide, blocksHigh } = components[index];
        for (let v = 0; v < vertical; v++) {
          const row = unitRow * vertical + v;
          for (let h = 0; h < horizontal; h++) {
            const column = unitColumn * horizontal + h;
            visit(index, row < blocksHigh && column < blocksWide ? row * blocksWide + column : -1);
          }
        }
      }
    }
    endOfRow();
  }
}

/** Appends a DC difference as its category and extra bits. */
export function pushDifference(tokens: Tokens, slot: number, difference: number): void {
  const sign = difference >> 31;
  const category = 32 - Math.clz32((difference ^ sign) - sign);
  tokens.push(slot, category, category, (difference + sign) & ((1 << category) - 1));
}

/** Tokenises all blocks; `endOfRow` may consume the tokens. */
export function sequentialTokens(
  frame: FrameGeometry,
  components: readonly CodedComponent[],
  tokens: Tokens,
  endOfRow: () => void,
): void {
  const previous = new Int32Array(components.length);
  visitUnits(frame, (index, block) => {
    const { coefficients, table } = components[index];
    const acSlot = table * 2 + 1;
    tokens.reserve(65);
    if (block < 0) {
      tokens.push(table * 2, 0, 0, 0);
      tokens.push(acSlot, 0, 0, 0);
      return;
    }
    const start = block * 64, end = start + 64;
    pushDifference(tokens, table * 2, coefficients[start] - previous[index]);
    previous[index] = coefficients[start];
    let run = 0;
    for (let at = start + 1; at < end; at++) {
      const value = coefficients[at];
      if (value === 0) {
        run++;
        continue;
      }
      for (; run > 15; run -= 16) tokens.push(acSlot, 0xf0, 0, 0);
      const sign = value >> 31;
      const category = 32 - Math.clz32((value ^ sign) - sign);
      tokens.push(acSlot, run << 4 | category, category, (value + sign) & ((1 << category) - 1));
      run = 0;
    }
    if (run > 0) tokens.push(acSlot, 0, 0, 0);
  }, endOfRow);
}
