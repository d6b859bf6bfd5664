/**
 * The kernels of the native extension; tests compare them with the portable ones bit by bit. A library is loaded on
 * first use, in the thread that uses it; calls neither wait nor start threads.
 */
import { type LlrMethod, POINTS, UNITS } from "../link/modulation.ts";
import { BITS_PER_SYMBOL, type Modulation } from "../link/modulations.ts";
import type { CodeParameters } from "../coding/nr_ldpc/code_parameters.ts";
import type { DecodedCodeBlock, DecoderOptions } from "../coding/nr_ldpc/decoder.ts";
import { CRC_KINDS } from "../coding/nr_ldpc/encoder.ts";
import { bufferLayout, decoderProgram } from "../coding/nr_ldpc/programs.ts";
import { type Generator, partScale } from "../random/random.ts";
import { resultArray } from "../array/shared_array.ts";
import { nativeExtension } from "./extension.ts";

/** Levels of a processor with their requirements; the highest supported one is used. Exported for tests. */
export const LEVELS = ["baseline", "avx2", "avx512"] as const;
export type Level = typeof LEVELS[number];

/** From one array to another, and how many values. */
const PASS = ["buffer", "buffer", "usize"] as const;
const DEMAP = ["buffer", "buffer", "f64", "usize", "buffer", "buffer"] as const;
const NOTHING = { parameters: [], result: "i32" } as const;
const INTERFACE = {
  are_bits: { parameters: ["buffer", "usize"], result: "i32" },
  repeat_bits: { parameters: [...PASS, "usize"], result: "void" },
  majority_bits: { parameters: [...PASS, "usize"], result: "void" },
  pack_bits: { parameters: PASS, result: "void" },
  unpack_bits: { parameters: PASS, result: "void" },
  crc32: { parameters: ["buffer", "usize"], result: "u32" },
  index_bits: { parameters: [...PASS, "i32"], result: "void" },
  bits_index: { parameters: [...PASS, "i32", "u32", "i32"], result: "u32" },
  differing_bits: { parameters: ["buffer", ...PASS], result: "void" },
  failed_blocks: { parameters: ["buffer", "usize", "buffer", "usize", "usize", "buffer"], result: "void" },
  modulate_bpsk: { parameters: PASS, result: "void" },
  modulate_qpsk: { parameters: PASS, result: "void" },
  modulate_points: { parameters: [...PASS, "buffer", "i32"], result: "void" },
  demodulate_bpsk: { parameters: DEMAP, result: "void" },
  demodulate_qpsk: { parameters: DEMAP, result: "void" },
  demodulate_square: { parameters: [...DEMAP, "i32", "f64", "f64"], result: "void" },
  demodulate_identity: { parameters: DEMAP, result: "void" },
  random_bits: { parameters: PASS, result: "void" },
  add_complex_normal: { parameters: ["buffer", "buffer", "buffer", "usize", "f64"], result: "void" },
  nr_ldpc_workspace: { parameters: [], result: "u32" },
  nr_ldpc_decode: {
    parameters: ["buffer", "buffer", "buffer", "i32", "buffer", "buffer", "buffer", "i32"],
    result: "i32",
  },
} as const satisfies Deno.ForeignLibraryInterface;

type Calls = Deno.StaticForeignLibraryInterface<typeof INTERFACE>;

/** Functions of the extension; each has a portable counterpart of the same name and result, see ops/_data_plane.ts. Exported for tests. */
export class NativeKernels {
  readonly name = "cpp_native";
  readonly level: Level;
  readonly #calls: Calls;
  #workspace: Uint8Array<ArrayBuffer> | undefined;

  private constructor(level: Level, calls: Calls) {
    this.level = level;
    this.#calls = calls;
  }

  /**
   * Opens a library; it is never closed.
   * @param path file built by `buildNative`
   * @param level default the highest of the processor
   * @throws Error when the library cannot be loaded
   * @throws RangeError when the processor does not have that level
   */
  static open(path: string, level?: Level): NativeKernels {
    const { symbols } = Deno.dlopen(path, { svc_level: NOTHING });
    const highest = symbols.svc_level();
    const wanted = level === undefined ? highest : LEVELS.indexOf(level);
    if (wanted > highest) throw new RangeError(`Cannot run native kernels of level ${level} on this processor`);
    // Object.fromEntries has no types for the names of its members.
    const named = Object.fromEntries(
      Object.entries(INTERFACE).map(([name, call]) => [name, { ...call, name: `svc_${name}_${LEVELS[wanted]}` }]),
    ) as unknown as typeof INTERFACE;
    return new NativeKernels(LEVELS[wanted], Deno.dlopen(path, named).symbols);
  }

