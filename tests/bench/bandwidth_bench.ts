/** The portable kernels against the memory of the machine: bytes touched per second, as a part of what a copy moves. */
import { checkBits, checkSymbols } from "../../lib/artifact/boundary.ts";
import { crc32Of } from "../../lib/artifact/crc32.ts";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { packBits, unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { demodulateLlr, hardBits, modulate } from "../../lib/numeric/link/modulation.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { ms, row, sized, time } from "./measure.ts";

const COUNT = sized(1e7, 1e4), COPIED = sized(1 << 28, 1 << 16);
const source = new Uint8Array(COPIED).fill(1), target = new Uint8Array(COPIED);
const copying = await time(5, () => target.set(source));
/** Bytes a millisecond, reading and writing counted. */
const bandwidth = 2 * source.length / copying;
row(`copy of ${COPIED / 2 ** 20} MiB`, ms(copying), `${(bandwidth / 1e6).toFixed(1)} GB/s read and written`);

const generator = Generator.seeded(23);
const bits = generator.integers(0, 2, COUNT, "uint8") as Uint8Array;
const symbols = modulate(bits, "qpsk");
const llr = demodulateLlr(symbols, "qpsk", 0.1);
const packed = packBits(bits);

const kernels: [string, number, () => unknown][] = [
  ["random bits", bits.length, () => generator.integers(0, 2, COUNT, "uint8")],
  ["map to QPSK", bits.length + symbols.byteLength, () => modulate(bits, "qpsk")],
  ["map to 16QAM", bits.length + symbols.byteLength / 2, () => modulate(bits, "qam16")],
  ["add complex noise", 2 * symbols.byteLength, () => generator.addComplexNormal(symbols, 0.1)],
  ["QPSK LLRs", symbols.byteLength + llr.byteLength, () => demodulateLlr(symbols, "qpsk", 0.1)],
  ["hard decisions", llr.byteLength + bits.length, () => hardBits(llr)],
  ["pack bits", bits.length + packed.length, () => packBits(bits)],
  ["unpack bits", bits.length + packed.length, () => unpackBits(packed)],
  ["check bits", bits.length, () => checkBits(ndarray("uint8", bits))],
  ["check symbols", symbols.byteLength, () => checkSymbols(ndarray("complex64", symbols))],
  ["CRC-32", symbols.byteLength, () => crc32Of(new Uint8Array(symbols.buffer))],
  ["SHA-256", symbols.byteLength, () => sha256Hex(new Uint8Array(symbols.buffer))],
];
for (const [name, bytes, body] of kernels) {
  const taken = await time(5, body);
  const rate = bytes / taken;
  row(
    `${name}, ${COUNT} bits`,
    ms(taken),
    `${(rate / 1e6).toFixed(2)} GB/s, ${(100 * rate / bandwidth).toFixed(0)} % of a copy`,
  );
}
