/**
 * The native extension against the portable kernels and NumPy, on one thread: `deno run -A tests/bench/native_bench.ts`.
 * All rounds take turns, and the best of each counts: what else the machine does disturbs the three alike.
 */
import { checkBits } from "../../lib/artifact/boundary.ts";
import { LEVELS, NativeKernels } from "../../lib/numeric/native/kernels.ts";
import { crc32 } from "node:zlib";
import { differingBits, failedBlocks } from "../../lib/numeric/coding/bit_errors.ts";
import { bitsIndex, indexBits, packBits, unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { demodulateLlr, hardBits, modulate } from "../../lib/numeric/link/modulation.ts";
import { type Modulation, MODULATIONS } from "../../lib/numeric/link/modulations.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { legalBlockSize } from "../../lib/numeric/coding/nr_ldpc/block_size.ts";
import { codedBitCount, codeParameters } from "../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { decodeTransportBlock } from "../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { encodeTransportBlock } from "../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { majorityBits, repeatBits } from "../../lib/numeric/coding/repetition.ts";
import { dataPlane } from "../../ops/_data_plane.ts";
import { packetReader, packetWriter } from "../../ops/channel/_crc_packets.ts";
import { NATIVE_LIBRARY } from "../support/native.ts";
import { ms, row, sized } from "./measure.ts";
import { numpyTimings } from "./numpy.ts";

const BITS = sized(4_000_000, 2_000), ROUNDS = sized(15, 1);
const BLOCK_BITS = legalBlockSize(16136, 0.5), CODE_RATE = 0.5, EB_N0_DB = 2, ITERATIONS = 20, BLOCKS = sized(12, 1);

const plane = await dataPlane({ params: { data_plane_backend: "python_numpy" }, backend: "numpy" });
if (NATIVE_LIBRARY === null) console.log("skipped: no C++ compiler is installed");
else compare(NATIVE_LIBRARY);

type Bodies = Record<"portable" | "native", () => unknown>;

/** Best milliseconds of each, taking turns. */
function race<Name extends string>(bodies: Record<Name, () => unknown>): Record<Name, number> {
  const best = {} as Record<Name, number>;
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, body] of Object.entries(bodies) as [Name, () => unknown][]) {
      const start = performance.now();
      body();
      const ms = performance.now() - start;
      if (round > 0) best[name] = Math.min(best[name] ?? Infinity, ms);
    }
  }
  return best;
}