  readonly areBits = (bits: Uint8Array): boolean => this.#calls.are_bits(plain(bits), BigInt(bits.length)) === 1;

  repeatBits(bits: Uint8Array, factor: number): Uint8Array {
    const copies = resultArray<Uint8Array>(Uint8Array, bits.length * factor);
    this.#calls.repeat_bits(plain(bits), plain(copies), BigInt(bits.length), BigInt(factor));
    return copies;
  }

  majorityBits(copies: Uint8Array, factor: number): Uint8Array {
    const bits = resultArray<Uint8Array>(Uint8Array, copies.length / factor);
    this.#calls.majority_bits(plain(copies), plain(bits), BigInt(bits.length), BigInt(factor));
    return bits;
  }

  packBits(bits: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(Math.ceil(bits.length / 8));
    this.#calls.pack_bits(plain(bits), bytes, BigInt(bits.length));
    return bytes;
  }

  unpackBits(bytes: Uint8Array): Uint8Array {
    const bits = new Uint8Array(8 * bytes.length);
    this.#calls.unpack_bits(plain(bytes), bits, BigInt(bits.length));
    return bits;
  }

  crc32(bytes: Uint8Array): number {
    return this.#calls.crc32(plain(bytes), BigInt(bytes.length));
  }

  indexBits(indices: Int32Array, width: number): Uint8Array {
    const bits = new Uint8Array(indices.length * width);
    this.#calls.index_bits(plain(indices), bits, BigInt(indices.length), width);
    return bits;
  }

