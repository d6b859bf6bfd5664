/** Polar encoder of TS 38.212: CRC, interleaving, parity-check bits, polar transform, rate matching. Shapes: bits uint8 [A] -> [E]. */
import { maskedCrc, type PolarCode, polarTransform } from "./code.ts";

/** Mother bits of one segment. */
const mother = new Uint8Array(1024);

/**
 * Encodes one message.
 * @param payload payloadBits bits
 * @param rnti mask of the CRC of downlink control
 * @param coded receives codedBits bits; zeros before
 */
export function encodePolar(
  payload: Uint8Array,
  code: PolarCode,
  rnti = 0,
  coded = new Uint8Array(code.codedBits),
): Uint8Array<ArrayBuffer> {
  const { segments, messageBits, crcBits, motherBits, sent } = code, size = messageBits - crcBits;
  // A segmented message of odd length starts with a 0; an odd number of coded bits ends with one.
  const message = new Uint8Array(segments * size), bits = new Uint8Array(messageBits);
  message.set(payload, message.length - payload.length);
  for (let segment = 0; segment < segments; segment++) {
    bits.set(message.subarray(segment * size, (segment + 1) * size));
    const remainder = maskedCrc(bits.subarray(0, size), code, rnti);
    for (let i = 0; i < crcBits; i++) bits[size + i] = remainder >> (crcBits - 1 - i) & 1;
    const word = polarTransform(placeBits(bits, code, mother.subarray(0, motherBits).fill(0)));
    for (let k = 0; k < sent.length; k++) coded[segment * sent.length + k] = word[sent[k]];
  }
  return coded;
}

/** Places message bits and computes parity-check bits from the message bits at distances that are multiples of five. */
function placeBits(bits: Uint8Array, { positions, carried, parityChecks }: PolarCode, word: Uint8Array): Uint8Array {
  for (let k = 0; k < positions.length; k++) word[positions[k]] = bits[carried[k]];
  if (parityChecks.size === 0) return word;
  const register = new Uint8Array(5);
  for (let index = 0; index < word.length; index++) {
    if (parityChecks.has(index)) word[index] = register[index % 5];
    else register[index % 5] ^= word[index];
  }
  return word;
}
