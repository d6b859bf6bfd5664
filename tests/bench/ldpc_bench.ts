/**
 * NR LDPC in information bits a second on one thread: transport blocks of 16136 bits, rate 1/2, QPSK, AWGN at Eb/N0 = 2 dB.
 *
 *     deno run -A tests/bench/ldpc_bench.ts
 *
 * Beside it the same decoder in plain C (ldpc_plain.c), where gcc is installed, with the vector instructions that the kernel
 * has (SSE4.1) and with all of the machine. The C program starts from rounded values; the kernel's time has rounding,
 * deinterleaving and copies in it. Figures are the best of several rounds, for other programs disturb both.
 */
import { Buffer } from "node:buffer";
import { codedBitCount, codeParameters } from "../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { decodeTransportBlock } from "../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { encodeTransportBlock } from "../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { decodeTransportBlocks } from "../../lib/numeric/parallel/nr_ldpc.ts";
import { bufferLayout, decoderProgram } from "../../lib/numeric/coding/nr_ldpc/programs.ts";
import { receivedValues, roundedLlr } from "../support/nr_ldpc_reference.ts";
import { goldSequence } from "../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { demodulateLlr, modulate } from "../../lib/numeric/link/modulation.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { plainC, row, sized, timesOf } from "./measure.ts";

const BLOCK_BITS = 16136, CODE_RATE = 0.5, EB_N0_DB = 2, ITERATIONS = 20, BLOCKS = sized(24, 2), ROUNDS = sized(40, 1);

const codedBits = codedBitCount(BLOCK_BITS, CODE_RATE, 2, 1);
const parameters = codeParameters({
  blockBits: BLOCK_BITS,
  codedBits,
  codeRate: CODE_RATE,
  bitsPerSymbol: 2,
  layers: 1,
});
const variance = 1 / (10 ** (EB_N0_DB / 10) * 2 * BLOCK_BITS / codedBits);
const generator = Generator.seeded(1), scrambling = goldSequence(32769, codedBits);
const sent = Array.from({ length: BLOCKS }, () => generator.integers(0, 2, BLOCK_BITS, "uint8") as Uint8Array);
const received = sent.map((bits) => {
  const symbols = modulate(encodeTransportBlock(bits, parameters, scrambling), "qpsk");
  return demodulateLlr(generator.addComplexNormal(symbols, variance), "qpsk", variance);
});

/** Information bits a second, in millions, of work on all blocks. */
const rateOf = (work: () => unknown) => BLOCKS * BLOCK_BITS / Math.min(...timesOf(ROUNDS, work)) / 1e3;
const rate = (work: (block: number) => unknown) =>
  rateOf(() => {
    for (let block = 0; block < BLOCKS; block++) work(block);
  });

function decode(block: number, earlyStop: boolean): number {
  const decoded = decodeTransportBlock(received[block], parameters, { iterations: ITERATIONS, earlyStop, scrambling });
  if (!decoded.crcPassed) throw new Error("A block of the benchmark is lost");
  return decoded.codeBlocks.reduce((sum, { iterations }) => sum + iterations, 0) / decoded.codeBlocks.length;
}

/** Seconds of the C program, or the reason why there are none. */
async function peer(flags: readonly string[]): Promise<{ fixed: number; early: number } | string> {
  const { code, rows, columns } = bufferLayout(parameters, parameters.codedBitsOfBlock[0]);
  const program = decoderProgram(code, rows, parameters.usedBits), size = columns * parameters.liftingSize;
  const head = [program.length, code.liftingSize, columns, parameters.usedBits, ITERATIONS];
  const counts = [BLOCKS * parameters.codeBlockCount, ROUNDS, program.words.length];
  const words = new Uint8Array(Int32Array.from([...head, ...counts, ...program.words]).buffer);
  const values = received.flatMap((llr) =>
    parameters.codedBitsOfBlock.map((_, index) =>
      new Uint8Array(
        Int8Array.from(receivedValues(llr, parameters, index, scrambling).subarray(0, size), roundedLlr).buffer,
      )
    )
  );
  const found = await plainC<{ fixed: number; early: number; failures: number }>("ldpc_plain.c", flags, (folder) => {
    Deno.writeFileSync(`${folder}/blocks`, Buffer.concat([words, ...values]));
    return [`${folder}/blocks`];
  });
  return typeof found === "string" || found.failures === 0 ? found : `it loses ${found.failures} blocks`;
}

const megabits = (value: number) => `${value.toFixed(1)} Mbit/s`;
const iterations = received.reduce((sum, _, block) => sum + decode(block, true), 0) / BLOCKS;
const fixed = rate((block) => decode(block, false)), early = rate((block) => decode(block, true));
row(`decoder, ${ITERATIONS} iterations`, megabits(fixed), "layered offset min-sum, int8, 16 lanes of WebAssembly");
row("decoder, early stop", megabits(early), `${iterations.toFixed(2)} iterations on average`);
for (const [name, flags] of [["SSE4.1", ["-msse4.1"]], ["this machine", ["-march=native"]]] as const) {
  const seconds = await peer(flags);
  if (typeof seconds === "string") {
    console.log(`plain C for ${name} skipped: ${seconds}`);
    continue;
  }
  const [all, some] = [seconds.fixed, seconds.early].map((time) => BLOCKS * BLOCK_BITS / time / 1e6);
  row(`plain C for ${name}, ${ITERATIONS} iterations`, megabits(all), `kernel / C: ${(fixed / all).toFixed(2)}`);
  row(`plain C for ${name}, early stop`, megabits(some), `kernel / C: ${(early / some).toFixed(2)}`);
}
row("encoder", megabits(rate((block) => encodeTransportBlock(sent[block], parameters, scrambling))));

const together = new Float32Array(BLOCKS * codedBits);
received.forEach((llr, block) => together.set(llr, block * codedBits));
const shared = new Float32Array(new SharedArrayBuffer(together.byteLength));
shared.set(together);
for (const threads of [1, 2]) {
  const options = { iterations: ITERATIONS, earlyStop: false, scrambling, threads };
  const speed = rateOf(() => decodeTransportBlocks(shared, parameters, BLOCKS, options));
  row(
    `decoder, ${ITERATIONS} iterations, ${threads} threads`,
    megabits(speed),
    `${(speed / fixed).toFixed(2)} times one`,
  );
}
