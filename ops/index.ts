/** The built-in operations, sorted by id. Written by ops/generate_index.ts from the folder; do not edit. */
import type { Operation } from "../lib/contract/operation.ts";
import type { RegisteredOperation } from "../lib/contract/registry.ts";
import channelBitBoundary from "./channel/bit_boundary.ts";
import channelIdentityDecoder from "./channel/identity_decoder.ts";
import channelIdentityEncoder from "./channel/identity_encoder.ts";
import channelPayloadPassthroughDecoder from "./channel/payload_passthrough_decoder.ts";
import channelPayloadPassthroughEncoder from "./channel/payload_passthrough_encoder.ts";
import sourceRandomBits from "./source/random_bits.ts";

const entry = (operation: Operation, path: string): RegisteredOperation => ({
  operation,
  moduleUrl: new URL(path, import.meta.url).href,
});

export const BUILTIN_OPERATIONS: RegisteredOperation[] = [
  entry(channelBitBoundary, "./channel/bit_boundary.ts"),
  entry(channelIdentityDecoder, "./channel/identity_decoder.ts"),
  entry(channelIdentityEncoder, "./channel/identity_encoder.ts"),
  entry(channelPayloadPassthroughDecoder, "./channel/payload_passthrough_decoder.ts"),
  entry(channelPayloadPassthroughEncoder, "./channel/payload_passthrough_encoder.ts"),
  entry(sourceRandomBits, "./source/random_bits.ts"),
];
