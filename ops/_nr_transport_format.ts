/** The transport format document, and the parameters that name resources and tables. */
import {
  float,
  type InputArtifact,
  isNumber,
  type JsonObject,
  type OutputArtifact,
  type ParameterProblem,
  SvcError,
  toNumber,
  z,
} from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import {
  MCS_TABLES,
  type McsRow,
  mcsRows,
  type TransportFormat,
  transportFormat,
} from "../lib/numeric/link/nr_transport_format.ts";

export const TRANSPORT_FORMAT = artifactKind("channel.nr_transport_format.json", { mcs_index: "count" });

const LARGEST_RATE = 0.95;

/** Resources, tables and layers: all parameters of a transport format except the MCS index. */
export const FORMAT_PARAMS = {
  channel_type: z.enum(["PDSCH", "PUSCH"]).default("PDSCH").describe("shared channel"),
  mcs_table: z.enum(MCS_TABLES).default("table_1")
    .describe("table_1 up to 64QAM, table_2 up to 256QAM, table_3 for low code rates (TS 38.214 5.1.3.1)"),
  prb_count: z.int().min(1).max(275).default(52).describe("physical resource blocks of 12 subcarriers"),
  symbol_count: z.int().min(1).max(14).default(12).describe("OFDM symbols of the slot"),
  dmrs_re_per_prb: z.int().min(0).max(156).default(12).describe("resource elements of a PRB for DM-RS and empty combs"),
  overhead_re_per_prb: z.literal([0, 6, 12, 18]).default(0).describe("further overhead of a PRB in resource elements"),
  layers: z.int().min(1).max(4).default(1).describe("transmission layers"),
  tb_scaling: z.number().min(0.25).max(1).default(1)
    .describe("scaling of the transport block size: 1, 0.5 or 0.25"),
  transform_precoding: z.boolean().default(false).describe("DFT-spread OFDM on PUSCH: tables of TS 38.214 6.1.4.1"),
  pi2_bpsk: z.boolean().default(false).describe("pi/2-BPSK rows of the tables with transform precoding"),
};
export type FormatParams = z.output<z.ZodObject<typeof FORMAT_PARAMS>>;

/** Rows of the chosen table. */
export const rowsOf = (params: FormatParams) =>
  mcsRows({
    table: params.mcs_table,
    transformPrecoding: params.transform_precoding,
    pi2Bpsk: params.pi2_bpsk,
  });

/** The format of a row on the resources. @throws RangeError when the row does not fit */
export function formatOf(row: McsRow, params: FormatParams): TransportFormat {
  const format = transportFormat(row, {
    prbCount: params.prb_count,
    symbolCount: params.symbol_count,
    dmrsPerPrb: params.dmrs_re_per_prb,
    overheadPerPrb: params.overhead_re_per_prb,
    layers: params.layers,
    scaling: params.tb_scaling,
  });
  if (format.codeRate > LARGEST_RATE) {
    throw new RangeError(
      `Cannot send ${format.blockBits} bits in ${format.codedBits} coded bits: the code rate exceeds ${LARGEST_RATE}`,
    );
  }
  return format;
}

/** Parameters that contradict each other. */
export function checkFormat(params: FormatParams): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (![1, 0.5, 0.25].includes(params.tb_scaling)) {
    const message = `Cannot scale a transport block by ${params.tb_scaling}: the choices are 1, 0.5 and 0.25`;
    problems.push({ code: "params_invalid", message, place: ["tb_scaling"] });
  }
  if (params.transform_precoding && params.channel_type !== "PUSCH") {
    problems.push({
      message: "Cannot precode PDSCH with a DFT: only PUSCH has transform precoding",
      place: ["transform_precoding"],
      hint: "Set channel_type to PUSCH, or transform_precoding to false",
    });
  }
  if (params.pi2_bpsk && !(params.transform_precoding && params.mcs_table !== "table_2")) {
    problems.push({
      message: "Cannot use pi/2-BPSK here: only table_1 and table_3 with transform precoding have its rows",
      place: ["pi2_bpsk"],
      hint: "Set transform_precoding to true and mcs_table to table_1 or table_3, or pi2_bpsk to false",
    });
  }
  return problems;
}

/** The document of a format and the metrics of the step. */
export function formatArtifact(index: number, row: McsRow, format: TransportFormat, params: FormatParams) {
  const [bitsPerSymbol, rate1024] = row, { blockBits, codedBits, parameters } = format;
  const json: JsonObject = {
    kind: "channel.nr_transport_format",
    schema_version: 1,
    channel_type: params.channel_type,
    mcs_table: params.mcs_table,
    mcs_index: index,
    num_bits_per_symbol: bitsPerSymbol,
    target_coderate: float(rate1024 / 1024),
    transport_block_size_bits: blockBits,
    coded_bits: codedBits,
    n_re: format.elements,
    layers: params.layers,
    base_graph: parameters.baseGraph,
    code_blocks: parameters.codeBlockCount,
    lifting_size: parameters.liftingSize,
  };
  return {
    artifact: { json, metadata: { mcs_index: index } } satisfies OutputArtifact,
    metrics: {
      "nr.transport_block_size_bits": blockBits,
      "nr.coded_bits": codedBits,
      "nr.spectral_efficiency": blockBits / (codedBits / bitsPerSymbol / params.layers),
      "nr.effective_coderate": format.codeRate,
    },
  };
}

/** @throws SvcError `boundary_value_invalid` for a document without a positive number */
export function readFormat(input: InputArtifact) {
  const document = input.json();
  const read = (key: string): number => {
    const value = document[key];
    if (isNumber(value) && toNumber(value) > 0) return toNumber(value);
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot use the transport format: its ${key} is not a positive number`,
    );
  };
  return {
    blockBits: read("transport_block_size_bits"),
    codedBits: read("coded_bits"),
    codeRate: read("target_coderate"),
    bitsPerSymbol: read("num_bits_per_symbol"),
    layers: read("layers"),
  };
}

export type ReadFormat = ReturnType<typeof readFormat>;
