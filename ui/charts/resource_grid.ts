/** OFDM resource grids: elements l·F + k of S OFDM symbols with F subcarriers, drawn with time to the right. */

/** Subcarriers of a picture: twelve resource blocks. */
export const SUBCARRIERS_SHOWN = 144;

/** Subcarriers from `first` on, of the OFDM symbols from 0 on. */
export interface GridPart {
  subcarriers: number;
  first: number;
  rows: number;
  columns: number;
}

/** Ports whose pilots have the same elements. */
export interface PilotGroup {
  ports: number[];
  positions: Float64Array;
}

/** @param positions elements of the pilots of each port */
export function pilotGroups(positions: readonly Float64Array[]): PilotGroup[] {
  const groups = new Map<string, PilotGroup>();
  positions.forEach((own, port) => {
    const group = groups.get(String(own));
    if (group === undefined) groups.set(String(own), { ports: [port], positions: own });
    else group.ports.push(port);
  });
  return [...groups.values()];
}

/**
 * Rectangles of elements as an SVG path, an element one unit high and wide; neighbours on the frequency axis are one
 * rectangle.
 */
export function cellsPath(positions: ArrayLike<number>, { subcarriers, first, rows, columns }: GridPart): string {
  const parts: string[] = [];
  for (let i = 0; i < positions.length; i++) {
    const start = positions[i];
    while (i + 1 < positions.length && positions[i + 1] === positions[i] + 1 && positions[i + 1] % subcarriers > 0) i++;
    const symbol = Math.floor(start / subcarriers);
    const low = Math.max(start % subcarriers - first, 0), high = Math.min(positions[i] % subcarriers - first + 1, rows);
    if (symbol < columns && high > low) parts.push(`M${symbol} ${low}h1v${high - low}h-1z`);
  }
  return parts.join("");
}

/** Centres of the elements in a part, in elements. */
export const centresOf = (positions: ArrayLike<number>, { subcarriers, first, rows, columns }: GridPart) =>
  Array.from(positions, (at) => ({ x: Math.floor(at / subcarriers) + 0.5, y: at % subcarriers - first + 0.5 }))
    .filter(({ x, y }) => x < columns && y > 0 && y < rows);

/**
 * Powers |v|² [subcarrier, OFDM symbol] of one line of a block.
 * @param block values [OFDM symbol, subcarrier, line]
 */
export function elementPowers(
  { real, imaginary }: { real: Float64Array; imaginary: Float64Array | null },
  { subcarriers, columns, lines, line }: { subcarriers: number; columns: number; lines: number; line: number },
): Float64Array {
  const power = new Float64Array(subcarriers * columns);
  for (let symbol = 0; symbol < columns; symbol++) {
    for (let k = 0; k < subcarriers; k++) {
      const at = (symbol * subcarriers + k) * lines + line;
      power[k * columns + symbol] = real[at] ** 2 + (imaginary?.[at] ?? 0) ** 2;
    }
  }
  return power;
}
