/** Staging: a step writes into a private folder; only a complete, valid set of outputs is renamed into the bundle. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { crc32Of } from "../artifact/crc32.ts";
import { entryInside, inside, type InsideEntry, type InsidePath, makeFolder, moveEntry } from "../artifact/inside.ts";
import { entriesOf, exists } from "../artifact/path_kind.ts";
import type { FilePart } from "../artifact/npz_blocks.ts";
import { SvcError } from "../contract/error.ts";
import type { Digest } from "../contract/names.ts";

/** Of the names in the folder of artifacts that are not complete; ids of steps begin with a letter or digit. */
const STAGING_PREFIX = ".staging";

/** A new name in the folder of artifacts for something that is renamed when it is complete. */
export const stagingPath = (artifacts: string, name: string): InsidePath =>
  inside(artifacts, `${STAGING_PREFIX}-${name}-${crypto.randomUUID().slice(0, 8)}`);

/** Paths in a bundle of a process that ended early. */
export function stagingPaths(bundle: string): InsideEntry[] {
  const artifacts = inside(bundle, "artifacts");
  return entriesOf(artifacts).filter(({ name }) => name.startsWith(STAGING_PREFIX))
    .map(({ name }) => entryInside(artifacts, name)).sort();
}

/** The folder of a step, and what tells it from one that takes its place; null where the system has no such number. */
export interface Staging {
  path: InsidePath;
  identity: string | null;
}

function identityOf(folder: string): string | null {
  const { dev, ino } = Deno.lstatSync(folder);
  return ino === null ? null : `${dev} ${ino}`;
}

export function createStaging(artifacts: string, stepId: string): Staging {
  const path = stagingPath(artifacts, stepId);
  makeFolder(path);
  return { path, identity: identityOf(path) };
}

/**
 * Checks that the folder is the one that was made, and holds exactly the announced regular files with the announced sizes.
 * @throws SvcError `staging_replaced`, `output_path_invalid`, `output_aliased`, `output_symlink`, `output_missing`, `output_unexpected`,
 *   `output_hash_mismatch`
 */
export function checkStaged(
  { path: folder, identity }: Staging,
  outputs: readonly { fileName: string; size: number }[],
): void {
  if (!exists(folder) || identityOf(folder) !== identity) {
    throw new SvcError("staging_replaced", "The folder of the step is not the one that was made for it");
  }
  const names = new Set<string>();
  for (const { fileName } of outputs) {
    if (fileName === "" || fileName === "." || fileName === ".." || /[/\\\0]/.test(fileName)) {
      throw new SvcError("output_path_invalid", `Cannot keep the output file ${JSON.stringify(fileName)}`);
    }
    if (names.has(fileName)) throw new SvcError("output_aliased", `Two outputs name the file ${fileName}`);
    names.add(fileName);
  }
  for (const entry of Deno.readDirSync(folder)) {
    if (entry.isSymlink) throw new SvcError("output_symlink", `Cannot keep ${entry.name}: it is a symbolic link`);
    if (!names.has(entry.name)) {
      throw new SvcError("output_unexpected", `The operation left the undeclared ${entry.name} in its folder`);
    }
    if (!entry.isFile) throw new SvcError("output_path_invalid", `Cannot keep ${entry.name}: it is not a regular file`);
  }
  for (const { fileName, size } of outputs) {
    const path = join(folder, fileName);
    let info: Deno.FileInfo;
    try {
      info = Deno.lstatSync(path);
    } catch {
      throw new SvcError("output_missing", `The output file ${fileName} is not in the folder of the step`);
    }
    if (info.size !== size) {
      throw new SvcError("output_hash_mismatch", `The output file ${fileName} differs from the written file`);
    }
  }
}

/**
 * Moves a checked folder to its place in the bundle; its files become read-only.
 * @throws SvcError `staging_conflict` when the place is taken: a rename would silently replace an empty folder
 */
export function commitStaging(folder: InsidePath, destination: InsidePath): void {
  if (exists(destination)) {
    throw new SvcError("staging_conflict", `Cannot put the outputs at ${destination}: the path exists`);
  }
  // Bundles share equal files by links: an editor that writes in place would change all of them.
  if (Deno.build.os !== "windows") {
    for (const { name } of Deno.readDirSync(folder)) Deno.chmodSync(join(folder, name), 0o444);
  }
  moveEntry(folder, destination);
}

const BLOCK_BYTES = 1 << 20;

/** Compares the bytes of a file, in order, with what was written. */
class Comparison {
  readonly #parts: readonly FilePart[];
  #part = 0;
  /** Compared bytes of the part, and their CRC where the part has one. */
  #at = 0;
  #crc = 0;

  constructor(parts: readonly FilePart[]) {
    this.#parts = parts;
  }

  /** Whether the next bytes are those that were written. */
  takes(block: Uint8Array): boolean {
    for (let rest = block; rest.length > 0;) {
      const part = this.#parts[this.#part];
      if (part === undefined) return false;
      const whole = part instanceof Uint8Array, size = whole ? part.length : part.size;
      const bytes = rest.subarray(0, size - this.#at), end = this.#at + bytes.length;
      if (whole) {
        if (Buffer.compare(bytes, part.subarray(this.#at, end) as Uint8Array<ArrayBuffer>) !== 0) return false;
      } else {
        this.#crc = crc32Of(bytes, this.#at === 0 ? part.crcBefore : this.#crc);
        if (end === size && this.#crc !== part.crc) return false;
      }
      this.#at = end;
      if (end === size) [this.#part, this.#at] = [this.#part + 1, 0];
      rest = rest.subarray(bytes.length);
    }
    return true;
  }

  /** Whether all bytes were compared. */
  isComplete(): boolean {
    return this.#part === this.#parts.length;
  }
}

/**
 * SHA-256 of a stored file. A large one is read in blocks, so that the event loop stays responsive.
 * @param parts expected contents, compared in the same pass
 * @returns null for a file that differs from them
 */
export async function hashStoredFile(path: string): Promise<Digest>;
export async function hashStoredFile(path: string, parts: readonly FilePart[]): Promise<Digest | null>;
export async function hashStoredFile(path: string, parts?: readonly FilePart[]): Promise<Digest | null> {
  const hash = createHash("sha256"), comparison = parts && new Comparison(parts);
  const take = (block: Uint8Array) => {
    if (comparison?.takes(block) === false) return false;
    hash.update(block);
    return true;
  };
  if (Deno.statSync(path).size <= BLOCK_BYTES) {
    if (!take(Deno.readFileSync(path))) return null;
  } else {
    using file = await Deno.open(path);
    const block = new Uint8Array(BLOCK_BYTES);
    for (let count = await file.read(block); count !== null; count = await file.read(block)) {
      if (!take(block.subarray(0, count))) return null;
    }
  }
  return comparison?.isComplete() === false ? null : hash.digest("hex") as Digest;
}
