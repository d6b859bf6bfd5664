/** Handing a stream on unchanged: main array, companion arrays and metadata. */
import type { InputArtifact, OutputArtifact } from "../../lib/contract/operation.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { bitsArtifact, bitsOf, companionsOf, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";

/** The bits of an input as an output under the named boundary contract. */
export function relayBits(input: InputArtifact, contract: "channel.bits" | "payload.bits"): OutputArtifact {
  return { ...bitsArtifact(bitsOf(input), travel(input.metadata), contract), companions: companionsOf(input) };
}

/** The symbols of an input as an output. */
export function relaySymbols(input: InputArtifact, changes: JsonObject = {}): OutputArtifact {
  return symbolsArtifact(symbolsOf(input), travel(input.metadata, changes), companionsOf(input));
}

/**
 * Holds a stream to a declared length; 0 declares none.
 *
 * @throws SvcError `boundary_count_mismatch`
 */
export function checkCount(actual: number, expected: number, unit: string): void {
  if (expected > 0 && actual !== expected) {
    throw new SvcError("boundary_count_mismatch", `Cannot pass ${actual} ${unit} where ${expected} are expected`);
  }
}
