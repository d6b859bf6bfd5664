/**
 * Writes ZIP files reproducibly: entries sorted by name, method stored, time 1980-01-01 00:00:00, no extra fields. The
 * bytes depend on the contents alone.
 *
 * Format: PKWARE APPNOTE.TXT 6.3.10.
 */
import { SvcError } from "../contract/error.ts";
import { compareCodePoints } from "../contract/json.ts";
import { takeRoom } from "../numeric/shared_array.ts";
import { crc32Of } from "./crc32.ts";
import { CENTRAL, END, LOCAL, UTF8_NAME } from "./zip_format.ts";

/** 1980-01-01 as MS-DOS date; the time is 0. */
const DOS_DATE = (1 << 5) | 1;
/** Bytes of the largest element, a complex128. */
const ALIGNMENT = 16;
const ASCII = /^[\x20-\x7e]*$/;

/** An entry to write; its contents are the concatenated parts. */
export interface ZipSource {
  name: string;
  parts: readonly Uint8Array[];
}

/**
 * Writes a ZIP file of stored entries into one allocation of shared memory: that of the largest part, if it has room for
 * the rest of the file (`numeric/shared_array`), else a new one.
 * @throws SvcError `artifact_limit_exceeded` beyond the limits without zip64 (4 GiB, 65535 entries),
 *   `artifact_archive_invalid` for repeated or unusable names
 */
export function writeZip(sources: readonly ZipSource[]): Uint8Array<SharedArrayBuffer> {
  const entries = sources
    .map(({ name, parts }) => ({
      name,
      nameBytes: new TextEncoder().encode(name),
      flags: ASCII.test(name) ? 0 : UTF8_NAME,
      parts,
      size: parts.reduce((sum, part) => sum + part.length, 0),
      crc: parts.reduce((crc, part) => crc32Of(part, crc), 0),
      offset: 0,
    }))
    .sort((a, b) => compareCodePoints(a.name, b.name));
  let localEnd = 0, centralSize = 0;
  entries.forEach((entry, index) => {
    if (index > 0 && entries[index - 1].name === entry.name) {
      throw new SvcError("artifact_archive_invalid", `Cannot write two archive entries named ${entry.name}`);
    }
    if (entry.nameBytes.length === 0 || entry.nameBytes.length > 0xffff) {
      throw new SvcError("artifact_archive_invalid", "Cannot write an archive entry with an empty or overlong name");
    }
    entry.offset = localEnd;
    localEnd += 30 + entry.nameBytes.length + entry.size;
    centralSize += 46 + entry.nameBytes.length;
  });
  if (localEnd + centralSize > 0xffffffff - 22 || entries.length >= 0xffff) {
    throw new SvcError("artifact_limit_exceeded", `Cannot write an archive of ${localEnd} bytes`, {
      hint: "One archive holds at most 4 GiB; split the batch",
    });
  }
  const size = localEnd + centralSize + 22, largest = largestPart(entries);
  const inPlace = largest && takeRoom(largest.part, largest.at, size - largest.at - largest.part.length);
  // The largest array is aligned in memory, so that it can be read in place.
  const skipped = -(largest?.at ?? 0) & (ALIGNMENT - 1);
  const file = inPlace ?? new Uint8Array(new SharedArrayBuffer(size + skipped), skipped);
  const view = new DataView(file.buffer, file.byteOffset);
  let central = localEnd;
  for (const entry of entries) {
    let at = entry.offset;
    view.setUint32(at, LOCAL, true);
    writeCommonFields(view, at + 4, entry);
    at += 30;
    file.set(entry.nameBytes, at);
    at += entry.nameBytes.length;
    for (const part of entry.parts) {
      if (inPlace === null || part !== largest?.part) file.set(part, at);
      at += part.length;
    }
    view.setUint32(central, CENTRAL, true);
    view.setUint16(central + 4, 20, true);
    writeCommonFields(view, central + 6, entry);
    view.setUint32(central + 42, entry.offset, true);
    file.set(entry.nameBytes, central + 46);
    central += 46 + entry.nameBytes.length;
  }
  view.setUint32(central, END, true);
  view.setUint16(central + 8, entries.length, true);
  view.setUint16(central + 10, entries.length, true);
  view.setUint32(central + 12, centralSize, true);
  view.setUint32(central + 16, localEnd, true);
  return file;
}

/** The largest part of all entries and its offset in the file; null without entries. */
function largestPart(entries: readonly { nameBytes: Uint8Array; offset: number; parts: readonly Uint8Array[] }[]) {
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
function writeCommonFields(
  view: DataView,
  at: number,
  entry: { flags: number; crc: number; size: number; nameBytes: Uint8Array },
): void {
  view.setUint16(at, 20, true);
  view.setUint16(at + 2, entry.flags, true);
  view.setUint16(at + 8, DOS_DATE, true);
  view.setUint32(at + 10, entry.crc, true);
  view.setUint32(at + 14, entry.size, true);
  view.setUint32(at + 18, entry.size, true);
  view.setUint16(at + 22, entry.nameBytes.length, true);
}
