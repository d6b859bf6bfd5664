/**
 * Bit-to-symbol mapper: BPSK x = 1 - 2b, QPSK to 256QAM with the Gray mapping of TS 38.211 section 5.1, unit mean
 * power; 8PSK, 16APSK and 32APSK of DVB-S2, 16PSK, PAM, pi/2-BPSK, and points of one's own. `auto` takes the bits per symbol that the encoder recorded, `shaped` the amplitudes of modulation.distribution_match, which leave
 * unit mean power. Bits are zero-padded to a whole symbol; the demodulator removes the padding by the metadata.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [ceil(n / bits per symbol)].
 */
import { BITS, CODED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import {
  dataPlaneParameter,
  defineOperation,
  float,
  isNumber,
  isObject,
  type JsonObject,
  SvcError,
  toNumber,
  usedWhen,
  type Value,
  z,
} from "../api.ts";
import { bitsOf, symbolMetadata, symbolsArtifact } from "../../lib/artifact/values.ts";
import {
  BITS_PER_SYMBOL,
  type Modulation,
  MODULATION_BY_BITS,
  MODULATIONS,
} from "../../lib/numeric/link/modulations.ts";
import {
  APSK_RATES,
  type ApskRate,
  type BpskRotation,
  MAXIMUM_WIDTH,
  normalizedPoints,
  rotateBpsk,
  shapedPoints,
  TABLE_MODULATIONS,
  type TableModulation,
  tablePoints,
} from "../../lib/numeric/link/constellation.ts";
import { blockMemory } from "../../lib/numeric/array/shared_array.ts";
import { mapToPoints, modulate } from "../../lib/numeric/link/modulation.ts";
import { executed, native } from "../_backends.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
import { MODULATED, modulatedMetadata } from "../_symbol_items.ts";

const CHOICES = [...MODULATIONS, "auto", ...TABLE_MODULATIONS, "pi2_bpsk", "custom", "shaped"] as const;

export default defineOperation({
  id: "modulation.digital_modulate",
  name: "Hard bit-to-symbol mapper",
  description: "Maps bits onto constellation points of unit mean power",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { symbols: MODULATED },
  params: z.strictObject({
    modulation: z.enum(CHOICES).default("qpsk")
      .describe(
        "bpsk to qam256 and pi2_bpsk of TS 38.211, psk8 and apsk of DVB-S2, Gray labels of psk16 and pam, custom points; auto as the encoder of the bits recorded, shaped as modulation.distribution_match",
      ),
    apsk_code_rate: z.enum(APSK_RATES).optional().meta(usedWhen({ modulation: ["apsk16", "apsk32"] }))
      .describe("code rate that chooses the ring ratios of apsk16 and apsk32 in DVB-S2; default 3_4"),
    bpsk_rotation: z.enum(["none", "ts38211"]).optional().meta({ "x-svc-used-when": { modulation: "bpsk" } })
      .describe("ts38211 turns the points of bpsk by pi/4; default none"),
    constellation_points: z.array(z.array(z.number().min(-1e6).max(1e6)).min(2).max(2)).max(2 ** MAXIMUM_WIDTH)
      .optional()
      .meta({ "x-svc-used-when": { modulation: "custom" } })
      .describe("real and imaginary part of each point by label, the first bit highest; scaled to unit mean power"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  equivalence: { type: "numerical", tolerance: { atol: 1e-7, rtol: 1e-6 } },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [
    ...CHOICES.flatMap((modulation) => executed("numpy", `numpy_${modulation}_modulator`, { modulation })),
    ...[...MODULATIONS, "auto"].flatMap((modulation) => native(`cpp_${modulation}_modulator`, { modulation })),
  ],
  outputMetadataGuarantees: { symbols: { from: "bits" } },
  check(params) {
    try {
      if (!recorded(params)) mappingOf({}, 0, params);
      return [];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const place = params.modulation !== "custom"
        ? "apsk_code_rate"
        : params.constellation_points === undefined
        ? "modulation"
        : "constellation_points";
      return [{ place: [place], message: error.message }];
    }
  },
  estimate(params, { bits: { bytes, shape } }) {
    // The width is known in the run only: bytes for one bit per symbol are the upper limit.
    if (recorded(params)) return { symbols: 8 * bytes };
    const width = mappingOf({}, 0, params).width;
    return { symbols: shape === undefined ? 8 * bytes / width : [["complex64", Math.ceil(shape[0] / width)]] };
  },
  twin: true,
  streaming: {
    // With 5 or 7 bits a symbol, links keep the files of whole arrays that they had.
    allows: (params) => portableOnly(params) && (recorded(params) || 24 % mappingOf({}, 0, params).width === 0),
    open({ inputs: { bits: { metadata, length: bitCount } }, params }) {
      const { width, described, map } = mappingOf(metadata, bitCount, params);
      let from = 0;
      const length = Math.ceil(bitCount / width), memory = blockMemory(Float32Array);
      const symbolsOf = (bits: Uint8Array) => memory(2 * Math.ceil(bits.length / width));
      const mappers: Mappers = {
        modulate: (part, name) => modulate(part, name, symbolsOf(part)),
        mapToPoints: (part, points) => mapToPoints(part, points, symbolsOf(part)),
      };
      return {
        arrays: { symbols: { dtype: "complex64", length, metadata: symbolMetadata(length, described) } },
        unit: { bits: width },
        next({ bits }) {
          const symbols = map(bits.data as Uint8Array, mappers, from);
          from += symbols.length / 2;
          return { symbols };
        },
      };
    },
  },
  async run(context) {
    const { inputs, params, threads } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const { described, map } = mappingOf(inputs.bits.metadata, bits.length, params);
    const own = {
      modulate: (part: Uint8Array, name: Modulation) => kernels.modulate(part, name, { threads }),
      mapToPoints: kernels.mapToPoints,
    };
    return { outputs: { symbols: symbolsArtifact(map(bits, own, 0), described) } };
  },
});

interface Chosen {
  modulation: typeof CHOICES[number];
  apsk_code_rate?: ApskRate;
  bpsk_rotation?: "none" | "ts38211";
  constellation_points?: number[][];
}
interface Mappers {
  modulate(bits: Uint8Array, modulation: Modulation): Float32Array;
  mapToPoints(bits: Uint8Array, points: Float32Array): Float32Array;
}

/**
 * The chosen modulation, its bits per symbol, what the symbols of `bitCount` bits declare, and the mapper, which gets the index of the
 * first symbol.
 * @throws RangeError for points without a label each, or a ring ratio that does not exist
 */
function mappingOf(metadata: JsonObject, bitCount: number, chosen: Chosen) {
  const name = chosen.modulation === "auto" ? encodedModulation(metadata) : chosen.modulation;
  const shaped = name === "shaped" ? shapedBy(metadata) : undefined;
  const points = shaped !== undefined
    ? shaped.points
    : name === "custom"
    ? ownPoints(chosen.constellation_points ?? [])
    : isTable(name)
    ? tablePoints(name, chosen.apsk_code_rate)
    : undefined;
  const plain = name === "pi2_bpsk" ? "bpsk" : name as Modulation;
  const width = points === undefined ? BITS_PER_SYMBOL[plain] : Math.log2(points.length / 2);
  const turned = name === "bpsk" && chosen.bpsk_rotation === "ts38211";
  const rotation: BpskRotation = name === "pi2_bpsk" ? "alternating" : turned ? "fixed" : "none";
  const described = {
    ...modulatedMetadata(metadata, bitCount, name, width),
    ...(points === undefined ? {} : { constellation_points: Array.from(points, float) }),
    ...(shaped === undefined ? {} : { point_probabilities: shaped.probabilities.map(float) }),
    ...(turned ? { bpsk_rotation: "ts38211" } : {}),
  };
  const map = (bits: Uint8Array, by: Mappers, from: number) =>
    points === undefined ? rotateBpsk(by.modulate(bits, plain), rotation, { from }) : by.mapToPoints(bits, points);
  return { width, described, map };
}

/** Whether the metadata of the bits choose the points. */
const recorded = ({ modulation }: Chosen) => modulation === "auto" || modulation === "shaped";

/** Points by the record of a distribution. @throws SvcError `params_conflict` without it, `boundary_value_invalid` for a damaged one */
function shapedBy(metadata: JsonObject) {
  const record = metadata.distribution_match;
  if (!isObject(record)) {
    throw new SvcError("params_conflict", "Cannot choose a modulation: the bits have no distribution of amplitudes", {
      hint: "Set modulation, or put modulation.distribution_match before the code",
    });
  }
  const name = isObject(record.parameters) ? record.parameters.modulation : undefined;
  const shares = metadataNumbers(record.amplitude_shares);
  const modulation = MODULATIONS.find((one) => one === name);
  if (
    modulation === undefined || 4 * shares.length ** 2 !== 2 ** BITS_PER_SYMBOL[modulation] || !shares.every(isShare)
  ) {
    throw new SvcError("boundary_value_invalid", "Cannot modulate: the metadata distribution_match is invalid");
  }
  return shapedPoints(modulation, shares);
}

const isShare = (value: number) => value >= 0 && value <= 1;
const metadataNumbers = (list: Value | undefined): number[] =>
  Array.isArray(list) ? list.map((part) => isNumber(part) ? toNumber(part) : NaN) : [];

const isTable = (name: string): name is TableModulation => (TABLE_MODULATIONS as readonly string[]).includes(name);

function ownPoints(points: readonly (readonly number[])[]): Float32Array {
  const count = points.length;
  if (count < 2 || !Number.isInteger(Math.log2(count))) {
    throw new RangeError(`Cannot label ${count} points: custom needs constellation_points, a power of two of them`);
  }
  return normalizedPoints(points.flat());
}

/** Metadata of encoders. */
const CODE_RECORDS = [
  "nr_ldpc",
  "nr_polar",
  "convolutional_code",
  "turbo_code",
  "ldpc_code",
  "reed_solomon_code",
  "bch_code",
];

/** @throws SvcError `params_conflict` for bits without the record of an encoder */
function encodedModulation(metadata: JsonObject): Modulation {
  const code = CODE_RECORDS.map((key) => metadata[key]).find(isObject);
  const width = code !== undefined ? Number(code.num_bits_per_symbol ?? 2) : undefined;
  if (width !== undefined && MODULATION_BY_BITS[width] !== undefined) return MODULATION_BY_BITS[width];
  throw new SvcError("params_conflict", "Cannot choose a modulation: no encoder recorded its bits per symbol", {
    hint: "Set modulation, or wire the output of an encoder, such as channel.nr_ldpc_encoder",
  });
}
