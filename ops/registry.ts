/**
 * The registry of a program: the built-in operations and those of a user's modules.
 *
 * Loading all built-in operations takes a third of a short command. A program in a folder loads the module of each at its
 * first use, others load all modules at the start.
 */
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ownPlace } from "../lib/artifact/code_place.ts";
import { PROGRAM_NAME, programForm } from "../lib/artifact/program.ts";
import { messageOf, type Operation, placedError, SvcError } from "./api.ts";
import { nodeModule } from "../lib/contract/node_builtins.ts";
import type { OperationContract } from "../lib/contract/operation.ts";
import { exportedOperation, type RegisteredOperation, Registry } from "../lib/contract/registry.ts";
import { contractLines, storedContract } from "../lib/contract/stored_contracts.ts";
import digests from "./contract_digests.json" with { type: "json" };

/**
 * Builds a registry.
 * @param modules URLs or paths of modules whose default export is an operation
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
  const inFolder = programForm() === "folder";
  registry.register(inFolder ? await lazyOperations() : (await import("./index.ts")).BUILTIN_OPERATIONS);
  registry.register(await Promise.all(modules.map(loadOperation)));
  return registry;
}

let lazy: Promise<RegisteredOperation[]> | undefined;

/**
 * The built-in operations for all registries of this program, with their contracts as generated. Each is loaded at the first use of its
 * definition; with `prepare` before it, without a synchronous load, in which Deno waits for ever when an import is under way.
 */
function lazyOperations(): Promise<RegisteredOperation[]> {
  return lazy ??= import("./contracts.json", { with: { type: "text" } }).then(({ default: text }) => {
    const require = nodeModule().createRequire(import.meta.url), contracts = contractLines(text);
    return Object.entries(digests.operations).map(([id, { module, contract_sha256 }], index) => {
      const url = new URL(module, import.meta.url);
      let loaded: Operation | undefined, contract: OperationContract | undefined;
      const operation: Operation = {
        id,
        get definition() {
          return (loaded ??= exportedOperation(require(fileURLToPath(url)), id)!).definition;
        },
        get contract() {
          return contract ??= storedContract(contracts[index]);
        },
      };
      // A failure is reported by the synchronous load, at the first use.
      const prepare = async () => void (loaded ??= exportedOperation(await import(url.href).catch(() => ({})), id));
      return { operation, moduleUrl: url.href, contractSha256: contract_sha256, prepare };
    });
  });
}

/** The operation of a module, by its URL or path. @throws SvcError `operation_file_invalid` */
export async function loadOperation(url: URL | string): Promise<RegisteredOperation> {
  const moduleUrl = URL.canParse(url) ? String(url) : pathToFileURL(String(url)).href;
  let module: { default?: Operation };
  try {
    // Importing a pipe waits for its writer.
    if (moduleUrl.startsWith("file:") && !Deno.statSync(new URL(moduleUrl)).isFile) {
      throw new Error("it is no regular file");
    }
    module = await import(moduleUrl);
  } catch (error) {
    // A syntax error names its place in its last line, below an excerpt.
    const [said] = messageOf(error).split("\n");
    const path = moduleUrl.startsWith("file:") ? fileURLToPath(moduleUrl) : moduleUrl;
    throw placedError(
      new SvcError("operation_file_invalid", `Cannot load the operation module ${path}: ${said}`, {
        hint: said.includes(PROGRAM_NAME)
          ? `Start svc with its own configuration (deno run --config), or name ${PROGRAM_NAME} in the imports of yours`
          : null,
        cause: error,
      }),
      ownPlace(error, dirname(path)),
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
