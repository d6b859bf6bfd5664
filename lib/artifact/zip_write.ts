/**
 * Writes ZIP files reproducibly: entries sorted by name, method stored, time 1980-01-01 00:00:00, no extra fields. The
 * bytes depend on the contents alone. Own code: no version of a library may change them.
 *
 * The CRC of a streamed entry stands behind its contents, in a data descriptor: the file can be written, or hashed without being
 * written, in one pass.
 *
 * Format: PKWARE APPNOTE.TXT 6.3.10.
 */
import { SvcError } from "../contract/error.ts";
import { compareCodePoints } from "../contract/json.ts";
import { sharedBuffer, takeRoom } from "../numeric/array/shared_array.ts";
import { crc32Of } from "./crc32.ts";
import { CENTRAL, DATA_DESCRIPTOR, DESCRIPTOR, END, LOCAL, MAX_ARCHIVE_BYTES, UTF8_NAME } from "./zip_format.ts";

/** 1980-01-01 as MS-DOS date; the time is 0. */
const DOS_DATE = (1 << 5) | 1;
/** Bytes of the largest element, a complex128. */
const ALIGNMENT = 16;
const ASCII = /^[\x20-\x7e]*$/;

/** An entry to write; its contents are the concatenated parts. */
export interface ZipSource {
  name: string;
  parts: readonly Uint8Array[];
  /** Whether size and CRC follow the contents. */
  streamed?: boolean;
}

/** An entry with its place; `crc` is that of its contents. */
export interface PlacedEntry {
  readonly name: string;
  readonly size: number;
  crc: number;
  readonly nameBytes: Uint8Array;
  readonly offset: number;
  readonly streamed?: boolean;
}

const DESCRIPTOR_BYTES = 16;

/**
 * Places entries, sorted by name.
 * @returns the entries, the offset of the directory after them, and the size of the file
 * @throws SvcError as {@link writeZip}
 */
export function placeEntries<T extends { name: string; size: number; crc: number; streamed?: boolean }>(
  sources: readonly T[],
): { entries: (T & PlacedEntry)[]; directoryAt: number; size: number } {
  let directoryAt = 0, directorySize = 0;
  const sorted = sources.toSorted((a, b) => compareCodePoints(a.name, b.name));
  const entries = sorted.map((source, index) => {
    const nameBytes = new TextEncoder().encode(source.name);
    if (index > 0 && sorted[index - 1].name === source.name) {
      throw new SvcError("artifact_archive_invalid", `Cannot write two archive entries named ${source.name}`);
    }
    if (nameBytes.length === 0 || nameBytes.length > 0xffff) {
      throw new SvcError("artifact_archive_invalid", "Cannot write an archive entry with an empty or overlong name");
    }
    const offset = directoryAt;
    directoryAt += 30 + nameBytes.length + source.size + (source.streamed ? DESCRIPTOR_BYTES : 0);
    directorySize += 46 + nameBytes.length;
    return { ...source, nameBytes, offset };
  });
  if (directoryAt + directorySize + 22 >= MAX_ARCHIVE_BYTES || entries.length >= 0xffff) {
    throw new SvcError("artifact_limit_exceeded", `Cannot write an archive of ${directoryAt} bytes`, {
      hint: "One archive holds at most 4 GiB; split the batch",
    });
  }
  return { entries, directoryAt, size: directoryAt + directorySize + 22 };
}

/** The header before the contents of an entry. */
export function localHeader(entry: PlacedEntry): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(30 + entry.nameBytes.length), view = new DataView(header.buffer);
  view.setUint32(0, LOCAL, true);
  writeCommonFields(view, 4, entry.streamed ? { ...entry, crc: 0, size: 0 } : entry);
  header.set(entry.nameBytes, 30);
  return header;
}

