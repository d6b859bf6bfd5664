/**
 * Modulation and coding schemes, channel quality indices and transport block sizes of TS 38.214.
 *
 *     MCS row   [Qm, R · 1024]: bits per symbol and target code rate; efficiency Qm·R bit per symbol
 *     N_RE    = min(156, 12·symbols - DM-RS - overhead) · PRBs              resource elements that count for the size
 *     N_info  = S · N_RE · R · Qm · layers, exact as an integer over 8192   (S scaling, R in 1/2048)
 *     <= 3824   n = max(3, floor(log2 N_info) - 6), the smallest size of table 5.1.3.2-1 >= max(24, 2^n·floor(N_info/2^n))
 *     else      n = floor(log2(N_info - 24)) - 5, N' = max(3840, 2^n·round((N_info - 24)/2^n)), ties upwards; then as in
 *               block_size.ts
 *     G       = (12·symbols - DM-RS - overhead) · PRBs · Qm · layers        coded bits
 *
 * Source: TS 38.214 V17, 5.1.3.1 (MCS), 5.1.3.2 (sizes), 5.2.2.1 (CQI), 6.1.4.1 (PUSCH with transform precoding).
 */
import tables from "../data/nr_mcs.json" with { type: "json" };
import { largeBlockSize, LARGEST_SMALL_BLOCK, SMALL_BLOCK_SIZES } from "../coding/nr_ldpc/block_size.ts";
import { type CodeParameters, codeParameters } from "../coding/nr_ldpc/code_parameters.ts";

/** Bits per symbol and 1024 times the target code rate. */
export type McsRow = readonly [bitsPerSymbol: number, rate1024: number];

export const MCS_TABLES = ["table_1", "table_2", "table_3"] as const;
export type McsTable = typeof MCS_TABLES[number];

type McsTables = Readonly<Record<McsTable, readonly McsRow[]>>;
/** Tables 5.1.3.1-1, 5.1.3.1-2 and 5.1.3.1-3, by index. */
const PDSCH = tables.pdsch as object as McsTables;
/** Tables 6.1.4.1-1 and 6.1.4.1-2 with pi/2-BPSK (q = 1). */
const TRANSFORM_PRECODED = tables.transform_precoded as object as Partial<McsTables>;
/** Tables 5.2.2.1-2, 5.2.2.1-3 and 5.2.2.1-4; the first row is index 1. */
const CQI = tables.cqi as object as McsTables;

export interface McsChoice {
  readonly table: McsTable;
  readonly transformPrecoding: boolean;
  readonly pi2Bpsk: boolean;
}

/** Rows of a table; without pi/2-BPSK its rows become QPSK at half the rate. */
export function mcsRows({ table, transformPrecoding, pi2Bpsk }: McsChoice): readonly McsRow[] {
  const rows = transformPrecoding ? TRANSFORM_PRECODED[table] ?? PDSCH[table] : PDSCH[table];
  return pi2Bpsk ? rows : rows.map(([q, rate]) => q === 1 ? [2, rate / 2] : [q, rate]);
}

/** Rows of the channel quality indices 1 to 15 that belong to an MCS table. */
export const cqiRows = (table: McsTable): readonly McsRow[] => CQI[table];

/** Bits per resource element and layer. */
export const efficiency = ([q, rate]: McsRow): number => q * rate / 1024;

/** Resources of a transport block. */
export interface TransportResources {
  readonly prbCount: number;
  readonly symbolCount: number;
  readonly dmrsPerPrb: number;
  readonly overheadPerPrb: number;
  readonly layers: number;
  /** 1, 0.5 or 0.25 */
  readonly scaling: number;
}

/** A transport block on its resources. */
export interface TransportFormat {
  readonly blockBits: number;
  readonly codedBits: number;
  /** N_RE, after the limit of 156 per PRB. */
  readonly elements: number;
  readonly parameters: CodeParameters;
  /** Information bits with all CRCs per coded bit. */
  readonly codeRate: number;
}

const ELEMENTS_PER_PRB_LIMIT = 156;
/** N_info is an integer over this: R in 1/2048 times S in 1/4. */
const DENOMINATOR = 8192;

/**
 * Size and coding of the transport block that an MCS row puts on resources.
 * @throws RangeError when no resource element remains, or the block cannot be coded
 */
export function transportFormat(row: McsRow, resources: TransportResources): TransportFormat {
  const [bitsPerSymbol, rate1024] = row, { prbCount, symbolCount, layers, scaling } = resources;
  const perPrb = 12 * symbolCount - resources.dmrsPerPrb - resources.overheadPerPrb;
  if (perPrb <= 0) {
    throw new RangeError(
      `Cannot send a transport block: ${12 * symbolCount} resource elements of a PRB are all overhead`,
    );
  }
  const elements = Math.min(ELEMENTS_PER_PRB_LIMIT, perPrb) * prbCount;
  const numerator = 4 * scaling * elements * 2 * rate1024 * bitsPerSymbol * layers;
  const blockBits = transportBlockSize(numerator, rate1024 / 1024);
  const codedBits = perPrb * prbCount * bitsPerSymbol * layers;
  const parameters = codeParameters({ blockBits, codedBits, codeRate: rate1024 / 1024, bitsPerSymbol, layers });
  return {
    blockBits,
    codedBits,
    elements,
    parameters,
    codeRate: parameters.codeBlockCount * parameters.usedBits / codedBits,
  };
}

/** Position of the highest bit of floor(value), 0 below 2. */
const log2Floor = (value: number) => BigInt(Math.floor(Math.max(value, 1))).toString(2).length - 1;

/** All quotients are by powers of two, so binary64 is exact. */
function transportBlockSize(numerator: number, codeRate: number): number {
  const information = numerator / DENOMINATOR;
  if (information <= LARGEST_SMALL_BLOCK) {
    const step = 2 ** Math.max(3, log2Floor(information) - 6);
    const quantised = Math.max(24, step * Math.floor(information / step));
    return SMALL_BLOCK_SIZES.find((size) => size >= quantised)!;
  }
  const step = 2 ** (log2Floor(information - 24) - 5);
  return largeBlockSize(Math.max(3840, step * Math.floor((information - 24) / step + 0.5)), codeRate);
}
