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
import { readAdapter } from "./read_manifest.ts";
import { tryLoad } from "./runtime.ts";
import { requireIsolation } from "./sandbox.ts";
import { readTrustFile } from "./trust.ts";
import type { AdapterPackage, AdapterSource, EffectiveGrants, Grant } from "./types.ts";

export interface LoadOptions {
  /** Folder of the trust file; base of relative paths in grants. */
  projectRoot: string;
  /** Grants by the name of the adapter, in the form of `--grant`. */
  grants?: readonly string[];
  /** false does not load the modules: for listing operations, never for running them. */
  loadModules?: boolean;
}

/** A loaded adapter. */
export interface LoadedAdapter {
  adapter: AdapterPackage;
  grants: EffectiveGrants;
  bindings: AdapterBinding[];
  /** Warnings: `adapter_trust_mismatch`. */
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
  if (sources.length === 0) {
    refuseStrangers(options.grants ?? [], []);
    return [];
  }
  const trust = readTrustFile(options.projectRoot);
  const problems: Diagnostic[] = [];
  const loaded: LoadedAdapter[] = [];
  const entries: RegisteredOperation[] = [];
  const taken = new Map<string, string>();
  const names = new Map<string, string>();
  const folders = new Set<string>();
  for (const source of sources) {
    const { adapter, diagnostics } = readAdapter(source.folder);
    const about = (items: Diagnostic[]) =>
      problems.push(...items.map((item) => ({ ...item, message: `${item.message} (${source.folder})` })));
    if (adapter === null) {
      about(diagnostics);
      continue;
    }
    const { manifest, folder, locate } = adapter;
    // A folder that is named twice, such as by flag and by environment, is one adapter.
    if (folders.has(folder.root)) continue;
    folders.add(folder.root);
    const found: Diagnostic[] = [];
    const other = names.get(manifest.name);
    if (other !== undefined) {
      found.push(
        diagnostic(
          "adapter_operation_conflict",
          ["name"],
          `Cannot load two adapters named ${manifest.name}: the other is ${other}`,
          {
            hint: "Load one of them, or rename one in its manifest",
          },
        ),
      );
    }
    names.set(manifest.name, folder.root);
    const grantList: Grant[] = [
      ...(options.grants ?? []).map((text) => parseGrant(text)),
      ...(source.grants ?? []).map((text) => parseGrant(text, manifest.name)),
    ];
    const warnings: Diagnostic[] = [];
    const grants = effectiveGrants(adapter, grantList, trust, options.projectRoot, warnings);
    const bindings = manifest.operations.map((operation) => bindingOf(adapter, operation, grants));
    const face = { name: manifest.name, version: manifest.version, permissions_requested: manifest.permissions };
    for (const [index, operation] of manifest.operations.entries()) {
      const place = ["operations", index];
      if (registry.has(operation.id) || taken.has(operation.id)) {
        const owner = taken.get(operation.id);
        found.push(
          diagnostic(
            "adapter_operation_conflict",
            [...place, "id"],
            `Cannot register ${operation.id}: ${owner === undefined ? "the id is in use" : `${owner} has this id`}`,
            {
              hint: "Choose an id with a prefix of your own",
            },
          ),
        );
        continue;
      }
      taken.set(operation.id, manifest.name);
      try {
        const registered = adapterOperation(operation, face);
        // Building the contract checks schema, backends and materialisations.
        void registered.contract;
        entries.push({
          operation: registered,
          moduleUrl: STEP_MODULE,
          binding: bindings[index],
          record: adapterRecord(adapter, operation, grants),
          verify: () => [...verifyFolder(adapter), ...warnings],
        });
      } catch (error) {
        found.push(
          diagnostic("adapter_manifest_invalid", place, messageOf(error), {
            hint: "Compare it with the wrapped contract: svc ops show",
          }),
        );
      }
    }
    about(attachLocations(found, locate));
    loaded.push({ adapter, grants, bindings, warnings });
  }
  refuse(problems);
  refuseStrangers(options.grants ?? [], [...names.keys()]);
  if (options.loadModules !== false) {
    await requireIsolation();
    const tried = await Promise.allSettled(loaded.map(tryOnce));
    tried.forEach((outcome, index) => {
      if (outcome.status === "fulfilled") return;
      const { code, hint } = outcome.reason instanceof SvcError
        ? outcome.reason
        : { code: "adapter_load_failed", hint: null };
      const { root } = loaded[index].adapter.folder;
      problems.push(diagnostic(code, [], `${messageOf(outcome.reason)} (${root})`, { hint }));
    });
    refuse(problems);
  }
  registry.register(entries);
  return loaded;
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
