/**
 * The adapter's modules: made from the table of hashed sources, evaluated under the guard. All imports are looked up in
 * this table only.
 */
import * as untyped from "node:vm";
import type { Guard } from "../../onnx/guard.ts";

interface VmModule {
  status: string;
  namespace: Record<string, unknown>;
  identifier: string;
  link(linker: (specifier: string, referrer: VmModule) => VmModule): Promise<void>;
  evaluate(): Promise<void>;
}

// deno-lint-ignore no-explicit-any -- the types of node:vm have no modules yet
const { SourceTextModule, SyntheticModule } = untyped as any;

/** Pure modules of Node: they have no side effects and take no callbacks. */
const NODE_MODULES = ["assert", "buffer", "path", "string_decoder", "url"];

export interface ModuleTable {
  /** Evaluates a module with all of its imports, and returns its exports. */
  load(url: string): Promise<Record<string, unknown>>;
}

/**
 * @param sources modules by URL
 * @param refuse throws for a specifier outside the table
 */
export async function createModules(
  sources: ReadonlyMap<string, string>,
  guard: Guard,
  refuse: (specifier: string) => never,
): Promise<ModuleTable> {
  if (typeof SourceTextModule !== "function") throw new Error("this version of Deno cannot make modules from sources");
  const made = new Map<string, VmModule>();
  const synthetic = (identifier: string, values: Record<string, unknown>): VmModule =>
    new SyntheticModule(Object.keys(values), function (this: { setExport(name: string, value: unknown): void }) {
      for (const [name, value] of Object.entries(values)) this.setExport(name, value);
    }, { identifier });
  for (const name of NODE_MODULES) {
    const namespace = await import(`node:${name}`);
    made.set(`node:${name}`, synthetic(`node:${name}`, { ...namespace }));
  }
  const find = (specifier: string, parent: string): VmModule => {
    const url = specifier.startsWith("node:") ? specifier : URL.parse(specifier, parent)?.href ?? specifier;
    let module = made.get(url);
    if (module === undefined) {
      const source = sources.get(url);
      if (source === undefined) return refuse(specifier);
      module = url.endsWith(".json") ? synthetic(url, { default: JSON.parse(source) }) : textModule(url, source);
      made.set(url, module!);
    }
    return module!;
  };
  const textModule = (url: string, source: string): VmModule =>
    new SourceTextModule(source, {
      identifier: url,
      initializeImportMeta(meta: Record<string, unknown>) {
        meta.url = url;
      },
      importModuleDynamically: (specifier: string) => ready(find(specifier, url)),
    });
  /** One at a time: a module that is being linked cannot be linked again. */
  const linking = new Map<VmModule, Promise<void>>();
  const ready = async (module: VmModule): Promise<VmModule> => {
    if (module.status === "unlinked") {
      linking.set(module, module.link((specifier, referrer) => find(specifier, referrer.identifier)));
    }
    await linking.get(module);
    if (module.status === "linked") await module.evaluate();
    return module;
  };
  return {
    async load(url) {
      const module = find(url, url);
      if (module.status === "unlinked") {
        linking.set(module, module.link((specifier, referrer) => find(specifier, referrer.identifier)));
        await linking.get(module);
      }
      await (await guard.enter(() => ({ evaluated: ready(module) }))).evaluated;
      return module.namespace;
    },
  };
}
