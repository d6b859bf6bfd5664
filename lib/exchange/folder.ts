/**
 * A folder in an object store. Its bytes are objects named by their digest, `sha256/<2>/<digest>`, so that equal bytes are
 * stored once and a repeated transfer sends missing pieces. Files of more than `PIECE_BYTES` are cut. The record
 * `<group>/<id>.json` lists the files and is written last, so that a folder is in the store with all of its bytes or not at all.
 *
 * A received folder is staged. Every piece is compared with its digest before it is written, and pieces that an earlier
 * attempt left are hashed again and kept.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  entryInside,
  inside,
  type InsidePath,
  makeFolderOf,
  makeUserFolder,
  openFile,
  removeEntry,
} from "../artifact/inside.ts";
import { joinBytes } from "../artifact/join_bytes.ts";
import { hashFile } from "../artifact/hash_file.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { parseJson, prettyJson } from "../contract/json.ts";
import { formatBytes } from "../contract/units.ts";
import { isObject } from "../contract/value.ts";
import type { ObjectStore } from "../fetch/object_store.ts";
import { listFiles } from "../run/files.ts";
import { freeDisk } from "../run/resources.ts";

/** Files are cut into pieces of this size. */
const PIECE_BYTES = 8 * 2 ** 20;
/** So many pieces are on the way at once. */
const AT_ONCE = 8;
const MAX_RECORD_BYTES = 64 * 2 ** 20;
const RECORD_KIND = "svc.stored_folder";
const DIGEST = /^[0-9a-f]{64}$/;

/** A file of a stored folder. */
export type StoredFile = {
  path: string;
  size_bytes: number;
  sha256: string;
  /** Digests of its pieces, where it has several. */
  pieces?: string[];
};

/** What the store says about a folder. */
export type FolderRecord = {
  schema_version: 1;
  kind: typeof RECORD_KIND;
  group: string;
  id: string;
  /** Size of all pieces but the last of a file. */
  piece_bytes: number;
  size_bytes: number;
  files: StoredFile[];
};

/** Told of each piece: the bytes that are there, of how many. */
export type OnBytes = (done: number, total: number) => void;

const recordKey = (group: string, id: string) => `${group}/${id}.json`;
const objectKey = (sha256: string) => `sha256/${sha256.slice(0, 2)}/${sha256}`;

/** Names of the stored folders of a group. */
export async function* storedIds(store: ObjectStore, group: string): AsyncGenerator<string> {
  for await (const key of store.list(group)) {
    if (key.endsWith(".json")) yield key.slice(group.length + 1, -".json".length);
  }
}

/**
 * Reads and checks the record of a stored folder.
 * @returns null without one
 * @throws SvcError `store_invalid` for a record that names paths outside, or whose numbers do not fit
 */
export async function readRecord(store: ObjectStore, group: string, id: string): Promise<FolderRecord | null> {
  const bytes = await store.get(recordKey(group, id), MAX_RECORD_BYTES);
  if (bytes === null) return null;
  const refuse = (why: string): never => {
    throw new SvcError("store_invalid", `Cannot use ${group}/${id} of ${store.address}: ${why}`, { hint: REPAIR_HINT });
  };
  let record;
  try {
    record = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    return refuse(messageOf(error));
  }
  if (!isObject(record) || record.kind !== RECORD_KIND || record.schema_version !== 1) return refuse("it is no record");
  if (record.group !== group || record.id !== id) return refuse("its record is of another folder");
  const { piece_bytes, size_bytes, files } = record;
  if (!isSize(piece_bytes) || piece_bytes < 1 || piece_bytes > 8 * PIECE_BYTES || !Array.isArray(files)) {
    return refuse("its pieces have no size");
  }
  const paths = new Set<string>();
  let sum = 0;
  for (const file of files) {
    if (!isObject(file) || !isSize(file.size_bytes) || !isDigest(file.sha256)) return refuse("a file has no digest");
    const { path } = file;
    if (typeof path !== "string") return refuse("a file has no path");
    // Names that differ in case alone are one file on some systems.
    if (!isInside(path) || paths.has(path.toLowerCase())) return refuse(`it names the path ${JSON.stringify(path)}`);
    paths.add(path.toLowerCase());
    const several = file.size_bytes > piece_bytes, pieces = several ? file.pieces : [];
    const wanted = several ? Math.ceil(file.size_bytes / piece_bytes) : 0;
    if (!Array.isArray(pieces) || pieces.length !== wanted || !pieces.every(isDigest)) {
      return refuse(`the pieces of ${path} do not make it`);
    }
    sum += file.size_bytes;
  }
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (paths.has(path.slice(0, end))) return refuse(`${path.slice(0, end)} is a file and a folder`);
    }
  }
  if (sum !== size_bytes) return refuse("its sizes do not add up");
  return record as FolderRecord;
}

