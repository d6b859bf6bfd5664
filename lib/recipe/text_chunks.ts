/**
 * A block collection as movable chunks: each field or item with its comments.
 *
 * Comment lines directly above a part belong to it, up to a blank line. Comments indented deeper than the parts belong
 * to the part above them.
 */
import { columnOf, type Part, type Piece } from "./text_pieces.ts";

export interface Chunk {
  part: Part;
  /** Earlier lines separated by a blank line, which is the last of them. */
  before: string[];
  /** Comment lines directly above it. */
  above: string[];
  /** Deeper comment lines below it. */
  after: string[];
}

/**
 * The chunks of a block collection.
 * @param from start of the lines above its first part, or start of the piece after a dash
 */
export function chunksOf(text: string, piece: Piece, from: number): Chunk[] {
  const column = columnOf(text, piece.start);
  const chunks: Chunk[] = [];
  let at = from;
  for (const part of piece.parts) {
    // The last line is the indentation of the part itself.
    const lines = text.slice(at, part.start).split("\n").slice(0, -1);
    const previous = chunks.at(-1);
    if (previous !== undefined) previous.after = lines.splice(0, deeperComments(lines, column));
    const blank = lines.findLastIndex((line) => line.trim() === "");
    chunks.push({ part, before: lines.slice(0, blank + 1), above: lines.slice(blank + 1), after: [] });
    at = Math.min(part.end + 1, text.length);
  }
  return chunks;
}

/** Number of leading lines up to the last comment that is indented deeper than the column. */
function deeperComments(lines: readonly string[], column: number): number {
  let count = 0;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    if (line.search(/\S/) <= column) break;
    count = index + 1;
  }
  return count;
}
