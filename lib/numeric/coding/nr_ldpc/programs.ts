/** Programs for the kernels: columns to add for the encoder, rows to pass for the decoder. */
import { checksOf, type ParityChecks } from "../ldpc/code.ts";
import {
  type Circulant,
  CORE_ROWS,
  INFORMATION_COLUMNS,
  type LiftedCode,
  liftedCode,
  PUNCTURED_COLUMNS,
} from "./base_graph.ts";
import type { CodeParameters } from "./code_parameters.ts";

/** One code block in the circular buffer of TS 38.212 section 5.4.2, redundancy version 0, no buffer limit. */
export interface BufferLayout {
  readonly code: LiftedCode;
  /** Rows of the base graph with coded bits. */
  readonly rows: number;
  /** Information and parity columns in use. */
  readonly columns: number;
  /** Bits of the whole buffer without filler bits; coded bits beyond repeat it from its start. */
  readonly bufferBits: number;
  /** Information bits at the start of the buffer: those sent of K'. */
  readonly sentInformationBits: number;
}

/** Source of the coded bits of a code block. */
export function bufferLayout(parameters: CodeParameters, codedBits: number): BufferLayout {
  const { baseGraph, liftingSize, usedBits, fillerBits } = parameters;
  const code = liftedCode(baseGraph, liftingSize);
  const bufferBits = (code.columns - PUNCTURED_COLUMNS) * liftingSize - fillerBits;
  const sentInformationBits = usedBits - PUNCTURED_COLUMNS * liftingSize;
  const parityBits = Math.max(0, Math.min(codedBits, bufferBits) - sentInformationBits);
  const rows = Math.max(CORE_ROWS, Math.ceil(parityBits / liftingSize));
  return { code, rows, columns: INFORMATION_COLUMNS[baseGraph] + rows, bufferBits, sentInformationBits };
}

/** A program of the kernels. */
export interface Program {
  readonly words: Int32Array;
  /** Sums or rows. */
  readonly length: number;
}

const programs = new Map<string, Program>(), checks = new Map<string, ParityChecks>();

function cached<Value>(values: Map<string, Value>, key: string, build: () => Value): Value {
  let value = values.get(key);
  if (value === undefined) values.set(key, value = build());
  return value;
}

const keyOf = ({ baseGraph, liftingSize }: LiftedCode, rows: number) => `${baseGraph}/${liftingSize}/${rows}`;

/**
 * Sums that compute the parity columns: target column, number of terms, then column and shift of each.
 *
 * The first four rows hold p1 three times, twice with the same shift, and p2, p3, p4 twice each without one: their sum
 * is p1 under the shift that occurs once. Rows 1 to 3 then give p2, p3, p4 in turn, and each further row its own parity
 * column. The information parts of the first four rows are kept in columns after the code.
 */
export const encoderProgram = (code: LiftedCode, rows: number): Program =>
  cached(programs, `encoder/${keyOf(code, rows)}`, () => buildEncoderProgram(code, rows));

function buildEncoderProgram(code: LiftedCode, rows: number): Program {
  const { informationColumns: first, columns, liftingSize } = code;
  const sums: number[][] = [];
  const sum = (target: number, terms: readonly Circulant[]) => sums.push([target, ...written(terms)]);
  const core = code.rows.slice(0, CORE_ROWS);
  core.forEach((row, i) => sum(columns + i, row.filter(({ column }) => column < first)));
  const shifts = core.flatMap((row) => row.filter(({ column }) => column === first).map(({ shift }) => shift));
  const alone = shifts.find((shift) => shifts.filter((other) => other === shift).length !== 2)!;
  const back = (liftingSize - alone) % liftingSize;
  sum(first, core.map((_, i) => ({ column: columns + i, shift: back })));
  code.rows.slice(0, rows).forEach((row, i) => {
    const known = row.slice(0, -1), target = row.at(-1)!.column;
    if (i >= CORE_ROWS) sum(target, known);
    else if (i < CORE_ROWS - 1) {
      sum(target, [{ column: columns + i, shift: 0 }, ...known.filter(({ column }) => column >= first)]);
    }
  });
  return { words: Int32Array.from(sums.flat()), length: sums.length };
}

/** Number of circulants, then column and shift of each. */
const written = (
  terms: readonly Circulant[],
) => [terms.length, ...terms.flatMap(({ column, shift }) => [column, shift])];

/** The order of the first four rows in the decoder: those with one of the two unsent columns come first. */
const CORE_ORDER = [1, 3, 0, 2];

/**
 * The order in which the decoder passes the rows of a code: from the last one down to the first four. Rows with few
 * entries and at most one unsent column inform the unsent columns before the long rows use them, which saves a quarter
 * of the iterations. Exported for tests.
 */
function decoderOrder(rows: number): number[] {
  return [...Array.from({ length: rows - CORE_ROWS }, (_, i) => rows - 1 - i), ...CORE_ORDER];
}

/**
 * Rows for the decoder: the parity column that only the row checks or -1, then number of entries, column and shift of
 * each. Columns with filler bits only are omitted, because a known bit changes no message, and so is a row with only
 * its own parity column. The first four rows are last.
 */
export const decoderProgram = (code: LiftedCode, rows: number, usedBits: number): Program =>
  cached(programs, `decoder/${keyOf(code, rows)}/${usedBits}`, () => {
    const lists = decoderOrder(rows).map((i) => decoderRow(code, i, usedBits)).filter(({ entries }) =>
      entries.length > 0
    );
    const words = lists.flatMap(({ own, entries }) => [own, ...written(entries)]);
    return { words: Int32Array.from(words), length: lists.length };
  });

/** The same rows as checks of bits, in the order of the decoder, without filler bits. */
export const decoderChecks = (code: LiftedCode, rows: number, usedBits: number): ParityChecks =>
  cached(checks, `${keyOf(code, rows)}/${usedBits}`, () => {
    const { liftingSize: z, informationColumns } = code, pairs: number[] = [];
    decoderOrder(rows).forEach((row, layer) =>
      code.rows[row].forEach(({ column, shift }) => {
        for (let t = 0; t < z; t++) {
          const bit = column * z + (t + shift) % z;
          if (bit < usedBits || column >= informationColumns) pairs.push(layer * z + t, bit);
        }
      })
    );
    return checksOf((informationColumns + rows) * z, rows * z, pairs);
  });

/**
 * The entries of a row whose bits are not all known, and the parity column that no other row checks, or -1.
 * Exported for tests.
 */
function decoderRow(code: LiftedCode, index: number, usedBits: number): { own: number; entries: Circulant[] } {
  const row = code.rows[index];
  const [shared, own] = index < CORE_ROWS ? [row, -1] : [row.slice(0, -1), row.at(-1)!.column];
  const known = (column: number) => column < code.informationColumns && column * code.liftingSize >= usedBits;
  return { own, entries: shared.filter(({ column }) => !known(column)) };
}
