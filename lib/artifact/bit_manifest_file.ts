/** Makes a bit-payload manifest of a file: an NPY array of bits, a text of 0 and 1, or any bytes. */
import { basename, extname } from "node:path";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { JsonObject } from "../contract/value.ts";
import { packBits } from "../numeric/array/bit_packing.ts";
import { readNpy } from "./npy.ts";

/** Packed bits up to this size stand in the manifest as hexadecimal; larger ones in a file of their own. */
const INLINE_BYTES = 4096;

/** Whether a file is read as bits by its name. */
export const holdsBits = (file: string): boolean => /\.(npy|bin|bits)$/i.test(file);

/**
 * Describes the bits of a file. An NPY array of one dimension is one item, of two dimensions one item a row. A .bits or .txt
 * file is a text of 0, 1 and white space, one item a line. The bytes of any other file are one item, most significant bit first.
 *
 * @param bytes content of the file
 * @param file its name
 * @param beside whether the manifest lies beside the file, and may name it
 * @returns the manifest, and the files of large items by name, which belong beside it
 * @throws SvcError `boundary_value_invalid`, `boundary_shape_invalid`, `payload_text_invalid`
 */
export function makeBitManifest(
  bytes: Uint8Array,
  file: string,
  beside: boolean,
): { manifest: JsonObject; files: Map<string, Uint8Array> } {
  const stem = basename(file, extname(file)).replace(/[\s,#]+/g, "_") || "bits";
  const rows = /\.npy$/i.test(file)
    ? arrayRows(bytes, file)
    : /\.(bits|txt)$/i.test(file)
    ? textRows(bytes, file)
    : null;
  const parts = rows === null
    ? [{ id: stem, bit_count: 8 * bytes.length, packed: bytes }]
    : rows.map((bits, index) => ({
      id: rows.length === 1 ? stem : `${stem}_${index + 1}`,
      bit_count: bits.length,
      packed: packBits(bits),
    }));
  if (parts.every(({ bit_count }) => bit_count === 0)) {
    throw new SvcError("boundary_shape_invalid", `Cannot create a manifest of ${file}: it holds no bits`);
  }
  const files = new Map<string, Uint8Array>();
  const items = parts.map(({ id, bit_count, packed }): JsonObject => {
    const item = { id, bit_count, sha256: sha256Hex(packed) };
    if (packed.length <= INLINE_BYTES) return { ...item, bits_hex: packed.toHex() };
    if (packed === bytes && beside) return { ...item, path: file };
    const path = `${id}.bin`;
    files.set(path, packed);
    return { ...item, path };
  });
  return { manifest: { schema_version: 1, kind: "svc.bit_payload_manifest", items, selections: {} }, files };
}

function arrayRows(bytes: Uint8Array, file: string): Uint8Array[] {
  const { shape, data } = readNpy(bytes, file);
  if (shape.length < 1 || shape.length > 2) {
    throw new SvcError("boundary_shape_invalid", `Cannot read ${file} as bits: it has ${shape.length} dimensions`, {
      hint: "Save an array of one dimension, or of two with one payload a row",
    });
  }
  const bits = Uint8Array.from(data as ArrayLike<number>, (value) => {
    if (Number(value) === 0 || Number(value) === 1) return Number(value);
    throw new SvcError("boundary_value_invalid", `Cannot read ${file} as bits: it holds the value ${value}`, {
      hint: "Unpack bytes first, for example with numpy.unpackbits",
    });
  });
  const length = shape.at(-1)!;
  return Array.from(
    { length: shape.length === 2 ? shape[0] : 1 },
    (_, row) => bits.slice(row * length, (row + 1) * length),
  );
}

/** The lines of a text of 0, 1 and white space that hold bits. */
function textRows(bytes: Uint8Array, file: string): Uint8Array[] {
  const lines = new TextDecoder("latin1").decode(bytes).split(/\r\n|\r|\n/);
  return lines.map((line, index) => {
    const wrong = /[^01 \t]/.exec(line);
    if (wrong !== null) {
      throw new SvcError(
        "payload_text_invalid",
        `Cannot read line ${index + 1} of ${file} as bits: it has the character ${JSON.stringify(wrong[0])}`,
        { hint: "A .bits file is a text of 0, 1 and white space; name a file of packed bytes .bin" },
      );
    }
    return Uint8Array.from(line.replace(/[ \t]/g, ""), Number);
  }).filter(({ length }) => length > 0);
}
