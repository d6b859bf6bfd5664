/**
 * Reads untrusted ZIP files: stored and deflated entries, data descriptors, zip64 records, streamed local headers.
 *
 * Sizes come from the central directory. Refused: encryption, other methods, several disks, repeated names, entries
 * that overlap, headers that disagree, contents whose length or CRC differs from the declaration.
 * Own code: it reads entries in place and bounds each before inflating it.
 *
 * Format: PKWARE APPNOTE.TXT 6.3.10.
 */
import { SvcError } from "../contract/error.ts";
import { type ByteSource, memorySource, viewOf } from "./byte_source.ts";
import { crc32Of } from "./crc32.ts";
import { inflated, inflatedHead, MAX_DEFLATE_RATIO, type Packed } from "./inflate.ts";
import {
  CENTRAL,
  DEFLATED,
  DESCRIPTOR,
  ENCRYPTED,
  END,
  LOCAL,
  STORED,
  UTF8_NAME,
  ZIP64_END,
  ZIP64_EXTRA,
  ZIP64_LOCATOR,
} from "./zip_format.ts";

/** Builds the error for a reason and its entry. */
type Refusal = (why: string, member?: string) => SvcError;

export interface ZipEntry {
  readonly name: string;
  /** Bytes of the contents. */
  readonly size: number;
  readonly compressed: boolean;
  /** Upper 16 bits: Unix mode, if recorded. */
  readonly externalAttributes: number;
  /**
   * The contents: a view for stored entries, new memory for deflated ones; checked against their CRC on first use.
   * @throws SvcError `artifact_archive_invalid`
   */
  read(): Uint8Array;
  /**
   * The first bytes of the contents, without their CRC; reads and inflates little more than is asked for.
   * @throws SvcError `artifact_archive_invalid`
   */
  begin(count: number): Uint8Array;
  /** Whether contents that were read still have their CRC. */
  isIntact(): boolean;
}

export interface ZipLimits {
  maxEntries?: number;
  /** Limit of the sum of all contents, against archive bombs. */
  maxExpandedBytes?: number;
}

/**
 * Opens a ZIP file: reads its directory, not its contents.
 * @param name name of the archive, for messages
 * @returns its entries in the order of the directory
 * @throws SvcError `artifact_archive_invalid`, `artifact_archive_unsupported`, `artifact_limit_exceeded`
 */
