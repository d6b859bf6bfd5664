/**
 * Finds the optional native extension. `deno task build:native` compiles the C++ sources of this folder into ./build/,
 * a folder that git ignores. The library's name contains the digest of its sources and build settings, so a library of
 * other sources is never loaded.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

/** Sources of the library; the first ones are compiled. */
export const COMPILED: readonly URL[] = [
  new URL("./level.cpp", import.meta.url),
  new URL("./bits.cpp", import.meta.url),
  new URL("./modulation.cpp", import.meta.url),
  new URL("./random.cpp", import.meta.url),
  new URL("./nr_ldpc.cpp", import.meta.url),
];
const SOURCES: readonly URL[] = [
  ...COMPILED,
  new URL("./export.hpp", import.meta.url),
  new URL("./bits.hpp", import.meta.url),
  new URL("./logarithm.hpp", import.meta.url),
  new URL("./crc.hpp", import.meta.url),
  new URL("./lanes.hpp", import.meta.url),
  new URL("../kernels/ziggurat.json", import.meta.url),
  new URL("./build.ts", import.meta.url),
];

export const BUILD_FOLDER: URL = new URL("./build/", import.meta.url);

/** `environment.native` of a manifest; `hint` names the next action if it is not available. */
export interface NativeExtension {
  available: boolean;
  /** The library, if one matches the sources. */
  path: string | null;
  sha256: string | null;
  reason: string | null;
  hint: string | null;
}

/** Surroundings of an inspection; tests replace them. */
export interface Surroundings {
  sources?: readonly URL[];
  folder?: URL;
  os?: string;
  arch?: string;
  /** State of the permission to load a library. */
  permission?(path: string): Deno.PermissionState;
}

const SUFFIX: Readonly<Record<string, string>> = { linux: "so", darwin: "dylib" };
const ARCHITECTURES = ["x86_64", "aarch64"];
const PREFIX = "svc_native-";

/** SHA-256 over names and texts. @throws Error where they cannot be read */
export function sourcesSha256(sources: readonly URL[] = SOURCES): string {
  const hash = createHash("sha256");
  for (const url of sources) {
    const bytes = readFileSync(url);
    hash.update(`${url.pathname.split("/").at(-1)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** The library's name, or null on an unsupported platform. */
export function libraryName(digest: string, { os = Deno.build.os, arch = Deno.build.arch }: Surroundings = {}) {
  if (SUFFIX[os] === undefined || !ARCHITECTURES.includes(arch)) return null;
  return `${PREFIX}${os}-${arch}-${digest.slice(0, 16)}.${SUFFIX[os]}`;
}

let found: NativeExtension | undefined;

/**
 * Looks for the extension. Nothing is loaded and no prompt is shown: a missing permission is a reason. Availability is
 * cached; until then every call looks again.
 */
export function nativeExtension(): NativeExtension {
  if (found !== undefined) return found;
  const extension = inspectExtension();
  if (extension.available) found = extension;
  return extension;
}

/** Looks for the extension in given surroundings. Exported for tests. */
export function inspectExtension(surroundings: Surroundings = {}): NativeExtension {
  const { sources = SOURCES, folder = BUILD_FOLDER, permission = ffiPermission } = surroundings;
  const lacking = (reason: string, hint: string | null, library: { path: string; sha256: string } | null = null) => ({
    available: false,
    path: library?.path ?? null,
    sha256: library?.sha256 ?? null,
    reason,
    hint,
  });
  const name = libraryName("", surroundings);
  if (name === null) {
    return lacking(
      `the native extension is made for Linux and macOS on ${ARCHITECTURES.join(" or ")}`,
      "Choose the portable implementation",
    );
  }
  let digest: string;
  try {
    digest = sourcesSha256(sources);
  } catch {
    return lacking(
      "this program cannot read the sources of the native extension",
      "Run svc from a folder that holds its sources, with the permission to read them",
    );
  }
  const library = new URL(libraryName(digest, surroundings)!, folder), path = decodeURIComponent(library.pathname);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(library);
  } catch {
    return lacking(
      holdsAnother(folder)
        ? "the sources of the native extension have changed since it was built"
        : "the native extension is not built",
      "Run deno task build:native",
    );
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (permission(path) !== "granted") {
    return lacking("the permission to load the native extension is not granted", `Add --allow-ffi=${path}`, {
      path,
      sha256,
    });
  }
  return { available: true, path, sha256, reason: null, hint: null };
}

function ffiPermission(path: string): Deno.PermissionState {
  return Deno.permissions.querySync({ name: "ffi", path }).state;
}

function holdsAnother(folder: URL): boolean {
  try {
    return readdirSync(folder).some((name) => name.startsWith(PREFIX));
  } catch {
    return false;
  }
}
