/** The cyclic redundancy checks of TS 38.212 section 5.1: generator polynomials without their leading term, zero start. */

export interface Crc {
  readonly name: "crc24a" | "crc24b" | "crc16";
  readonly bits: number;
  readonly polynomial: number;
}

export const CRC24A: Crc = { name: "crc24a", bits: 24, polynomial: 0x864cfb };
export const CRC24B: Crc = { name: "crc24b", bits: 24, polynomial: 0x800063 };
export const CRC16: Crc = { name: "crc16", bits: 16, polynomial: 0x1021 };
