/**
 * Decoder kernels alone, over received values that are made before their time begins. Prints processor and wall seconds of all
 * points together. Arguments: ldpc or polar, blocks a point, Es/N0 in dB of each point.
 */
import process from "node:process";
import { codedBitCount, codeParameters } from "../../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { decodeTransportBlock } from "../../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { encodeTransportBlock } from "../../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { goldSequence } from "../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { polarCode } from "../../../lib/numeric/coding/polar/code.ts";
import { decodePolar } from "../../../lib/numeric/coding/polar/decoder.ts";
import { encodePolar } from "../../../lib/numeric/coding/polar/encoder.ts";
import { demodulateLlr, modulate } from "../../../lib/numeric/link/modulation.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

interface Code {
  payload: number;
  encode(bits: Uint8Array): Uint8Array;
  decode(llr: Float32Array): { crcPassed: boolean };
}

function ldpc(): Code {
  const blockBits = 1056, codeRate = 1 / 3, bitsPerSymbol = 2, layers = 1;
  const codedBits = codedBitCount(blockBits, codeRate, bitsPerSymbol, layers),
    scrambling = goldSequence(32769, codedBits);
  const parameters = codeParameters({ blockBits, codedBits, codeRate, bitsPerSymbol, layers });
  return {
    payload: blockBits,
    encode: (bits) => encodeTransportBlock(bits, parameters, scrambling),
    decode: (llr) => decodeTransportBlock(llr, parameters, { iterations: 20, scrambling }),
  };
}

function polar(): Code {
  const code = polarCode("uci", 40, 256);
  return {
    payload: 40,
    encode: (bits) => encodePolar(bits, code),
    decode: (llr) => decodePolar(llr, code, { listSize: 8 }),
  };
}

const [name, blocks, ...points] = Deno.args,
  code = name === "ldpc" ? ldpc() : polar(),
  generator = Generator.seeded(23);
let processor = 0, wall = 0;
for (const snrDb of points.map(Number)) {
  const variance = 10 ** (-snrDb / 10);
  const received = Array.from({ length: Number(blocks) }, () => {
    const symbols = modulate(code.encode(generator.integers(0, 2, code.payload, "uint8") as Uint8Array), "qpsk");
    return demodulateLlr(generator.addComplexNormal(symbols, variance), "qpsk", variance);
  });
  const before = process.cpuUsage(), started = performance.now();
  const lost = received.filter((llr) => !code.decode(llr).crcPassed).length;
  wall += (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  processor += (user + system) / 1e6;
  console.log(snrDb, lost / received.length);
}
console.log("kernel", processor, wall);
