/** Passes a stream unchanged: main array, companion arrays and metadata. */
import type { InputArtifact, OutputArtifact } from "../../lib/contract/operation.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { bitsArtifact, bitsOf, companionsOf, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";

/** Metadata that every symbol output has. */
export const SYMBOL_KEYS = ["boundary_contract", "representation", "symbol_count", "channel_use_count"];

/** The bits of an input, checked here or before, as an output under the given boundary contract. */
export function relayBits(
  input: InputArtifact,
  contract: "channel.bits" | "payload.bits",
  bits: Uint8Array = bitsOf(input),
): OutputArtifact {
  return { ...bitsArtifact(bits, travel(input.metadata), contract), companions: companionsOf(input) };
}

/** The symbols of an input as an output. */
export function relaySymbols(input: InputArtifact, changes: JsonObject = {}): OutputArtifact {
  return symbolsArtifact(symbolsOf(input), travel(input.metadata, changes), companionsOf(input));
}
