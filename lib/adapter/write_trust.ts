/** Grants an adapter its requests for the current digest of its folder, and revokes them, in the trust file of the user. */
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { notPython, requestedPath } from "./grants.ts";
import { readAdapter } from "./read_manifest.ts";
import { changeTrustFile, type TrustEntry } from "./trust.ts";

/** A change of the trust file. */
export interface TrustChange {
  /** The trust file. */
  path: string;
  name: string;
  /** The adapter's entry now; null without one. */
  entry: TrustEntry & { folder_sha256: string } | null;
}

export interface TrustOptions {
  note?: string;
  /** The approved digest. */
  folderSha256?: string;
  /** A Python adapter may run with the rights of the user where no sandbox works. */
  unsandboxed?: boolean;
}

/**
 * Writes an entry that grants an adapter all of its requests. Entries for other digests of its folder stay.
 * @throws SvcError `adapter_changed` when the folder has another digest, `adapter_manifest_invalid` with every finding
 *   for a folder that cannot be used, and what changing the trust file throws
 */
export function trustAdapter(folder: string, options: TrustOptions = {}): TrustChange {
  const { adapter, diagnostics } = readAdapter(folder);
  if (adapter === null) {
    throw new SvcError("adapter_manifest_invalid", `Cannot trust ${folder}: it is not a valid adapter`, {
      diagnostics,
    });
  }
  const { manifest: { name, permissions, python }, folder: { root, folder_sha256 } } = adapter;
  if (options.unsandboxed && python === undefined) throw notPython(name);
  if (folder_sha256 !== (options.folderSha256 ?? folder_sha256)) {
    throw new SvcError("adapter_changed", `Cannot trust ${folder}: it changed since its inspection`, {
      hint: "Inspect it again with svc adapter inspect",
    });
  }
  const { net, env } = permissions, read = permissions.read.map((path) => requestedPath(root, path));
  const entry = {
    name,
    permissions: { net, read, env },
    ...(options.unsandboxed ? { unsandboxed: true as const } : {}),
    ...(options.note === undefined ? {} : { note: options.note }),
  };
  const path = changeTrustFile((adapters) => adapters[folder_sha256] = entry);
  return { path, name, entry: { folder_sha256, ...entry } };
}

/**
 * Removes all entries of an adapter from the trust file, for any state of its folder.
 * @param folder its folder, or its name if the folder no longer exists
 * @throws SvcError `not_found` if the trust file has no entry for it
 */
export function untrustAdapter(folder: string): TrustChange {
  const { adapter, raw } = readAdapter(folder);
  const declared = adapter?.manifest.name ?? (typeof raw?.name === "string" ? raw.name : null);
  const name = declared ?? folder;
  const path = changeTrustFile((adapters) => {
    const names = [...new Set(Object.values(adapters).map((entry) => entry.name))].sort();
    if (!names.includes(name)) {
      throw new SvcError("not_found", `Cannot find ${name} in the trust file`, {
        hint: didYouMean(name, names) ??
          (names.length === 0 ? "It has no entries" : `It has entries for ${names.join(", ")}`),
      });
    }
    for (const [digest, entry] of Object.entries(adapters)) if (entry.name === name) delete adapters[digest];
  });
  return { path, name, entry: null };
}
