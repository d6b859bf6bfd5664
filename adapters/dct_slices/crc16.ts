/**
 * CRC-16/CCITT-FALSE: polynomial 0x1021, initial register 0xFFFF, most significant bit first; "123456789" -> 0x29B1.
 *
 * @param first byte that precedes the others
 */
export function crc16(bytes: Uint8Array, first?: number): number {
  let register = 0xffff;
  const take = (byte: number) => {
    register ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) register = (register & 0x8000 ? register << 1 ^ 0x1021 : register << 1) & 0xffff;
  };
  if (first !== undefined) take(first);
  for (const byte of bytes) take(byte);
  return register;
}
