/** The operations that recipes can use, fetched once. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get } from "../api.ts";
import { signal } from "../preact.ts";

export interface Contract extends JsonObject {
  id: string;
  name: string;
  status: string;
  description: string | null;
  input_kinds: { [port: string]: string[] };
  optional_input_kinds: { [port: string]: string[] };
  output_kinds: { [port: string]: string };
  params_schema: JsonObject;
  backends: { [runner: string]: string[] };
  materializations: JsonObject[];
  execution_safety: JsonObject;
}

export const contracts = signal<ReadonlyMap<string, Contract>>(new Map());
let loading: Promise<void> | undefined;

/** Fetches them where that was not done yet. */
export function loadContracts(): Promise<void> {
  return loading ??= get<{ operations: Contract[] }>("/api/ops").then(({ operations }) => {
    contracts.value = new Map(operations.map((contract) => [contract.id, contract]));
  }).catch((error) => {
    loading = undefined;
    throw error;
  });
}
