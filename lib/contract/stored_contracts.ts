/**
 * The generated list of contracts, one a line. Typed numbers take five times the time of plain JSON, so a contract with
 * floats is read as typed JSON at the first use of a field that can hold them.
 */
import { parseJson } from "./json.ts";
import type { OperationContract } from "./operation.ts";

/** A number that is no safe integer in canonical JSON; one inside a text costs time only. */
const TYPED_NUMBER = /[:,[]-?(?:\d+[.eE]|\d{16})/;
const PLAIN_FIELDS = new Set(["id", "name", "description", "input_kinds", "output_kinds", "status", "schema_version"]);

/** The texts of the contracts in `ops/contracts.json`, in its order. */
export const contractLines = (text: string): string[] =>
  text.slice(text.indexOf("\n") + 1, text.lastIndexOf("\n]")).split(",\n");

/** The contract of one such text. */
export function storedContract(line: string): OperationContract {
  const contract = JSON.parse(line) as OperationContract & Record<string, unknown>;
  if (!TYPED_NUMBER.test(line)) return contract;
  let read: Record<string, unknown> | undefined;
  for (const key of Object.keys(contract).filter((key) => !PLAIN_FIELDS.has(key))) {
    const get = () => (read ??= parseJson(line) as Record<string, unknown>)[key];
    Object.defineProperty(contract, key, { get, enumerable: true, configurable: true });
  }
  return contract;
}

/** Reads the contracts of `ops/contracts.json`. */
export const storedContracts = (text: string): OperationContract[] => contractLines(text).map(storedContract);
