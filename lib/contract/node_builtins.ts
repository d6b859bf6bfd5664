/**
 * Node's built-in modules, loaded on first use. Loading them takes about 40 ms of a 150 ms `ops list`, which a static
 * import would always cost.
 */
interface BuiltinModules {
  "node:buffer": typeof import("node:buffer");
  "node:crypto": typeof import("node:crypto");
  "node:fs": typeof import("node:fs");
  "node:module": typeof import("node:module");
  "node:os": typeof import("node:os");
  "node:path": typeof import("node:path");
  "node:url": typeof import("node:url");
  "node:v8": typeof import("node:v8");
  "node:vm": typeof import("node:vm");
  "node:zlib": typeof import("node:zlib");
}

interface Runtime {
  process: { getBuiltinModule<Name extends keyof BuiltinModules>(name: Name): BuiltinModules[Name] };
}

// Reading the global itself loads Node's modules, so it is read here.
const load = <Name extends keyof BuiltinModules>(name: Name) => (globalThis as Runtime).process.getBuiltinModule(name);

/** The part of `node:crypto` in use. */
export interface CryptoBuiltins {
  createHash(algorithm: "sha256" | "sha512"): Hash;
}

interface Hash {
  update(data: Uint8Array | string): Hash;
  copy(): Hash;
  digest(encoding: "hex"): string;
}

let crypto: CryptoBuiltins | undefined;
let zlib: BuiltinModules["node:zlib"] | undefined;

/** Supplies hash functions where Node's are missing: in browsers. */
export function supplyCrypto(supplied: CryptoBuiltins): void {
  crypto = supplied;
}

export const nodeCrypto = (): CryptoBuiltins => crypto ??= load("node:crypto");

export const nodeZlib = (): BuiltinModules["node:zlib"] => zlib ??= load("node:zlib");

/** Loads modules without waiting. */
export const nodeModule = (): BuiltinModules["node:module"] => load("node:module");

export const nodeBuffer = () => load("node:buffer").Buffer;

export const nodePath = (): BuiltinModules["node:path"] => load("node:path");

/** The path of a URL of a file. */
export const filePath = (url: string | URL): string => load("node:url").fileURLToPath(url);

/** The URL of a path of a file. */
export const fileUrl = (path: string): URL => load("node:url").pathToFileURL(path);

/** The number of the type of the file system that holds a path. */
export const fileSystemType = (path: string): number => load("node:fs").statfsSync(path).type;

export const hostName = (): string => load("node:os").hostname();

/** Flags of V8. */
export const nodeV8 = (): BuiltinModules["node:v8"] => load("node:v8");

/** Contexts. */
export const nodeVm = (): BuiltinModules["node:vm"] => load("node:vm");
