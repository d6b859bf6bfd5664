/** Operations that pass a stream unchanged: main array, companion arrays and metadata; `run` and blocks are in _relay.ts. */
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import {
  BITS,
  BITS_ANY,
  CODED_BITS,
  DEMOD_BITS,
  FRAMED_BITS,
  PAYLOAD_BITS,
  PAYLOAD_OR_BITS,
  SYMBOLS,
  SYMBOLS_ANY,
} from "../../lib/contract/kinds.ts";
import { bitRelay, SYMBOL_KEYS, symbolRelay } from "./_relay.ts";
import { executed, exported, native, notExported } from "../_backends.ts";
import { sizeOfInput } from "../_same_shape.ts";

const KEPT_BITS = ["boundary_contract", "bit_count"];

/** Symbol operations pass y = x with companion arrays and metadata. */
const SYMBOL_RELAY = {
  inputs: { symbols: SYMBOLS_ANY },
  outputs: { symbols: SYMBOLS },
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  twin: true,
  ...symbolRelay("symbols", "symbols"),
} as const;

/** Checkpoint: one uint8 per bit, values 0 and 1, one dimension, and the expected number of bits if given. */
const bitBoundary = defineOperation({
  id: "channel.bit_boundary",
  name: "Bit checkpoint",
  description: "Validates and re-emits an unpacked bit vector unchanged at a named checkpoint",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({
    expected_bit_count: z.int().nonnegative().default(0).describe("bits that must arrive; 0 accepts any number"),
    label: z.string().default("boundary").describe("name of the checkpoint in the step row"),
    role: z.string().default("channel_boundary").describe("role of the checkpoint, such as channel_input"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  equivalence: { type: "exact", reason: "Unpacked uint8 bits are preserved exactly" },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [...executed("numpy", "default"), ...native("default")],
  outputMetadataGuarantees: { bits: { from: "bits", keys: KEPT_BITS } },
  estimate: (_params, { bits }) => ({ bits: sizeOfInput(bits, "uint8") }),
  twin: true,
  ...bitRelay("bits", "bits"),
});

/** Checkpoint: finite complex64 symbols in one dimension, and the expected number of symbols if given. */
const symbolBoundary = defineOperation({
  id: "channel.symbol_boundary",
  name: "Symbol checkpoint",
  description: "Validates and stores complex symbols unchanged at a named checkpoint",
  ...SYMBOL_RELAY,
  params: z.strictObject({
    expected_symbol_count: z.int().nonnegative().default(0).describe("symbols that must arrive; 0 accepts any number"),
    label: z.string().default("symbol_boundary").describe("name of the checkpoint in the step row"),
    role: z.string().default("channel_symbol_boundary").describe("role of the checkpoint, such as channel_input"),
  }),
  equivalence: { type: "numerical", tolerance: { atol: 0, rtol: 0 } },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: SYMBOL_KEYS } },
});

/** The input bits become coded bits at rate 1. */
const identityEncoder = defineOperation({
  id: "channel.identity_encoder",
  name: "No-op channel encoder",
  description: "Returns the input bits unchanged as coded bits",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS] },
  outputs: { coded_bits: CODED_BITS },
  params: z.strictObject({ data_plane_backend: dataPlaneParameter() }),
  outputMetadataGuarantees: { coded_bits: { from: "bits", keys: KEPT_BITS } },
  estimate: (_params, { bits }) => ({ coded_bits: sizeOfInput(bits, "uint8") }),
  twin: true,
  nativeKernels: true,
  ...bitRelay("bits", "coded_bits"),
});

/** The received coded bits become payload bits. */
const identityDecoder = defineOperation({
  id: "channel.identity_decoder",
  name: "No-op channel decoder",
  description: "Returns the coded bits unchanged as payload bits",
  inputs: { coded_bits: [CODED_BITS, DEMOD_BITS, PAYLOAD_BITS, BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ data_plane_backend: dataPlaneParameter() }),
  outputMetadataGuarantees: { bits: { from: "coded_bits", keys: KEPT_BITS } },
  estimate: (_params, { coded_bits }) => ({ bits: sizeOfInput(coded_bits, "uint8") }),
  twin: true,
  nativeKernels: true,
  ...bitRelay("coded_bits", "bits", "payload.bits"),
});

/** Bypassed bit channel: no bit errors. */
const identityLink = defineOperation({
  id: "channel.identity_link",
  name: "Bypassed bit channel",
  description: "Bit-exact bypass for a disabled channel",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({
    label: z.string().default("identity_channel").describe("name of the link in the step row"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: notExported("numpy", "stop", "Discrete bypass; channel.identity_symbol_link keeps gradients"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { bits: { from: "bits", keys: KEPT_BITS } },
  estimate: (_params, { bits }) => ({ bits: sizeOfInput(bits, "uint8") }),
  twin: true,
  nativeKernels: true,
  ...bitRelay("bits", "bits"),
});

/** Bypassed symbol channel. */
const identitySymbolLink = defineOperation({
  id: "channel.identity_symbol_link",
  name: "Bypassed symbol channel",
  description: "Identity on continuous symbols for a disabled channel",
  ...SYMBOL_RELAY,
  params: z.strictObject({
    label: z.string().default("identity_symbol_channel").describe("name of the link in the step row"),
  }),
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: SYMBOL_KEYS } },
  estimate: (_params, { symbols }) => ({ symbols: sizeOfInput(symbols, "complex64") }),
});

/** Transmit power bypass: symbols keep their power. It takes the place of power control in a graph. */
const symbolPowerIdentity = defineOperation({
  id: "channel.symbol_power_identity",
  name: "Transmit power bypass",
  description: "Leaves the symbol power unchanged",
  ...SYMBOL_RELAY,
  params: z.strictObject({
    label: z.string().default("tx_power_off").describe("name of the stage in the step row"),
    power_unit: z.enum(["normalized", "mW"]).default("normalized").describe("unit of the symbol power"),
  }),
  equivalence: { type: "exact" },
  materializations: [...executed("numpy", "numpy_symbol_identity"), exported("torch", "torch_identity")],
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: [...SYMBOL_KEYS, "power_unit"] } },
});

/** Passes payload bits unchanged on one side of a link. */
const passthrough = (role: "encoder" | "decoder", side: "transmit" | "receive") =>
  defineOperation({
    id: `channel.payload_passthrough_${role}`,
    name: `Payload no-op ${role}`,
    description: `Forwards payload bits unchanged on the ${side} side`,
    inputs: { bits: PAYLOAD_OR_BITS },
    outputs: { bits: PAYLOAD_BITS },
    params: z.strictObject({}),
    outputMetadataGuarantees: { bits: { from: "bits", keys: KEPT_BITS } },
    twin: true,
    ...bitRelay("bits", "bits", "payload.bits"),
  });

export default [
  bitBoundary,
  symbolBoundary,
  identityEncoder,
  identityDecoder,
  identityLink,
  identitySymbolLink,
  passthrough("encoder", "transmit"),
  passthrough("decoder", "receive"),
  symbolPowerIdentity,
];
