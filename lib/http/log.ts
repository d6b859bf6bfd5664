/** The log: lines of JSON on standard error, invisible characters as `\uXXXX`. */
import { visible } from "../contract/escape.ts";
import { canonicalJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";

/** Receives a line of the log. */
export type Log = (record: JsonObject) => void;

export function logLine(record: JsonObject): void {
  const line = visible(canonicalJson({ time: new Date().toISOString(), ...record })) + "\n";
  try {
    Deno.stderr.writeSync(new TextEncoder().encode(line));
  } catch {
    // A full disk or a closed pipe does not end the server.
  }
}
