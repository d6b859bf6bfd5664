/** Writes ZIP files field by field, the ones included that no honest program writes. */
import { deflateRawSync } from "node:zlib";
import { crc32Of } from "../../../lib/artifact/crc32.ts";
import { bytesOf } from "../../support/onnx_writer.ts";

export interface HostileEntry {
  name: string;
  data?: Uint8Array;
  deflate?: boolean;
  flags?: number;
  method?: number;
  /** Size that the headers claim. */
  claimedSize?: number;
  crc?: number;
  externalAttributes?: number;
}

function numbers(...fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Uint8Array {
  const out: number[] = [];
  for (const [bytes, value] of fields) for (let i = 0; i < bytes; i++) out.push(Math.floor(value / 256 ** i) % 256);
  return new Uint8Array(out);
}

export function hostileZip(entries: readonly HostileEntry[]): Uint8Array<ArrayBuffer> {
  const locals: Uint8Array[] = [], centrals: Uint8Array[] = [];
  let offset = 0;
  for (const { name, data = new Uint8Array(0), deflate = false, ...more } of entries) {
    const nameBytes = new TextEncoder().encode(name);
    const packed = deflate ? new Uint8Array(deflateRawSync(data)) : data;
    const common = numbers(
      [2, 20],
      [2, more.flags ?? 0x800],
      [2, more.method ?? (deflate ? 8 : 0)],
      [4, 0x00210000],
      [4, more.crc ?? crc32Of(data)],
      [4, packed.length],
      [4, more.claimedSize ?? data.length],
      [2, nameBytes.length],
      [2, 0],
    );
    const local = bytesOf(numbers([4, 0x04034b50]), common, nameBytes, packed);
    locals.push(local);
    centrals.push(bytesOf(
      numbers([4, 0x02014b50], [2, 0x031e]),
      common,
      numbers([2, 0], [2, 0], [2, 0], [4, more.externalAttributes ?? 0], [4, offset]),
      nameBytes,
    ));
    offset += local.length;
  }
  const directory = bytesOf(...centrals);
  const count = entries.length;
  const end = numbers([4, 0x06054b50], [4, 0], [2, count], [2, count], [4, directory.length], [4, offset], [2, 0]);
  return bytesOf(...locals, directory, end);
}