function compare(path: string): void {
  const own = NativeKernels.open(path);
  const levels = LEVELS.slice(0, LEVELS.indexOf(own.level) + 1).map((level) => NativeKernels.open(path, level));
  const generator = Generator.seeded(1);
  const bits = generator.integers(0, 2, BITS, "uint8") as Uint8Array;
  const symbols = modulate(bits, "qpsk"), received = generator.addComplexNormal(symbols, 0.4);

  const numpy = numpyTimings(`
g = np.random.default_rng(1)
bits = g.integers(0, 2, ${BITS}, dtype=np.uint8)
def bpsk(): return (1 - 2 * bits.astype(np.float32)).astype(np.complex64)
def qpsk():
    parts = np.float32(2 ** -0.5) * (1 - 2 * bits.astype(np.float32))
    return parts.view(np.complex64)
x = qpsk()
def noise():
    s = np.sqrt(0.2)
    re = g.standard_normal(len(x)); im = g.standard_normal(len(x))
    return (x + s * (re + 1j * im)).astype(np.complex64)
y = noise()
def demodulate():
    llr = (2 * np.sqrt(2) / 0.4 * y.view(np.float32).astype(np.float64)).astype(np.float32)
    return llr, (llr < 0).astype(np.uint8)
measure("mapping, bpsk", bpsk, 15)
measure("mapping, qpsk", qpsk, 15)
measure("demapping and decisions, qpsk", demodulate, 15)
measure("packing", lambda: np.packbits(bits), 15)
packed = np.packbits(bits)
measure("unpacking", lambda: np.unpackbits(packed), 15)
measure("repetition by 3", lambda: np.repeat(bits, 3), 15)
measure("complex noise", noise, 15)
`);

  const byModulation = (body: (modulation: Modulation) => Bodies) =>
    MODULATIONS.map((modulation) => [modulation, body(modulation)] as const);
  const indices = generator.integers(0, 1000, BITS / 10, "int32") as Int32Array, packed = packBits(bits);
  const framed = packetWriter(plane, [BITS], 4096)(bits, (length) => new Uint8Array(length));
  const copies = repeatBits(bits, 3), wrong = bits.map((bit, at) => at % 1009 === 0 ? 1 - bit : bit);
  const ours: Record<string, Record<"portable" | "native", number>> = Object.fromEntries(
    Object.entries<Bodies>({
      "check of bits": { portable: () => checkBits(ndarray("uint8", bits)), native: () => own.areBits(bits) },
      "repetition by 3": { portable: () => repeatBits(bits, 3), native: () => own.repeatBits(bits, 3) },
      "majority of 3": { portable: () => majorityBits(copies, 3), native: () => own.majorityBits(copies, 3) },
      "packing": { portable: () => packBits(bits), native: () => own.packBits(bits) },
      "unpacking": { portable: () => unpackBits(packed), native: () => own.unpackBits(packed) },
      "CRC-32": { portable: () => crc32(packed), native: () => own.crc32(packed) },
      "indices to bits": { portable: () => indexBits(indices, 10), native: () => own.indexBits(indices, 10) },
      "bits to indices": {
        portable: () => bitsIndex(bits, 10, 1000, false),
        native: () => own.bitsIndex(bits, 10, 1000, false),
      },
      "bit errors": { portable: () => differingBits(bits, wrong), native: () => own.differingBits(bits, wrong) },
      "block errors": {
        portable: () => failedBlocks(bits, wrong, 1024),
        native: () => own.failedBlocks(bits, wrong, 1024),
      },
      "packets of 4096 bits written": {
        portable: () => packetWriter(plane, [BITS], 4096)(bits, (length) => new Uint8Array(length)),
        native: () => packetWriter(own, [BITS], 4096)(bits, (length) => new Uint8Array(length)),
      },
      "packets of 4096 bits checked": {
        portable: () => packetReader(plane, [framed.length / 4224], 4224).read(framed),
        native: () => packetReader(own, [framed.length / 4224], 4224).read(framed),
      },
      ...Object.fromEntries(
        byModulation((modulation) => ({
          portable: () => modulate(bits, modulation),
          native: () => own.modulate(bits, modulation),
        })).map(([name, bodies]) => [`mapping, ${name}`, bodies]),
      ),
      ...Object.fromEntries(
        byModulation((modulation) => ({
          portable: () => hardBits(demodulateLlr(received, modulation, 0.4)),
          native: () => own.demodulate(received, modulation, 0.4),
        })).map(([name, bodies]) => [`demapping and decisions, ${name}`, bodies]),
      ),
      "random bits": {
        portable: () => generator.integers(0, 2, BITS, "uint8"),
        native: () => own.randomBits(generator, BITS),
      },
      "complex noise": {
        portable: () => generator.addComplexNormal(symbols, 0.4),
        native: () => own.addComplexNormal(generator, symbols, 0.4),
      },
    }).map(([name, bodies]) => [name, race(bodies)]),
  );

  if ("skipped" in numpy) console.log(`NumPy skipped: ${numpy.skipped}`);
  for (const [name, { portable, native }] of Object.entries(ours)) {
    const theirs = "skipped" in numpy ? undefined : numpy.timings[name];
    const peers = theirs === undefined ? "" : `, NumPy ${(theirs / native).toFixed(2)} times`;
    row(
      `${name}, ${own.level}`,
      ms(native),
      `portable ${ms(portable)}, ${(portable / native).toFixed(2)} times${peers}`,
    );
  }

  const codedBits = codedBitCount(BLOCK_BITS, CODE_RATE, 2, 1);
  const parameters = codeParameters({
    blockBits: BLOCK_BITS,
    codedBits,
    codeRate: CODE_RATE,
    bitsPerSymbol: 2,
    layers: 1,
  });
  const variance = 1 / (10 ** (EB_N0_DB / 10) * 2 * BLOCK_BITS / codedBits);
  const blocks = Array.from({ length: BLOCKS }, () => {
    const coded = encodeTransportBlock(generator.integers(0, 2, BLOCK_BITS, "uint8") as Uint8Array, parameters);
    return demodulateLlr(generator.addComplexNormal(modulate(coded, "qpsk"), variance), "qpsk", variance);
  });
  for (const earlyStop of [false, true]) {
    const decoders = { portable: undefined, ...Object.fromEntries(levels.map((k) => [k.level, k.decodeCodeBlock])) };
    const best = race(
      Object.fromEntries(
        Object.entries(decoders).map(([name, decode]) => [name, () => {
          for (const llr of blocks) {
            decodeTransportBlock(llr, parameters, { iterations: ITERATIONS, earlyStop }, decode);
          }
        }]),
      ),
    );
    for (const [name, taken] of Object.entries(best)) {
      row(
        `NR LDPC of ${BLOCK_BITS} bits, ${earlyStop ? "early stop" : `${ITERATIONS} iterations`}, ${name}`,
        `${(BLOCKS * BLOCK_BITS / taken / 1e3).toFixed(1)} Mbit/s`,
        `rate 1/2, QPSK, Eb/N0 ${EB_N0_DB} dB, ${(best.portable / taken).toFixed(2)} times portable`,
      );
    }
  }
}
