/** The operations that recipes can use, fetched once. */
import { get, type Reply } from "../api.ts";
import { signal } from "../preact.ts";

export type Contract = Reply<"/api/ops">["operations"][number];

export const contracts = signal<ReadonlyMap<string, Contract>>(new Map());
let loading: Promise<void> | undefined;

/** Fetches the operations where that was not done yet. */
export function loadContracts(): Promise<void> {
  return loading ??= get("/api/ops").then(({ operations }) => {
    contracts.value = new Map(operations.map((contract) => [contract.id, contract]));
  }).catch((error) => {
    loading = undefined;
    throw error;
  });
}
