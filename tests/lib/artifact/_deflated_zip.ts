import { viewOf } from "../../../lib/artifact/byte_source.ts";
import { crc32Of } from "../../../lib/artifact/crc32.ts";
import { writeZip } from "../../../lib/artifact/zip_write.ts";

/** A ZIP file of one deflated entry that claims a size of our choice. */
export function deflated(packed: Uint8Array, size: number, contents: Uint8Array, name = "a.npy"): Uint8Array {
  const file = writeZip([{ name, parts: [packed] }]).slice(), view = viewOf(file);
  const central = 30 + name.length + packed.length;
  for (const [method, sizes] of [[8, 14], [central + 10, central + 16]]) {
    view.setUint16(method, 8, true);
    view.setUint32(sizes, crc32Of(contents), true);
    view.setUint32(sizes + 8, size, true);
  }
  return file;
}
