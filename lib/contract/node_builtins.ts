/**
 * Node's built-in modules at first use. Starting them takes longer than everything else a short command does (about
 * 40 ms of a 150 ms `ops list`), and a static import would pay for it at once.
 */
interface BuiltinModules {
  "node:crypto": typeof import("node:crypto");
  "node:zlib": typeof import("node:zlib");
}

interface Runtime {
  process: { getBuiltinModule<Name extends keyof BuiltinModules>(name: Name): BuiltinModules[Name] };
}

// The global itself starts Node's modules at its first use, so it is looked up inside.
const load = <Name extends keyof BuiltinModules>(name: Name) =>
  (globalThis as unknown as Runtime).process.getBuiltinModule(name);

let crypto: BuiltinModules["node:crypto"] | undefined;
let zlib: BuiltinModules["node:zlib"] | undefined;

/** SHA-256 and its like. */
export const nodeCrypto = (): BuiltinModules["node:crypto"] => crypto ??= load("node:crypto");

/** Deflate and CRC-32. */
export const nodeZlib = (): BuiltinModules["node:zlib"] => zlib ??= load("node:zlib");
