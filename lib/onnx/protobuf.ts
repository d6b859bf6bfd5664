/**
 * The protobuf wire format for untrusted models: a cursor over the fields of one message.
 *
 * Every step consumes at least one byte, so reading ends for any input; groups, field number zero, varints of more than
 * ten bytes and lengths beyond the message are refused.
 *
 * Own code: protobufjs has 4 MB for these lines, and models are untrusted.
 *
 * Format: Protocol Buffers, "Encoding" (protobuf.dev/programming-guides/encoding).
 */

/** A field of a message; the wire type determines the used property. */
export interface Field {
  readonly number: number;
  readonly type: "varint" | "fixed64" | "bytes" | "fixed32";
  /** Value of a varint as a two's complement 64-bit integer, else 0n. */
  readonly value: bigint;
  /** Contents of a length-delimited field: a view, not a copy. */
  readonly bytes: Uint8Array;
}

/** The reason why bytes are not a protobuf message. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

const NOTHING = new Uint8Array(0);

/** The fields of a message, in order. @throws ProtobufError for bytes that are not a message */
export function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0;

  // The low 28 bits are collected as a number, which is enough for most varints.
  const small = (): number | bigint => {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= bytes.length) throw new ProtobufError("it ends within a number");
      const byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    let wide = BigInt(value);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      if (at >= bytes.length) throw new ProtobufError("it ends within a number");
      const byte = bytes[at++];
      wide |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, wide);
    }
    throw new ProtobufError("a number has more than ten bytes");
  };
  const skip = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new ProtobufError("a field extends beyond the message");
    return bytes.subarray(at, at += length);
  };

  while (at < bytes.length) {
    const tag = Number(small());
    const number = Math.floor(tag / 8);
    if (number < 1 || number > 0x1fffffff) throw new ProtobufError("a field has an impossible number");
    switch (tag % 8) {
      case 0:
        yield { number, type: "varint", value: BigInt.asIntN(64, BigInt(small())), bytes: NOTHING };
        break;
      case 1:
        yield { number, type: "fixed64", value: 0n, bytes: skip(8) };
        break;
      case 2:
        yield { number, type: "bytes", value: 0n, bytes: skip(Number(small())) };
        break;
      case 5:
        yield { number, type: "fixed32", value: 0n, bytes: skip(4) };
        break;
      default:
        throw new ProtobufError("a field has an unused wire type");
    }
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a string field. @throws ProtobufError for text that is not UTF-8 */
export function textOf(field: Field): string {
  if (field.type !== "bytes") throw new ProtobufError("a text has the wire type of a number");
  try {
    // A copy, because text decoders refuse shared memory.
    return decoder.decode(field.bytes.slice());
  } catch {
    throw new ProtobufError("a text is not UTF-8");
  }
}

/** The contents of a message field. @throws ProtobufError */
export function messageIn(field: Field): Uint8Array {
  if (field.type !== "bytes") throw new ProtobufError("a message has the wire type of a number");
  return field.bytes;
}

export function integerOf(field: Field): bigint {
  if (field.type !== "varint") throw new ProtobufError("an integer has another wire type");
  return field.value;
}
