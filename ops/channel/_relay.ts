/** Passes a stream unchanged: main array, companion arrays and metadata. */
import type { InputArtifact, JsonObject, OutputArtifact } from "../api.ts";
import { bitsArtifact, bitsOf, companionsOf, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { type DataPlane, madeOn } from "../_data_plane.ts";

/** Metadata that every symbol output has. */
export const SYMBOL_KEYS = ["boundary_contract", "representation", "symbol_count", "channel_use_count"];

/** The checked bits of an input as an output under the given boundary contract. */
export function relayBits(
  input: InputArtifact,
  contract: "channel.bits" | "payload.bits",
  kernels?: DataPlane,
): OutputArtifact {
  const relayed = bitsArtifact(bitsOf(input, kernels), travel(input.metadata), contract);
  return { ...madeOn(kernels, relayed), companions: companionsOf(input) };
}

export function relaySymbols(input: InputArtifact, changes: JsonObject = {}): OutputArtifact {
  return symbolsArtifact(symbolsOf(input), travel(input.metadata, changes), companionsOf(input));
}