export function openZip(file: Uint8Array | ByteSource, name = "the archive", limits: ZipLimits = {}): ZipEntry[] {
  // An error about an entry has its name, so that a caller can distinguish a bad entry from a bad file.
  const invalid: Refusal = (why, member) =>
    new SvcError(
      "artifact_archive_invalid",
      `Cannot open ${name}: ${why}`,
      member === undefined ? {} : { extra: { member } },
    );
  const unsupported: Refusal = (why, member) =>
    new SvcError(
      "artifact_archive_unsupported",
      `Cannot open ${name}: ${why}`,
      member === undefined ? {} : { extra: { member } },
    );
  const exceeded = (why: string) => new SvcError("artifact_limit_exceeded", `Cannot open ${name}: ${why}`);
  const source = file instanceof Uint8Array ? memorySource(file) : file;
  const directory = findDirectory(source, invalid, unsupported);
  const maxEntries = limits.maxEntries ?? 65536, maxExpandedBytes = limits.maxExpandedBytes ?? 2 ** 32;
  if (directory.count > maxEntries) throw exceeded(`it has ${directory.count} entries, the limit is ${maxEntries}`);

  const entries: ZipEntry[] = [];
  const extents: { from: number; to: number }[] = [];
  const names = new Set<string>();
  let expanded = 0, at = directory.offset;
  for (let index = 0; index < directory.count; index++) {
    if (at + 46 > directory.end) throw invalid("its directory is damaged");
    const fixed = viewOf(source.at(at, 46));
    if (fixed.getUint32(0, true) !== CENTRAL) throw invalid("its directory is damaged");
    const flags = fixed.getUint16(8, true), method = fixed.getUint16(10, true), crc = fixed.getUint32(16, true);
    const nameLength = fixed.getUint16(28, true), extraLength = fixed.getUint16(30, true);
    const next = at + 46 + nameLength + extraLength + fixed.getUint16(32, true);
    if (next > directory.end) throw invalid("its directory is damaged");
    const header = source.at(at, 46 + nameLength + extraLength), rawName = header.slice(46, 46 + nameLength);
    const entryName = decodeName(rawName, flags, invalid, unsupported);
    if (names.has(entryName)) throw invalid(`it holds two entries named ${entryName}`, entryName);
    names.add(entryName);
    if (flags & ENCRYPTED) throw unsupported(`its entry ${entryName} is encrypted`, entryName);
    if (method !== STORED && method !== DEFLATED) {
      throw unsupported(`its entry ${entryName} uses method ${method}`, entryName);
    }
    const wide = zip64Fields(viewOf(header), 46 + nameLength, invalid);
    if (wide.disk !== 0) throw unsupported("it spans several disks");
    if (method === STORED ? wide.size !== wide.packed : wide.size > wide.packed * MAX_DEFLATE_RATIO + 64) {
      throw invalid(`its entry ${entryName} claims ${wide.size} bytes in ${wide.packed}`, entryName);
    }
    expanded += wide.size;
    if (expanded > maxExpandedBytes) throw exceeded(`its contents exceed ${maxExpandedBytes} bytes`);
    const central = { flags, method, name: rawName, packed: fixed.getUint32(20, true) };
    const from = localData(source, wide.offset, directory.offset, central, invalid);
    const to = from + wide.packed;
    if (to > directory.offset) throw invalid(`its entry ${entryName} extends beyond the file`, entryName);
    extents.push({ from: wide.offset, to });
    const packed: Packed = {
      source,
      from,
      length: wide.packed,
      raw: true,
      refuse: (why) => invalid(`its entry ${entryName} ${why}`, entryName),
    };
    let contents: Uint8Array | undefined;
    entries.push({
      name: entryName,
      size: wide.size,
      compressed: method === DEFLATED,
      externalAttributes: fixed.getUint32(38, true),
      begin(count) {
        const wanted = Math.min(count, wide.size);
        return method === STORED ? source.at(from, wanted) : inflatedHead(packed, wanted);
      },
      read() {
        if (contents !== undefined) return contents;
        const found = method === STORED ? source.at(from, wide.packed) : inflated(packed, wide.size);
        if (crc32Of(found) !== crc) throw invalid(`the CRC of its entry ${entryName} does not match`, entryName);
        return contents = found;
      },
      isIntact: () => contents === undefined || crc32Of(contents) === crc,
    });
    at = next;
  }
  if (at !== directory.end) throw invalid("its directory has a wrong length");
  extents.sort((a, b) => a.from - b.from);
  for (let i = 1; i < extents.length; i++) {
    if (extents[i].from < extents[i - 1].to) throw invalid("two of its entries overlap", "");
  }
  return entries;
}

function decodeName(
  raw: Uint8Array,
  flags: number,
  invalid: Refusal,
  unsupported: Refusal,
): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    throw invalid("the name of an entry is not valid text", "");
  }
  // deno-lint-ignore no-control-regex -- an unflagged name may hold any ASCII character but NUL
  if (!(flags & UTF8_NAME) && !/^[\x01-\x7f]*$/.test(text)) {
    throw unsupported("it uses a legacy code page for names", text);
  }
  if (text === "" || text.includes("\0")) throw invalid("an entry has an empty name or a NUL in it", text);
  return text;
}

