/**
 * Reads objects of a git repository: loose ones (zlib) and packed ones, with offset and reference deltas.
 *
 * Formats: gitformat-pack(5) and gitrepository-layout(5) of the Git documentation.
 */
import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";
import { isAbsolute, join, resolve } from "node:path";

export interface GitObject {
  type: "commit" | "tree" | "blob" | "tag";
  data: Uint8Array;
}

const PACKED_TYPES = [null, "commit", "tree", "blob", "tag"] as const;
const OFFSET_DELTA = 6, REFERENCE_DELTA = 7;

/** The object database of a repository and of its alternates. */
export class GitObjects {
  readonly #folders: string[];
  readonly #hashBytes: number;
  #packs: Pack[] | undefined;

  /** @param objectsFolder `objects` of the common git directory */
  constructor(objectsFolder: string, hashBytes: number) {
    this.#hashBytes = hashBytes;
    this.#folders = [objectsFolder];
    for (let i = 0; i < this.#folders.length && i < 16; i++) {
      const listed = readTextIfThere(join(this.#folders[i], "info", "alternates")) ?? "";
      for (const line of listed.split("\n").filter((text) => text !== "" && !text.startsWith("#"))) {
        const folder = isAbsolute(line) ? line : resolve(this.#folders[i], line);
        if (!this.#folders.includes(folder)) this.#folders.push(folder);
      }
    }
  }

  /** @throws Error for a missing or damaged object */
  read(id: string): GitObject {
    for (const folder of this.#folders) {
      const raw = readIfThere(join(folder, id.slice(0, 2), id.slice(2)));
      if (raw !== null) return parseLoose(inflateSync(raw));
    }
    for (const pack of this.#allPacks()) {
      const offset = pack.find(id);
      if (offset !== null) return this.#readPacked(pack, offset, 0);
    }
    throw new Error(`The git object ${id} is not in this repository`);
  }

  close(): void {
    for (const pack of this.#packs ?? []) pack.close();
    this.#packs = undefined;
  }

  #allPacks(): Pack[] {
    return this.#packs ??= this.#folders.flatMap((folder) =>
      namesIn(join(folder, "pack")).filter((name) => name.endsWith(".idx"))
        .map((name) => new Pack(join(folder, "pack", name), this.#hashBytes))
    );
  }

  #readPacked(pack: Pack, offset: number, depth: number): GitObject {
    if (depth > 4096) throw new Error("A chain of git deltas does not end");
    const entry = pack.entry(offset);
    const type = PACKED_TYPES[entry.type];
    if (type) return { type, data: entry.data };
    const base = entry.base.kind === "offset"
      ? this.#readPacked(pack, entry.base.offset, depth + 1)
      : this.read(entry.base.id);
    return { type: base.type, data: applyDelta(base.data, entry.data) };
  }
}

interface PackEntry {
  type: number;
  data: Uint8Array;
  /** Only for deltas. */
  base: { kind: "offset"; offset: number } | { kind: "id"; id: string };
}

/** One pack with its index of version 2. */
class Pack {
  readonly #index: Deno.FsFile;
  readonly #hashBytes: number;
  readonly #fanout: DataView;
  readonly #packPath: string;
  #pack: Deno.FsFile | undefined;
  #packSize = 0;

  constructor(indexPath: string, hashBytes: number) {
    this.#hashBytes = hashBytes;
    this.#packPath = indexPath.slice(0, -".idx".length) + ".pack";
    this.#index = Deno.openSync(indexPath, { read: true });
    const head = viewOf(readAt(this.#index, 0, 8 + 1024));
    if (head.getUint32(0) !== 0xff744f63 || head.getUint32(4) !== 2) {
      this.#index.close();
      throw new Error("A git pack index does not have version 2");
    }
    this.#fanout = new DataView(head.buffer, head.byteOffset + 8, 1024);
  }

  close(): void {
    this.#index.close();
    this.#pack?.close();
  }

  /** Offset of an object in the pack, or null. */
  find(id: string): number | null {
    const first = parseInt(id.slice(0, 2), 16);
    let low = first === 0 ? 0 : this.#fanout.getUint32(4 * (first - 1));
    let high = this.#fanout.getUint32(4 * first);
    const count = this.#fanout.getUint32(4 * 255);
    const names = readAt(this.#index, 1032 + low * this.#hashBytes, (high - low) * this.#hashBytes);
    const start = low;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = (middle - start) * this.#hashBytes;
      const name = toHex(names.subarray(at, at + this.#hashBytes));
      if (name === id) return this.#offset(middle, count);
      if (name < id) low = middle + 1;
      else high = middle;
    }
    return null;
  }

  #offset(position: number, count: number): number {
    const offsets = 1032 + count * (this.#hashBytes + 4);
    const offset = viewOf(readAt(this.#index, offsets + 4 * position, 4)).getUint32(0);
    if (offset < 0x80000000) return offset;
    const large = offsets + 4 * count + 8 * (offset - 0x80000000);
    return Number(viewOf(readAt(this.#index, large, 8)).getBigUint64(0));
  }

  /** The entry at an offset; for a delta, its delta data. */
  entry(offset: number): PackEntry {
    if (this.#pack === undefined) {
      this.#pack = Deno.openSync(this.#packPath, { read: true });
      this.#packSize = this.#pack.statSync().size;
    }
    const head = readAt(this.#pack, offset, Math.min(64, this.#packSize - offset));
    let at = 0, byte = head[at++];
    const type = (byte >> 4) & 7;
    let size = byte & 15;
    for (let scale = 16; byte & 0x80; scale *= 128) {
      byte = head[at++];
      size += (byte & 0x7f) * scale;
    }
    let base: PackEntry["base"] = { kind: "offset", offset };
    if (type === OFFSET_DELTA) {
      byte = head[at++];
      let distance = byte & 0x7f;
      while (byte & 0x80) {
        byte = head[at++];
        distance = (distance + 1) * 128 + (byte & 0x7f);
      }
      base = { kind: "offset", offset: offset - distance };
    } else if (type === REFERENCE_DELTA) {
      base = { kind: "id", id: toHex(head.subarray(at, at + this.#hashBytes)) };
      at += this.#hashBytes;
    }
    // Deflate can enlarge incompressible data, by less than this margin.
    const stored = readAt(this.#pack, offset + at, Math.min(size + (size >> 8) + 1024, this.#packSize - offset - at));
    const data = new Uint8Array(inflateSync(stored));
    if (data.length !== size) throw new Error("A packed git object has another size than it declares");
    return { type, data, base };
  }
}

/** Rebuilds an object from its base and a delta. Exported for tests. */
export function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  let at = 0;
  const size = () => {
    let value = 0, byte;
    let scale = 1;
    do {
      byte = delta[at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte & 0x80);
    return value;
  };
  if (size() !== base.length) throw new Error("A git delta belongs to another base");
  const result = new Uint8Array(size());
  let filled = 0;
  while (at < delta.length) {
    const command = delta[at++];
    if (command & 0x80) {
      let from = 0, count = 0;
      for (let i = 0; i < 4; i++) if (command & (1 << i)) from += delta[at++] * 2 ** (8 * i);
      for (let i = 0; i < 3; i++) if (command & (0x10 << i)) count += delta[at++] * 2 ** (8 * i);
      if (count === 0) count = 0x10000;
      result.set(base.subarray(from, from + count), filled);
      filled += count;
    } else if (command > 0) {
      result.set(delta.subarray(at, at + command), filled);
      at += command;
      filled += command;
    } else throw new Error("A git delta holds a reserved command");
  }
  if (filled !== result.length) throw new Error("A git delta does not fill its result");
  return result;
}

function parseLoose(raw: Uint8Array): GitObject {
  const end = raw.indexOf(0);
  const [type] = new TextDecoder().decode(raw.subarray(0, end)).split(" ");
  return { type: type as GitObject["type"], data: raw.subarray(end + 1) };
}

export interface TreeEntry {
  mode: number;
  name: string;
  id: string;
}

export function parseTree(data: Uint8Array, hashBytes: number): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let at = 0; at < data.length;) {
    const end = data.indexOf(0, at);
    const mode = String.fromCharCode(...data.subarray(at, data.indexOf(0x20, at)));
    entries.push({
      mode: parseInt(mode, 8),
      name: decoder.decode(data.subarray(at + mode.length + 1, end)),
      id: toHex(data.subarray(end + 1, end + 1 + hashBytes)),
    });
    at = end + 1 + hashBytes;
  }
  return entries;
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Null for a missing path or a folder. */
export function readIfThere(path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

export function readTextIfThere(path: string): string | null {
  const bytes = readIfThere(path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** Whether an error means a missing path, a file in place of a parent folder, or a folder in place of a file. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.IsADirectory;
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

function readAt(file: Deno.FsFile, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  file.seekSync(position, Deno.SeekMode.Start);
  for (let done = 0; done < length;) {
    const count = file.readSync(bytes.subarray(done));
    if (count === null) throw new Error("A git file ends early");
    done += count;
  }
  return bytes;
}
