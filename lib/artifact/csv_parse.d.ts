/** The part of `csv-parse/sync` that is used; its own declarations bring in those of Node streams. */
export class CsvError extends Error {
  readonly code: string;
  /** Line of the fault, from 1. */
  readonly lines: number;
}
export function parse(text: string, options: { bom: boolean; skip_empty_lines: boolean; to: number }): string[][];
