/** The registry of a program: the built-in operations and those of a user's modules. */
import { pathToFileURL } from "node:url";
import { messageOf, SvcError } from "../lib/contract/error.ts";
import type { Operation } from "../lib/contract/operation.ts";
import { type RegisteredOperation, Registry } from "../lib/contract/registry.ts";
import { BUILTIN_OPERATIONS } from "./index.ts";

/**
 * Builds a registry.
 * @param modules URLs or paths of modules whose default export is an operation, or a list of operations, each of which is also
 *   the default export of its own module
 * @throws SvcError `operation_file_invalid` for a module that cannot be loaded or exports no operation,
 *   `operation_duplicate` for a repeated id
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createRegistry } from "./registry.ts";
 *
 * const registry = await createRegistry();
 * assert.ok(registry.has("source.random_bits"));
 * await assert.rejects(createRegistry(["file:///my_operation.ts"]), { code: "operation_file_invalid" });
 * ```
 */
export async function createRegistry(modules: readonly (URL | string)[] = []): Promise<Registry> {
  const registry = new Registry();
  registry.register(BUILTIN_OPERATIONS);
  registry.register(await Promise.all(modules.map(loadOperation)));
  return registry;
}

/** The operation of a module, by its URL or path. @throws SvcError `operation_file_invalid` */
export async function loadOperation(url: URL | string): Promise<RegisteredOperation> {
  const moduleUrl = URL.canParse(url) ? String(url) : pathToFileURL(String(url)).href;
  let module: { default?: Operation };
  try {
    module = await import(moduleUrl);
  } catch (error) {
    throw new SvcError(
      "operation_file_invalid",
      `Cannot load the operation module ${moduleUrl}: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  const operation = module.default;
  if (typeof operation?.id !== "string" || typeof operation.definition?.run !== "function") {
    throw new SvcError("operation_file_invalid", `Cannot find an operation as the default export of ${moduleUrl}`, {
      hint: "Write export default defineOperation({ … })",
    });
  }
  return { operation, moduleUrl };
}
