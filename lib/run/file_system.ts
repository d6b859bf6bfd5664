/** File systems that several hosts share: SQLite's write-ahead log needs memory that the processes of one host share. */
import { statfsSync } from "node:fs";

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
 * The name of the network file system that holds a folder; null on a local one, and where the system does not tell.
 * @param typeOf reads the type of a file system; tests replace it
 */
export function networkFileSystem(
  folder: string,
  typeOf: (folder: string) => number = (path) => statfsSync(path).type,
): string | null {
  try {
    // Types come as signed or unsigned numbers of 32 bits.
    return NETWORK[typeOf(folder) >>> 0] ?? null;
  } catch {
    return null;
  }
}