/** Finds the central directory from the end of the file. */
function findDirectory(
  source: ByteSource,
  invalid: Refusal,
  unsupported: Refusal,
): { offset: number; end: number; count: number } {
  if (source.size < 22) throw invalid("it is too short for a ZIP file");
  // The longest comment, the record before it and the zip64 locator.
  const start = Math.max(0, source.size - 22 - 0xffff - 20), tail = viewOf(source.at(start, source.size - start));
  const last = tail.byteLength - 22;
  let end = -1;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    // The comment must end exactly at the end of the file.
    if (tail.getUint32(at, true) === END && at + 22 + tail.getUint16(at + 20, true) === tail.byteLength) {
      end = at;
      break;
    }
  }
  if (end < 0) throw invalid("it has no ZIP directory; it may be truncated");
  let disk = tail.getUint16(end + 4, true) | tail.getUint16(end + 6, true);
  let count = tail.getUint16(end + 10, true), size = tail.getUint32(end + 12, true);
  let offset = tail.getUint32(end + 16, true), directoryEnd = start + end;
  if (end >= 20 && tail.getUint32(end - 20, true) === ZIP64_LOCATOR) {
    const at = big(tail, end - 12);
    if (!(at + 56 <= start + end - 20)) throw invalid("its zip64 record is damaged");
    const record = viewOf(source.at(at, 56));
    if (record.getUint32(0, true) !== ZIP64_END) throw invalid("its zip64 record is damaged");
    disk = record.getUint32(16, true) | record.getUint32(20, true);
    count = big(record, 32);
    size = big(record, 40);
    offset = big(record, 48);
    directoryEnd = at;
  }
  if (disk !== 0) throw unsupported("it spans several disks");
  if (offset + size !== directoryEnd) throw invalid("its directory is misplaced; it may be truncated");
  if (count * 46 > size) throw invalid("its directory is damaged");
  return { offset, end: directoryEnd, count };
}

/** Sizes and offset of an entry, from its zip64 field where the plain ones are saturated. */
function zip64Fields(
  view: DataView,
  extra: number,
  invalid: (why: string) => SvcError,
): { size: number; packed: number; offset: number; disk: number } {
  const fields = {
    packed: view.getUint32(20, true),
    size: view.getUint32(24, true),
    offset: view.getUint32(42, true),
    disk: view.getUint16(34, true),
  };
  const end = view.byteLength;
  for (let at = extra; at + 4 <= end;) {
    const length = view.getUint16(at + 2, true), body = at + 4;
    if (body + length > end) throw invalid("an extra field of its directory is damaged");
    if (view.getUint16(at, true) === ZIP64_EXTRA) {
      let next = body;
      for (const key of ["size", "packed", "offset"] as const) {
        if (fields[key] !== 0xffffffff) continue;
        if (next + 8 > body + length) throw invalid("a zip64 field of its directory is damaged");
        fields[key] = big(view, next);
        next += 8;
      }
      if (fields.disk === 0xffff && next + 4 <= body + length) fields.disk = view.getUint32(next, true);
    }
    at = body + length;
  }
  return fields;
}

/** Checks a local header against its directory entry; returns the offset of the data. */
function localData(
  source: ByteSource,
  offset: number,
  limit: number,
  central: { flags: number; method: number; name: Uint8Array; packed: number },
  invalid: (why: string) => SvcError,
): number {
  if (!(offset + 30 <= limit)) throw invalid("an entry is misplaced");
  const header = source.at(offset, 30 + central.name.length), view = viewOf(header);
  if (view.getUint32(0, true) !== LOCAL) throw invalid("an entry is misplaced");
  const flags = view.getUint16(6, true), nameLength = view.getUint16(26, true);
  const data = offset + 30 + nameLength + view.getUint16(28, true);
  let same = data <= limit && nameLength === central.name.length && flags === central.flags &&
    view.getUint16(8, true) === central.method;
  for (let i = 0; same && i < nameLength; i++) same = header[30 + i] === central.name[i];
  if (same && !(flags & DESCRIPTOR)) {
    const packed = view.getUint32(18, true);
    same = packed === 0xffffffff || packed === central.packed;
  }
  if (!same) throw invalid("an entry and the directory disagree");
  return data;
}

/** A 64-bit count; beyond 2^53 it is infinite, which every check refuses. */
function big(view: DataView, at: number): number {
  const value = view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
  return Number.isSafeInteger(value) ? value : Infinity;
}