const isDigest = (value: unknown) => typeof value === "string" && DIGEST.test(value);
const isSize = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Whether a path stays in its folder on every system. */
function isInside(path: string): boolean {
  return path.length <= 1024 &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !/[\\:\p{Cc}]/u.test(part));
}

/** Lists the files of a folder. @throws SvcError `bundle_schema_invalid` for a link or another special file */
export function filesToSend(folder: string): { path: string; size: number }[] {
  const files = listFiles(folder);
  const other = files.find(({ kind, path }) => kind !== "file" || !isInside(path));
  if (other === undefined) return files;
  throw new SvcError("bundle_schema_invalid", `Cannot send ${join(folder, other.path)}: it is no plain file`);
}

/**
 * Reads the objects of a record and compares their bytes with their names.
 * @returns the keys of missing and damaged objects
 * @throws SvcError `store_unavailable`
 */
export async function damagedObjects(
  store: ObjectStore,
  { files, piece_bytes, size_bytes }: FolderRecord,
  onBytes: OnBytes = () => {},
): Promise<string[]> {
  const damaged = new Set<string>(), work = new Lane(AT_ONCE), seen = new Set<string>();
  let done = 0;
  for (const { size_bytes: size, sha256, pieces = [sha256] } of files) {
    for (const [at, digest] of pieces.entries()) {
      const length = Math.min(piece_bytes, size - at * piece_bytes), known = seen.has(digest);
      seen.add(digest);
      await work.add(async () => {
        if (!known && !await holdsObject(store, digest, length)) damaged.add(objectKey(digest));
        done += length;
        onBytes(done, size_bytes);
      });
    }
  }
  await work.end();
  return [...damaged].sort();
}

/** Whether the store has the right bytes of an object. */
async function holdsObject(store: ObjectStore, sha256: string, length: number): Promise<boolean> {
  if (await store.size(objectKey(sha256)) !== length) return false;
  const bytes = await store.get(objectKey(sha256), length);
  return bytes !== null && sha256Hex(bytes) === sha256;
}

/**
 * Sends a folder: the objects that the store lacks, then the record.
 * @param options `check` compares the bytes of objects that are there; damaged ones are sent again
 * @returns the number of bytes that were sent
 * @throws SvcError `store_unavailable`
 */
export async function sendFolder(
  store: ObjectStore,
  group: string,
  id: string,
  folder: string,
  options: { onBytes?: OnBytes; pieceBytes?: number; check?: boolean } = {},
): Promise<{ record: FolderRecord; sent: number }> {
  const { onBytes = () => {}, pieceBytes = PIECE_BYTES, check = false } = options;
  const isThere = async (sha256: string, length: number) =>
    check ? await holdsObject(store, sha256, length) : await store.size(objectKey(sha256)) === length;
  const entries = filesToSend(folder), total = entries.reduce((sum, { size }) => sum + size, 0);
  const files: StoredFile[] = [], seen = new Set<string>();
  const work = new Lane(AT_ONCE);
  let sent = 0, done = 0;
  for (const { path } of entries) {
    const whole = createHash("sha256"), pieces: string[] = [];
    let size_bytes = 0;
    using file = openFile(inside(folder, path), { read: true });
    for (let more = true; more;) {
      const piece = readPiece(file, pieceBytes);
      more = piece.length === pieceBytes;
      if (piece.length === 0 && pieces.length > 0) break;
      whole.update(piece);
      size_bytes += piece.length;
      const sha256 = sha256Hex(piece);
      pieces.push(sha256);
      const known = seen.has(sha256);
      seen.add(sha256);
      await work.add(async () => {
        if (!known && !await isThere(sha256, piece.length)) {
          await store.put(objectKey(sha256), piece);
          sent += piece.length;
        }
        done += piece.length;
        onBytes(done, total);
      });
    }
    files.push({ path, size_bytes, sha256: whole.digest("hex"), ...(pieces.length > 1 ? { pieces } : {}) });
  }
  await work.end();
  const size_bytes = files.reduce((sum, file) => sum + file.size_bytes, 0);
  const record: FolderRecord = {
    schema_version: 1,
    kind: RECORD_KIND,
    group,
    id,
    piece_bytes: pieceBytes,
    size_bytes,
    files,
  };
  await store.put(recordKey(group, id), new TextEncoder().encode(prettyJson(record)));
  return { record, sent };
}

/**
 * Receives the files of a record into a folder, or those that an earlier attempt did not.
 * @returns the number of bytes that came over the network
 * @throws SvcError `store_unavailable`, `artifact_hash_mismatch` for bytes with another digest, `resources_insufficient`
 */
