/** The registry of operations, by id. */
import { contractSha256 } from "./define.ts";
import { type Diagnostic, SvcError } from "./error.ts";
import { sha256Json } from "./hash.ts";
import { didYouMean } from "./nearest.ts";
import type { Operation, OperationContract } from "./operation.ts";
import type { JsonObject } from "./value.ts";

/** An operation with its module, which workers import. */
export interface RegisteredOperation {
  readonly operation: Operation;
  /** URL of the module that exports the operation by default, alone or in a list; with a binding, `operationOf` constructs it. */
  readonly moduleUrl: string;
  /** Document from which a worker constructs the operation. */
  readonly binding?: JsonObject;
  /** Record of an external operation in plans and manifests. */
  readonly record?: JsonObject;
  /** Digest of the contract of an operation whose module is loaded at its first use. */
  readonly contractSha256?: string;
  /** Loads the module of such an operation without blocking, before the first use of its definition. */
  prepare?(): Promise<void>;
  /** Findings against running it now, requested before every run, also with a cached plan. */
  verify?(): Diagnostic[];
}

/** The operation of an id that a module exports by default, alone or in the list of a family. */
export const exportedOperation = (module: { default?: Operation | Operation[] }, id: string): Operation | undefined =>
  [module.default ?? []].flat().find((operation) => operation.id === id);

export class Registry {
  readonly #entries = new Map<string, RegisteredOperation>();
  #generation = 0;
  #sha256: string | undefined;

  /**
   * Adds operations, all or nothing.
   * @throws SvcError `operation_duplicate` for a known id, `operation_contract_invalid` for a malformed contract
   */
  register(entries: Iterable<RegisteredOperation>): void {
    const added = new Map<string, RegisteredOperation>();
    for (const entry of entries) {
      const { id } = entry.operation;
      if (this.#entries.has(id) || added.has(id)) {
        throw new SvcError("operation_duplicate", `Cannot register ${id}: the id is taken`);
      }
      // Building the contract checks it.
      if (entry.contractSha256 === undefined) void entry.operation.contract;
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

  /**
   * Loads the modules of operations, one after the other: imports at once read the modules that they share each. An id without
   * an operation is left to the checks of the recipe.
   */
  async prepare(ids: Iterable<unknown>): Promise<void> {
    for (const id of new Set(ids)) await this.#entries.get(id as string)?.prepare?.();
  }

  /** Ids in code-point order. */
  ids(): string[] {
    return [...this.#entries.keys()].sort();
  }

  contracts(): OperationContract[] {
    return this.ids().map((id) => this.#entries.get(id)!.operation.contract);
  }

  /** Increases with every registration, so that caches detect older generations. */
  get generation(): number {
    return this.#generation;
  }

  get sha256(): string {
    return this.#sha256 ??= sha256Json(
      this.ids().map((id) => {
        const { operation, contractSha256: known } = this.get(id);
        return [id, known ?? contractSha256(operation.contract)];
      }),
    );
  }
}
