/**
 * Loads adapters into a registry, all or none: every folder is read and checked, every module is loaded once in its
 * sandbox, and only then are operations registered.
 */
import { type Diagnostic, diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import type { RegisteredOperation, Registry } from "../contract/registry.ts";
import { attachLocations } from "../recipe/read.ts";
import { type AdapterBinding, adapterRecord, bindingOf } from "./binding.ts";
import { readFolder } from "./folder.ts";
import { effectiveGrants, parseGrant } from "./grants.ts";
import { adapterOperation } from "./operation.ts";
import { pythonFor, type PythonRuntime } from "./python/interpreter.ts";
import { readAdapter } from "./read_manifest.ts";
import { tryLoad } from "./runtime.ts";
import { requireIsolation } from "./sandbox.ts";
import { readTrustFile } from "./trust.ts";
import type { AdapterPackage, AdapterSource, EffectiveGrants, Grant } from "./types.ts";

export interface LoadOptions {
  /** Base of relative paths in grants. */
  projectRoot: string;
  /** Grants by the name of the adapter, in the form of `--grant`. */
  grants?: readonly string[];
  /** Path of the interpreter of Python adapters; those that their manifests name when left out. */
  python?: string;
  /** false does not load the modules: for listing operations, never for running them. */
  loadModules?: boolean;
}

/** A loaded adapter. */
export interface LoadedAdapter {
  adapter: AdapterPackage;
  grants: EffectiveGrants;
  bindings: AdapterBinding[];
  /** Warnings: `adapter_trust_mismatch`, `trust_file_ignored`. */
  warnings: Diagnostic[];
}

const STEP_MODULE = new URL("./step.ts", import.meta.url).href;

/**
 * Loads adapters and registers their operations.
 * @param registry receives them; an id of a built-in operation or another adapter is refused
 * @param sources folders, each with its grants
 * @throws SvcError with every finding of every folder: codes of `readAdapter`, `adapter_operation_conflict`,
 *   `adapter_load_failed`, `adapter_callable_missing`, and `adapter_isolation_unavailable` if code cannot be confined
 */
export async function loadAdapters(
  registry: Registry,
  sources: readonly AdapterSource[],
  options: LoadOptions,
): Promise<LoadedAdapter[]> {
  const loading = new Loading(registry, options);
  for (const source of sources) await loading.read(source);
  const { problems, loaded } = loading;
  refuse(problems);
  refuseStrangers(options.grants ?? [], loaded.map(({ adapter }) => adapter.manifest.name));
  if (options.loadModules !== false && loaded.length > 0) {
    if (loaded.some(({ adapter }) => adapter.manifest.python === undefined)) await requireIsolation();
    refuse(await loadProblems(loaded));
  }
  registry.register(loading.entries);
  return loaded;
}

/** Adapters that were read and not registered yet, and the findings of all of them. */
class Loading {
  readonly problems: Diagnostic[] = [];
  readonly loaded: LoadedAdapter[] = [];
  readonly entries: RegisteredOperation[] = [];
  readonly #registry: Registry;
  readonly #options: LoadOptions;
  #trust: ReturnType<typeof readTrustFile> | undefined;
  /** Names of adapters by the operations that they have. */
  readonly #taken = new Map<string, string>();
  /** Folders by the names of their adapters. */
  readonly #folders = new Map<string, string>();

  constructor(registry: Registry, options: LoadOptions) {
    this.#registry = registry;
    this.#options = options;
  }

  async read(source: AdapterSource): Promise<void> {
    const { projectRoot, python: chosen, loadModules } = this.#options;
    const { adapter, diagnostics } = readAdapter(source.folder);
    if (adapter === null) return this.#note(source, diagnostics);
    const { manifest: { name, operations }, folder, locate } = adapter;
    // A folder that is named twice, such as by flag and by environment, is one adapter.
    if (this.loaded.some((other) => other.adapter.folder.root === folder.root)) return;
    const found: Diagnostic[] = [], warnings: Diagnostic[] = [];
    const other = this.#folders.get(name);
    if (other !== undefined) {
      const message = `Cannot load two adapters named ${name}: the other is ${other}`;
      const hint = "Load one of them, or rename one in its manifest";
      found.push(diagnostic("adapter_operation_conflict", ["name"], message, { hint }));
    }
    this.#folders.set(name, folder.root);
    const given: Grant[] = [
      ...(this.#options.grants ?? []).map((text) => parseGrant(text)),
      ...(source.grants ?? []).map((text) => parseGrant(text, name)),
    ];
    const grants = effectiveGrants(adapter, given, this.#trust ??= readTrustFile(), projectRoot, warnings);
    let python: PythonRuntime | undefined;
    if (adapter.manifest.python !== undefined) {
      try {
        python = await pythonFor(adapter, grants, chosen);
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        const { code, message, hint } = error;
        if (loadModules !== false) found.push(diagnostic(code, ["python"], message, { hint }));
      }
    }
    const bindings = operations.map((operation) => bindingOf(adapter, operation, grants, python));
    const one = { adapter, grants, bindings, warnings };
    for (const index of operations.keys()) found.push(...this.#addOperation(one, index));
    this.#note(source, attachLocations(found, locate));
    this.loaded.push(one);
  }

  #note(source: AdapterSource, items: readonly Diagnostic[]): void {
    this.problems.push(...items.map((item) => ({ ...item, message: `${item.message} (${source.folder})` })));
  }

  /** @returns what is wrong with the operation */
  #addOperation({ adapter, grants, bindings, warnings }: LoadedAdapter, index: number): Diagnostic[] {
    const { name, version, permissions, operations } = adapter.manifest, operation = operations[index];
    const place = ["operations", index], owner = this.#taken.get(operation.id);
    if (this.#registry.has(operation.id) || owner !== undefined) {
      const why = owner === undefined ? "the id is in use" : `${owner} has this id`;
      const hint = "Choose an id with a prefix of your own";
      const message = `Cannot register ${operation.id}: ${why}`;
      return [diagnostic("adapter_operation_conflict", [...place, "id"], message, { hint })];
    }
    this.#taken.set(operation.id, name);
    try {
      const registered = adapterOperation(operation, { name, version, permissions_requested: permissions });
      // Building the contract checks schema, backends and materialisations.
      void registered.contract;
      this.entries.push({
        operation: registered,
        moduleUrl: STEP_MODULE,
        binding: bindings[index],
        record: adapterRecord(adapter, operation, grants, bindings[index].python),
        verify: () => [...verifyFolder(adapter), ...warnings],
      });
      return [];
    } catch (error) {
      const hint = "Compare it with the wrapped contract: svc ops show";
      return [diagnostic("adapter_manifest_invalid", place, messageOf(error), { hint })];
    }
  }
}

/** Loads every module once. @returns a finding for each that cannot be loaded */
async function loadProblems(loaded: readonly LoadedAdapter[]): Promise<Diagnostic[]> {
  const tried = await Promise.allSettled(loaded.map(tryOnce));
  return tried.flatMap((outcome, index) => {
    if (outcome.status === "fulfilled") return [];
    const error = outcome.reason instanceof SvcError
      ? outcome.reason
      : new SvcError("adapter_load_failed", messageOf(outcome.reason));
    const { code, hint, diagnostics: [{ location } = {} as Partial<Diagnostic>] } = error;
    return diagnostic(code, [], `${error.message} (${loaded[index].adapter.folder.root})`, { hint, location });
  });
}

/** Folders whose modules were loaded in this process, with their binding. */
const proven = new Set<string>();

async function tryOnce({ adapter, grants, bindings }: LoadedAdapter): Promise<void> {
  const key = sha256Json([adapter.folder.root, adapter.folder.folder_sha256, { ...grants.granted }]);
  if (proven.has(key)) return;
  await tryLoad(bindings);
  proven.add(key);
}

function refuse(problems: readonly Diagnostic[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const message = problems.length === 1 ? first.message : `Cannot load the adapters: ${problems.length} problems`;
  throw new SvcError(first.code, message, { hint: first.hint, diagnostics: [...problems] });
}

/** A grant for an adapter that is not loaded is probably mistyped. */
function refuseStrangers(grants: readonly string[], names: readonly string[]): void {
  for (const text of grants) {
    const { adapter } = parseGrant(text);
    if (names.includes(adapter)) continue;
    throw new SvcError(
      "adapter_permission_unsupported",
      `Cannot grant permissions to ${adapter}: no adapter with this name is loaded`,
      {
        hint: names.length === 0 ? "Load it with --adapter <folder>" : `Loaded: ${names.join(", ")}`,
      },
    );
  }
}

/** Whether the folder is unchanged since it was loaded. */
function verifyFolder({ folder, manifest }: AdapterPackage): Diagnostic[] {
  const now = readFolder(folder.root).folder;
  if (now?.folder_sha256 === folder.folder_sha256) return [];
  const before = new Map(folder.files.map((file) => [file.path, file.sha256]));
  const after = new Map(now?.files.map((file) => [file.path, file.sha256]) ?? []);
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter((path) =>
    before.get(path) !== after.get(path)
  );
  const what = now === null ? "its folder is no longer readable" : `${paths.slice(0, 3).join(", ")} changed`;
  return [diagnostic("adapter_changed", [], `Cannot run the adapter ${manifest.name}: ${what} since it was loaded`, {
    hint: "Load it again; grants for the earlier folder do not apply to the changed one",
  })];
}