export async function receiveFolder(
  store: ObjectStore,
  record: FolderRecord,
  folder: string,
  { onBytes = () => {} }: { onBytes?: OnBytes } = {},
): Promise<number> {
  const { size_bytes: total, piece_bytes } = record;
  makeUserFolder(folder);
  const free = freeDisk(folder);
  if (free !== null && total > free) {
    throw new SvcError("resources_insufficient", `Cannot receive ${record.id}: it has ${formatBytes(total)}`, {
      hint: `The disk has ${formatBytes(free)} free`,
    });
  }
  const wanted = new Set(record.files.map(({ path }) => path));
  for (const { path } of listFiles(folder)) if (!wanted.has(path)) removeEntry(entryInside(folder, path));
  const work = new Lane(AT_ONCE);
  let received = 0, done = 0;
  for (const { path, size_bytes, sha256, pieces = [sha256] } of record.files) {
    const target = inside(folder, path);
    makeFolderOf(target);
    {
      using file = openFile(target, { write: true, create: true });
      if (file.statSync().size > size_bytes) file.truncateSync(size_bytes);
    }
    for (const [at, digest] of pieces.entries()) {
      const offset = at * piece_bytes, length = Math.min(piece_bytes, size_bytes - offset);
      await work.add(async () => {
        if (!holdsPiece(target, offset, length, digest)) {
          writePiece(target, offset, await fetchPiece(store, digest, length, path));
          received += length;
        }
        done += length;
        onBytes(done, total);
      });
    }
  }
  await work.end();
  for (const { path, sha256, pieces } of record.files) {
    if (pieces !== undefined && hashFile(join(folder, path)).sha256 !== sha256) throw mismatch(store, path);
  }
  return received;
}

/** The bytes of one file of a record, or null where it has none of at most so many bytes. @throws SvcError as `receiveFolder` */
export async function receiveFile(
  store: ObjectStore,
  { files, piece_bytes }: FolderRecord,
  path: string,
  most: number,
): Promise<Uint8Array | null> {
  const file = files.find((one) => one.path === path);
  if (file === undefined || file.size_bytes > most) return null;
  const { size_bytes, sha256, pieces = [sha256] } = file, parts: Uint8Array[] = [];
  for (const [at, digest] of pieces.entries()) {
    parts.push(await fetchPiece(store, digest, Math.min(piece_bytes, size_bytes - at * piece_bytes), path));
  }
  return joinBytes(parts);
}

async function fetchPiece(store: ObjectStore, sha256: string, length: number, path: string) {
  const bytes = await store.get(objectKey(sha256), length);
  if (bytes === null) {
    throw new SvcError(
      "store_invalid",
      `Cannot receive ${path} from ${store.address}: ${objectKey(sha256)} is missing`,
      { hint: REPAIR_HINT },
    );
  }
  if (sha256Hex(bytes) !== sha256) throw mismatch(store, path, `the object ${objectKey(sha256)} is damaged`);
  return bytes;
}

const REPAIR_HINT = "Push it again with --repair from a machine that has it";

function mismatch(store: ObjectStore, path: string, why = "its bytes differ from the record"): SvcError {
  return new SvcError("artifact_hash_mismatch", `Cannot receive ${path} from ${store.address}: ${why}`, {
    hint: REPAIR_HINT,
  });
}

function readPiece(file: Deno.FsFile, most: number): Uint8Array<ArrayBuffer> {
  const piece = new Uint8Array(
    Math.min(most, Math.max(0, file.statSync().size - file.seekSync(0, Deno.SeekMode.Current))),
  );
  let size = 0;
  while (size < piece.length) {
    const count = file.readSync(piece.subarray(size));
    if (count === null) break;
    size += count;
  }
  return size === piece.length ? piece : piece.slice(0, size);
}

function holdsPiece(path: InsidePath, offset: number, length: number, sha256: string): boolean {
  using file = openFile(path, { read: true });
  if (file.statSync().size < offset + length) return false;
  file.seekSync(offset, Deno.SeekMode.Start);
  return sha256Hex(readPiece(file, length)) === sha256;
}

function writePiece(path: InsidePath, offset: number, bytes: Uint8Array): void {
  using file = openFile(path, { write: true });
  file.seekSync(offset, Deno.SeekMode.Start);
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/** Runs tasks side by side, at most so many; the first failure ends the rest. */
class Lane {
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | null = null;

  constructor(readonly most: number) {}

  /** Waits for a free place. */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.most && this.#failure === null) await Promise.race(this.#running);
    if (this.#failure !== null) return await this.end();
    const running: Promise<void> = task().catch((error) => {
      this.#failure ??= { error };
    }).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async end(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== null) throw this.#failure.error;
  }
}
