/** The operations a program knows, by id. */
import { contractSha256 } from "./define.ts";
import { type Diagnostic, SvcError } from "./error.ts";
import { sha256Json } from "./hash.ts";
import { didYouMean } from "./nearest.ts";
import type { Operation, OperationContract } from "./operation.ts";
import type { JsonObject } from "./value.ts";

/** An operation and the module that a worker imports to run it. */
export interface RegisteredOperation {
  readonly operation: Operation;
  /** URL of the module whose default export is the operation; with a binding, whose `operationOf` makes it. */
  readonly moduleUrl: string;
  /** What a worker makes the operation from, as data. */
  readonly binding?: JsonObject;
  /** What plans and manifests record of an operation that comes from outside. */
  readonly record?: JsonObject;
  /** What stands against running it now, asked before every run, also when the plan is known already. */
  verify?(): Diagnostic[];
}

/**
 * The operations a program knows, each with the module that runs it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createRegistry } from "../../mod.ts";
 *
 * const registry = await createRegistry();
 * const { contract } = registry.get("wireless.channel").operation;
 * assert.deepEqual(contract.output_kinds, { rx_symbols: "channel.rx_symbols.complex_numpy" });
 * assert.throws(() => registry.get("wireless.chanel"), { hint: "Did you mean wireless.channel?" });
 * ```
 */
export class Registry {
  readonly #entries = new Map<string, RegisteredOperation>();
  #generation = 0;
  #sha256: string | undefined;

  /**
   * Adds operations, all or nothing.
   *
   * @throws SvcError `operation_duplicate` for a known id, `operation_contract_invalid` for a malformed contract
   */
  register(entries: Iterable<RegisteredOperation>): void {
    const added = new Map<string, RegisteredOperation>();
    for (const entry of entries) {
      const { id } = entry.operation;
      if (this.#entries.has(id) || added.has(id)) {
        throw new SvcError("operation_duplicate", `Cannot register ${id}: the id is taken`);
      }
      // Building the contract is what checks it.
      void entry.operation.contract;
      added.set(id, entry);
    }
    for (const [id, entry] of added) this.#entries.set(id, entry);
    this.#generation++;
    this.#sha256 = undefined;
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  find(id: string): RegisteredOperation | undefined {
    return this.#entries.get(id);
  }

  /** @throws SvcError `unknown_operation` with the nearest id as hint */
  get(id: string): RegisteredOperation {
    const entry = this.#entries.get(id);
    if (!entry) {
      throw new SvcError("unknown_operation", `Cannot find an operation named ${id}`, {
        hint: didYouMean(id, this.#entries.keys()),
      });
    }
    return entry;
  }

  /** Ids in code-point order. */
  ids(): string[] {
    return [...this.#entries.keys()].sort();
  }

  contracts(): OperationContract[] {
    return this.ids().map((id) => this.#entries.get(id)!.operation.contract);
  }

  /** Rises with every registration; caches built on an older generation are stale. */
  get generation(): number {
    return this.#generation;
  }

  /** Digest over all contracts. */
  get sha256(): string {
    return this.#sha256 ??= sha256Json(this.contracts().map((contract) => [contract.id, contractSha256(contract)]));
  }
}
