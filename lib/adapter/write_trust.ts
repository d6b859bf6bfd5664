/** Grants an adapter its requests for the current digest of its folder, and revokes them. */
import { isAbsolute, join, relative } from "node:path";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { prettyJson } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import { requestedPath } from "./grants.ts";
import { readAdapter } from "./read_manifest.ts";
import { readTrustFile, TRUST_FILE, type TrustEntry, type TrustFile, withoutTrust, withTrust } from "./trust.ts";
import type { AdapterPackage } from "./types.ts";

/** A change of the trust file. */
export interface TrustChange {
  /** The trust file. */
  path: string;
  name: string;
  /** The adapter's entry now; null without one. */
  entry: TrustEntry | null;
}

/**
 * The entry that grants an adapter all of its requests.
 * @param projectRoot base of the written paths, so that the project can be moved
 */
function trustEntryOf(adapter: AdapterPackage, projectRoot: string, note?: string): TrustEntry {
  const { manifest: { name, permissions }, folder } = adapter;
  const read = permissions.read.map((request) => {
    const path = requestedPath(folder.root, request);
    const inside = relative(Deno.realPathSync(projectRoot), path);
    return isAbsolute(inside) || inside.startsWith("..") ? path : inside === "" ? "." : inside;
  });
  return {
    name,
    folder_sha256: folder.folder_sha256,
    permissions: { net: permissions.net, read, env: permissions.env },
    ...(note === undefined ? {} : { note }),
  };
}

/**
 * Writes an adapter's entry into the trust file of a project and replaces an earlier one.
 * @param options.folderSha256 the approved digest
 * @throws SvcError `adapter_changed` when the folder has another digest, `adapter_manifest_invalid` with every finding
 *   for a folder that cannot be used, or for a trust file that cannot be read
 */
export function trustAdapter(
  folder: string,
  options: { projectRoot: string; note?: string; folderSha256?: string },
): TrustChange {
  const { projectRoot } = options;
  const before = readTrustFile(projectRoot);
  const { adapter, diagnostics } = readAdapter(folder);
  if (adapter === null) {
    throw new SvcError("adapter_manifest_invalid", `Cannot trust ${folder}: it is not a valid adapter`, {
      diagnostics,
    });
  }
  if (adapter.folder.folder_sha256 !== (options.folderSha256 ?? adapter.folder.folder_sha256)) {
    throw new SvcError("adapter_changed", `Cannot trust ${folder}: it changed since its inspection`, {
      hint: "Inspect it again with svc adapter inspect",
    });
  }
  const entry = trustEntryOf(adapter, projectRoot, options.note);
  return { path: write(projectRoot, withTrust(before, entry)), name: entry.name, entry };
}

/**
 * Removes the entries of an adapter from the trust file, for any state of its folder.
 * @param folder its folder, or its name if the folder no longer exists
 * @throws SvcError `not_found` if the trust file has no entry for it
 */
export function untrustAdapter(folder: string, options: { projectRoot: string }): TrustChange {
  const { projectRoot } = options;
  const before = readTrustFile(projectRoot);
  const { adapter, raw } = readAdapter(folder);
  const declared = adapter?.manifest.name ?? (typeof raw?.name === "string" ? raw.name : null);
  const names = before?.adapters.map(({ name }) => name) ?? [];
  const name = declared ?? folder;
  if (!names.includes(name)) {
    throw new SvcError("not_found", `Cannot find ${name} in ${TRUST_FILE}`, {
      hint: didYouMean(name, names) ??
        (names.length === 0 ? "It has no entries" : `It has entries for ${names.join(", ")}`),
    });
  }
  return { path: write(projectRoot, withoutTrust(before, name)), name, entry: null };
}

function write(projectRoot: string, file: TrustFile): string {
  const path = join(projectRoot, TRUST_FILE);
  writeFileAtomic(path, prettyJson(file));
  return path;
}
