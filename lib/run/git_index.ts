/**
 * Reads the index of a git repository, versions 2 to 4.
 *
 * Format: gitformat-index(5) of the Git documentation.
 */
import { toHex, viewOf } from "./git_objects.ts";

/** A tracked file in the index. */
export interface IndexEntry {
  path: string;
  mode: number;
  id: string;
  /** Size and times at git's last comparison with the blob; the size is 0 when git is unsure. */
  size: number;
  mtimeMs: number;
  ctimeS: number;
  /** 1 to 3 for the sides of a conflict, else 0. */
  stage: number;
  assumeValid: boolean;
  skipWorktree: boolean;
  intentToAdd: boolean;
}

/**
 * Decodes an index.
 * @param hashBytes 20, or 32 in a repository with SHA-256 object names
 * @throws Error for an unsupported version or a split index
 */
export function parseIndex(bytes: Uint8Array, hashBytes: number): IndexEntry[] {
  const view = viewOf(bytes);
  // A name that is not UTF-8 cannot be looked up, and must not count as a deleted file.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const signature = decoder.decode(bytes.subarray(0, 4)), version = view.getUint32(4), count = view.getUint32(8);
  if (signature !== "DIRC" || version < 2 || version > 4) throw new Error("The git index has an unknown format");
  const entries: IndexEntry[] = [];
  let at = 12;
  let previous: Uint8Array = new Uint8Array();
  for (let n = 0; n < count; n++) {
    const start = at;
    const flags = view.getUint16(at + 40 + hashBytes);
    const extended = (flags & 0x4000) !== 0 ? view.getUint16(at + 42 + hashBytes) : 0;
    at += 42 + hashBytes + ((flags & 0x4000) !== 0 ? 2 : 0);
    let name: Uint8Array;
    if (version === 4) {
      // The name is the previous name without its last bytes, plus a suffix.
      let byte = bytes[at++];
      let removed = byte & 0x7f;
      while (byte & 0x80) {
        byte = bytes[at++];
        removed = (removed + 1) * 128 + (byte & 0x7f);
      }
      const end = bytes.indexOf(0, at);
      const kept = previous.length - removed;
      name = new Uint8Array(kept + end - at);
      name.set(previous.subarray(0, kept));
      name.set(bytes.subarray(at, end), kept);
      at = end + 1;
    } else {
      const end = bytes.indexOf(0, at);
      name = bytes.subarray(at, end);
      at = start + Math.floor((end - start) / 8 + 1) * 8;
    }
    previous = name;
    entries.push({
      path: decoder.decode(name),
      mode: view.getUint32(start + 24),
      size: view.getUint32(start + 36),
      mtimeMs: view.getUint32(start + 8) * 1000 + Math.floor(view.getUint32(start + 12) / 1e6),
      ctimeS: view.getUint32(start),
      id: toHex(bytes.subarray(start + 40, start + 40 + hashBytes)),
      stage: (flags >> 12) & 3,
      assumeValid: (flags & 0x8000) !== 0,
      skipWorktree: (extended & 0x4000) !== 0,
      intentToAdd: (extended & 0x2000) !== 0,
    });
  }
  // Extensions with a lower-case first letter are mandatory.
  while (at + 8 <= bytes.length - hashBytes) {
    const name = decoder.decode(bytes.subarray(at, at + 4));
    if (name === "link") throw new Error("The git index is split over two files");
    if (name === "sdir") throw new Error("The git index is sparse");
    at += 8 + view.getUint32(at + 4);
  }
  return entries;
}