/** The record behind the contents of an entry; empty unless it is streamed. */
export function descriptor({ streamed, crc, size }: PlacedEntry): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(streamed ? DESCRIPTOR_BYTES : 0), view = new DataView(bytes.buffer);
  if (streamed) [DATA_DESCRIPTOR, crc, size, size].forEach((value, i) => view.setUint32(4 * i, value, true));
  return bytes;
}

/** The directory at the end of a file. */
export function directory(entries: readonly PlacedEntry[], directoryAt: number): Uint8Array<ArrayBuffer> {
  const size = entries.reduce((sum, { nameBytes }) => sum + 46 + nameBytes.length, 0);
  const bytes = new Uint8Array(size + 22), view = new DataView(bytes.buffer);
  let at = 0;
  for (const entry of entries) {
    view.setUint32(at, CENTRAL, true);
    view.setUint16(at + 4, 20, true);
    writeCommonFields(view, at + 6, entry);
    view.setUint32(at + 42, entry.offset, true);
    bytes.set(entry.nameBytes, at + 46);
    at += 46 + entry.nameBytes.length;
  }
  view.setUint32(at, END, true);
  view.setUint16(at + 8, entries.length, true);
  view.setUint16(at + 10, entries.length, true);
  view.setUint32(at + 12, size, true);
  view.setUint32(at + 16, directoryAt, true);
  return bytes;
}

/**
 * Writes a ZIP file of stored entries into one allocation of shared memory: that of the largest part, if it has room for
 * the rest of the file (`numeric/shared_array`), else a new one.
 * @throws SvcError `artifact_limit_exceeded` beyond the limits without zip64 (4 GiB, 65535 entries),
 *   `artifact_archive_invalid` for repeated or unusable names
 */
export function writeZip(sources: readonly ZipSource[]): Uint8Array<SharedArrayBuffer> {
  const { entries, directoryAt, size } = placeEntries(sources.map(({ name, parts, streamed }) => ({
    name,
    parts,
    streamed,
    size: parts.reduce((sum, part) => sum + part.length, 0),
    crc: parts.reduce((crc, part) => crc32Of(part, crc), 0),
  })));
  const largest = largestPart(entries);
  const inPlace = largest && takeRoom(largest.part, largest.at, size - largest.at - largest.part.length);
  // The largest array is aligned in memory, so that it can be read in place.
  const skipped = -(largest?.at ?? 0) & (ALIGNMENT - 1);
  const file = inPlace ?? new Uint8Array(sharedBuffer(size + skipped), skipped);
  for (const entry of entries) {
    const header = localHeader(entry);
    file.set(header, entry.offset);
    let at = entry.offset + header.length;
    for (const part of entry.parts) {
      if (inPlace === null || part !== largest?.part) file.set(part, at);
      at += part.length;
    }
    file.set(descriptor(entry), at);
  }
  file.set(directory(entries, directoryAt), directoryAt);
  return file;
}

/** The largest part of all entries and its offset in the file; null without entries. */
function largestPart(entries: readonly (PlacedEntry & ZipSource)[]) {
  let largest: { part: Uint8Array; at: number } | null = null;
  for (const { nameBytes, offset, parts } of entries) {
    let at = offset + 30 + nameBytes.length;
    for (const part of parts) {
      if (largest === null || part.length > largest.part.length) largest = { part, at };
      at += part.length;
    }
  }
  return largest;
}

/** Fields common to both headers: version, flags, method, time, date, CRC, both sizes, name length. */
function writeCommonFields(view: DataView, at: number, entry: PlacedEntry): void {
  view.setUint16(at, 20, true);
  view.setUint16(at + 2, (ASCII.test(entry.name) ? 0 : UTF8_NAME) | (entry.streamed ? DESCRIPTOR : 0), true);
  view.setUint16(at + 8, DOS_DATE, true);
  view.setUint32(at + 10, entry.crc, true);
  view.setUint32(at + 14, entry.size, true);
  view.setUint32(at + 18, entry.size, true);
  view.setUint16(at + 22, entry.nameBytes.length, true);
}
