/** NPZ files: a ZIP file with one NPY member per array, read lazily and written reproducibly (see {@link writeZip}). */
import { nodeBuffer } from "../contract/node_builtins.ts";
import { SvcError } from "../contract/error.ts";
import { bytesOf, type Dtype, type NdArray } from "../numeric/array/ndarray.ts";
import { nativeRegion, npyForm, readNpy, readNpyText, viewNpy, writeNpyText } from "./npy.ts";
import { MAX_NPY_HEADER_BYTES, npyHeader } from "./npy_header.ts";
import type { ByteSource } from "./byte_source.ts";
import { openZip, type ZipEntry, type ZipLimits } from "./zip_read.ts";
import { writeZip } from "./zip_write.ts";

const SUFFIX = ".npy";

/**
 * Writes arrays, and texts as 0-d Unicode arrays, as an NPZ file in shared memory.
 * @param members array or text by name, in any order
 * @param streamed whether arrays have the form that is written in blocks, whose CRC follows them
 * @throws SvcError `artifact_limit_exceeded` beyond 4 GiB, `artifact_archive_invalid` for an unusable name
 */
export function writeNpz(
  members: Readonly<Record<string, NdArray | string>>,
  streamed = false,
): Uint8Array<SharedArrayBuffer> {
  return writeZip(
    Object.entries(members).map(([name, member]) => ({
      name: name + SUFFIX,
      streamed: streamed && typeof member !== "string",
      parts: typeof member === "string"
        ? [writeNpyText(member)]
        : [npyHeader(member.dtype, member.shape), bytesOf(member)],
    })),
  );
}

/** An open NPZ file; members are read on request. */
export interface NpzFile {
  /** Names of the members without `.npy`, in the order of the file. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Type and shape of a member; its data are not read. @throws SvcError `artifact_array_missing`, or as {@link readNpy} */
  form(name: string): { dtype: Dtype | "text"; shape: readonly number[] };
  /**
   * An array: a fresh copy, or a view of the file where that is asked for and possible.
   * @throws SvcError `artifact_array_missing`, or as {@link readNpy}
   */
  array(name: string, inPlace?: boolean): NdArray;
  /** A Unicode member. @throws SvcError `artifact_array_missing`, or as {@link readNpyText} */
  text(name: string): string;
  /** Whether an array equals its member bit for bit. */
  holds(name: string, array: NdArray): boolean;
}

/**
 * Opens an NPZ file.
 * @param name name of the file, for messages
 * @throws SvcError `artifact_archive_invalid`, `artifact_archive_unsupported`, `artifact_limit_exceeded`
 */
export function openNpz(file: Uint8Array | ByteSource, name = "the NPZ file", limits: ZipLimits = {}): NpzFile {
  const entries = new Map<string, ZipEntry>();
  for (const entry of openZip(file, name, limits)) {
    if (!entry.name.endsWith(SUFFIX)) {
      throw new SvcError(
        "artifact_archive_unsupported",
        `Cannot open ${name}: its entry ${entry.name} is not an NPY file`,
      );
    }
    entries.set(entry.name.slice(0, -SUFFIX.length), entry);
  }
  const names = [...entries.keys()];
  const entryOf = (member: string): ZipEntry => {
    const entry = entries.get(member);
    if (entry === undefined) {
      throw new SvcError("artifact_array_missing", `Cannot find the array ${member} in ${name}`, {
        hint: `It holds ${names.join(", ") || "no arrays"}`,
      });
    }
    return entry;
  };
  const contents = (member: string) => entryOf(member).read();
  return {
    names,
    has: (member) => entries.has(member),
    form(member) {
      const entry = entryOf(member);
      return npyForm(entry.begin(MAX_NPY_HEADER_BYTES), entry.size, `${member} of ${name}`);
    },
    array(member, inPlace = false) {
      const bytes = contents(member), what = `${member} of ${name}`;
      return (inPlace ? viewNpy(bytes, what) : null) ?? readNpy(bytes, what);
    },
    text: (member) => readNpyText(contents(member), `${member} of ${name}`),
    holds(member, array) {
      const bytes = contents(member);
      // A view always equals the file, whose CRC tells a change.
      if (array.data.buffer === bytes.buffer) return entries.get(member)!.isIntact();
      const region = nativeRegion(bytes, member) ?? bytesOf(readNpy(bytes, member));
      return nodeBuffer().compare(region as Uint8Array<ArrayBuffer>, bytesOf(array) as Uint8Array<ArrayBuffer>) === 0;
    },
  };
}