  bitsIndex(bits: Uint8Array, width: number, size: number, clamp: boolean): { indices: Int32Array; beyond: number } {
    const indices = new Int32Array(bits.length / width), count = BigInt(indices.length);
    return { beyond: this.#calls.bits_index(plain(bits), indices, count, width, size, Number(clamp)), indices };
  }

  differingBits(a: Uint8Array, b: Uint8Array): Uint8Array {
    const differing = new Uint8Array(Math.min(a.length, b.length));
    this.#calls.differing_bits(plain(a), plain(b), differing, BigInt(differing.length));
    return differing;
  }

  failedBlocks(candidate: Uint8Array, reference: Uint8Array, size: number): Uint8Array {
    const failed = new Uint8Array(Math.ceil(reference.length / size));
    const [ours, theirs, block] = [candidate.length, reference.length, size].map(BigInt);
    this.#calls.failed_blocks(plain(candidate), ours, plain(reference), theirs, block, failed);
    return failed;
  }

  modulate(bits: Uint8Array, modulation: Modulation): Float32Array {
    if (modulation !== "bpsk" && modulation !== "qpsk") return this.mapToPoints(bits, POINTS[modulation]);
    const symbols = symbolArray(bits, BITS_PER_SYMBOL[modulation]);
    this.#calls[`modulate_${modulation}`](plain(bits), plain(symbols), BigInt(bits.length));
    return symbols;
  }

  mapToPoints(bits: Uint8Array, points: Float32Array): Float32Array {
    const width = Math.log2(points.length / 2), symbols = symbolArray(bits, width);
    this.#calls.modulate_points(plain(bits), plain(symbols), BigInt(bits.length), plain(points), width);
    return symbols;
  }

  /** In one pass. @throws RangeError when there is not one variance per symbol, and for exact LLRs above QPSK */
  demodulate(
    symbols: Float32Array,
    modulation: Modulation,
    noiseVariance: number | Float32Array,
    { method }: { method?: LlrMethod } = {},
  ): { llr: Float32Array; bits: Uint8Array } {
    const width = BITS_PER_SYMBOL[modulation], unit = UNITS[modulation];
    return this.#demap(symbols, width, noiseVariance, (...pass) => {
      if (modulation === "bpsk" || modulation === "qpsk") return this.#calls[`demodulate_${modulation}`](...pass);
      if (method === "exact") throw new RangeError(`Cannot form exact LLRs of ${modulation} with native kernels`);
      this.#calls.demodulate_square(...pass, width / 2, 4 * unit, 2 * unit);
    });
  }

  demodulateIdentity(symbols: Float32Array, noiseVariance: number | Float32Array) {
    return this.#demap(symbols, 1, noiseVariance, this.#calls.demodulate_identity);
  }

  #demap(
    symbols: Float32Array,
    width: number,
    noiseVariance: number | Float32Array,
    call: (...pass: Parameters<Calls["demodulate_bpsk"]>) => void,
  ) {
    const count = symbols.length / 2;
    const [variances, variance] = typeof noiseVariance === "number" ? [null, noiseVariance] : [plain(noiseVariance), 0];
    if (variances !== null && variances.length !== count) {
      throw new RangeError(`Cannot demodulate ${count} symbols with ${variances.length} noise variances`);
    }
    const llr = resultArray<Float32Array>(Float32Array, count * width);
    const bits = resultArray<Uint8Array>(Uint8Array, llr.length);
    call(plain(symbols), variances, variance, BigInt(count), plain(llr), plain(bits));
    return { llr, bits };
  }

  /** As `generator.integers(0, 2, count, "uint8")`. */
  randomBits(generator: Generator, count: number): Uint8Array {
    const bits = resultArray<Uint8Array>(Uint8Array, count);
    generator.lend((state) => this.#calls.random_bits(state, plain(bits), BigInt(count)));
    return bits;
  }

  /** As `generator.addComplexNormal`: draws the same values and leaves the generator in the same state. */
  addComplexNormal(generator: Generator, symbols: Float32Array, variance: number): Float32Array {
    const scale = partScale(variance), out = resultArray<Float32Array>(Float32Array, symbols.length);
    generator.lend((state) =>
      this.#calls.add_complex_normal(state, plain(symbols), plain(out), BigInt(symbols.length / 2), scale)
    );
    return out;
  }

  /** As `decodeCodeBlock`; pass it to `decodeTransportBlock`. */
  readonly decodeCodeBlock = (
    llr: Float32Array,
    parameters: CodeParameters,
    index: number,
    options: DecoderOptions,
    segment: Uint8Array,
  ): DecodedCodeBlock => {
    const { codedBitsOfBlock, liftingSize, usedBits, fillerBits, codeBlockCrc } = parameters;
    const count = codedBitsOfBlock[index];
    const start = codedBitsOfBlock.slice(0, index).reduce((sum, bits) => sum + bits, 0), end = start + count;
    const { code, rows, columns, bufferBits, sentInformationBits } = bufferLayout(parameters, count);
    const program = decoderProgram(code, rows, usedBits);
    const shape = Int32Array.of(
      parameters.bitsPerSymbol,
      bufferBits,
      sentInformationBits,
      program.length,
      columns,
      liftingSize,
      usedBits,
      fillerBits,
      CRC_KINDS[codeBlockCrc.name],
      options.iterations,
      options.earlyStop === false ? 0 : 1,
    );
    this.#workspace ??= new Uint8Array(this.#calls.nr_ldpc_workspace());
    const outcome = this.#calls.nr_ldpc_decode(
      this.#workspace,
      plain(llr.subarray(start, end)),
      options.scrambling === undefined ? null : plain(options.scrambling.subarray(start, end)),
      count,
      program.words as Int32Array<ArrayBuffer>,
      shape,
      plain(segment),
      segment.length,
    );
    return { crcPassed: outcome >= 0x10000, iterations: outcome & 0xffff };
  };
}

/** The array itself. Calls read shared memory as well, but their types name only memory of one thread. */
function plain(array: Uint8Array | Int32Array | Float32Array) {
  return array as Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
}

const symbolArray = (bits: Uint8Array, width: number): Float32Array =>
  resultArray<Float32Array>(Float32Array, 2 * Math.ceil(bits.length / width));

let kernels: NativeKernels | undefined;

/** The extension of this program, loaded on first use. @throws Error with the reason when it is not available */
export function nativeKernels(): NativeKernels {
  if (kernels !== undefined) return kernels;
  const { available, path, reason } = nativeExtension();
  if (!available) throw new Error(`Cannot load the native extension: ${reason}`);
  return kernels = NativeKernels.open(path!);
}
