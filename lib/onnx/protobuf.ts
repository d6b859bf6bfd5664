/**
 * The protobuf wire format, as much as reading a model with suspicion needs: a cursor over the fields of one message.
 *
 * Every step consumes at least one byte, so a walk over hostile bytes ends; groups, field number zero, varints of more
 * than ten bytes and lengths beyond the message are refused.
 *
 * Format: Protocol Buffers, "Encoding" (protobuf.dev/programming-guides/encoding).
 */

/** A field of a message; which members are set follows from its wire type. */
export interface Field {
  readonly number: number;
  readonly type: "varint" | "fixed64" | "bytes" | "fixed32";
  /** Value of a varint as a two's complement 64-bit integer, else 0n. */
  readonly value: bigint;
  /** Contents of a length-delimited field: a view, not a copy. */
  readonly bytes: Uint8Array;
}

/** Why bytes are no protobuf message. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

const NOTHING = new Uint8Array(0);

/**
 * The fields of a message, in order.
 *
 * @throws ProtobufError when the bytes are no message
 */
export function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0;

  // The low 28 bits are collected as a number: nearly every varint ends there.
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
    if (length > bytes.length - at) throw new ProtobufError("a field reaches beyond its end");
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
        throw new ProtobufError("a field has a wire type that is not in use");
    }
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a string field. @throws ProtobufError when it is no UTF-8 */
export function textOf(field: Field): string {
  if (field.type !== "bytes") throw new ProtobufError("a text has the wire type of a number");
  try {
    // A copy, because no text is decoded from shared memory.
    return decoder.decode(field.bytes.slice());
  } catch {
    throw new ProtobufError("a text is no UTF-8");
  }
}

/** The contents of a field that holds a message. @throws ProtobufError */
export function messageIn(field: Field): Uint8Array {
  if (field.type !== "bytes") throw new ProtobufError("a message has the wire type of a number");
  return field.bytes;
}

/** The value of an integer field. @throws ProtobufError */
export function integerOf(field: Field): bigint {
  if (field.type !== "varint") throw new ProtobufError("an integer has another wire type");
  return field.value;
}
