/**
 * File systems that several hosts share. SQLite's write-ahead log needs memory that the processes of one host share, and
 * locks of files may hold on one host alone: each host has an index, a server and locks of its own there.
 */
import { dirname, join } from "../contract/paths.ts";
import { fileSystemType, hostName } from "../contract/node_builtins.ts";

/** Types of `statfs` on Linux (statfs(2), and the sources of the file systems). */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB2",
  0x0bd00bd0: "Lustre",
  0x47504653: "GPFS",
  0x00c36400: "Ceph",
  0x19830326: "BeeGFS",
  0x5346414f: "AFS",
  0x01021997: "9P",
};

/**
 * The name of the network file system that holds a folder, or will hold it; null on a local one, and where the system or
 * a missing permission (`--allow-sys`) hides the type.
 * @param typeOf reads the type of a file system; tests replace it
 */
export function networkFileSystem(
  folder: string,
  typeOf: (folder: string) => number = fileSystemType,
): string | null {
  // Asked first: a request could block the program at a prompt.
  if (!["statfs", "hostname"].every(isGranted)) return null;
  for (let path = folder;; path = dirname(path)) {
    try {
      // Types come as signed or unsigned numbers of 32 bits.
      return NETWORK[typeOf(path) >>> 0] ?? null;
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT" || dirname(path) === path) return null;
    }
  }
}

/** The name of this host where a folder is on a network file system; undefined where no other host shares it. */
export function sharingHost(folder: string, typeOf?: (folder: string) => number): string | undefined {
  return networkFileSystem(folder, typeOf) === null ? undefined : hostName().replaceAll(/[^A-Za-z0-9.-]/g, "_");
}

/** The path of a file of a state directory that each host has for itself: `index.sqlite3`, or `index.<host>.sqlite3`. */
export function hostFile(stateDir: string, name: string, host: string | undefined): string {
  return join(stateDir, host === undefined ? name : name.replace(/(?=\.[^.]+$)/, `.${host}`));
}

const isGranted = (kind: string): boolean =>
  // The type lacks the sys permission kind `statfs`.
  Deno.permissions.querySync({ name: "sys", kind } as Deno.SysPermissionDescriptor).state === "granted";
