/**
 * The kernels of the native extension; tests compare them with the portable ones bit by bit. A library is loaded on
 * first use, in the thread that uses it; calls neither wait nor start threads.
 */
import { BITS_PER_SYMBOL } from "../link/modulations.ts";
import type { CodeParameters } from "../coding/nr_ldpc/code_parameters.ts";
import type { DecodedCodeBlock, DecoderOptions } from "../coding/nr_ldpc/decoder.ts";
import { CRC_KINDS } from "../coding/nr_ldpc/encoder.ts";
import { bufferLayout, decoderProgram } from "../coding/nr_ldpc/programs.ts";
import { type Generator, partScale } from "../random/random.ts";
import { nativeExtension } from "./extension.ts";

/** Levels of a processor with their requirements; the highest supported one is used. Exported for tests. */
export const LEVELS = ["baseline", "avx2", "avx512"] as const;
export type Level = typeof LEVELS[number];

/** Modulations that the extension maps. */
export type NativeModulation = "bpsk" | "qpsk";

const NOTHING = { parameters: [], result: "i32" } as const;
const INTERFACE = {
  copy_bits: { parameters: ["buffer", "buffer", "usize"], result: "i32" },
  modulate_bpsk: { parameters: ["buffer", "buffer", "usize"], result: "void" },
  modulate_qpsk: { parameters: ["buffer", "buffer", "usize"], result: "void" },
  demodulate_bpsk: { parameters: ["buffer", "buffer", "f64", "usize", "buffer", "buffer"], result: "void" },
  demodulate_qpsk: { parameters: ["buffer", "buffer", "f64", "usize", "buffer", "buffer"], result: "void" },
  add_complex_normal: { parameters: ["buffer", "buffer", "buffer", "usize", "f64"], result: "void" },
  nr_ldpc_workspace: { parameters: [], result: "u32" },
  nr_ldpc_decode: {
    parameters: ["buffer", "buffer", "buffer", "i32", "buffer", "buffer", "buffer", "i32"],
    result: "i32",
  },
} as const satisfies Deno.ForeignLibraryInterface;

type Calls = Deno.StaticForeignLibraryInterface<typeof INTERFACE>;

/** Functions of the extension; each has a portable counterpart. */
export class NativeKernels {
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

  /** A copy of bits, one per byte, or null where a value is neither 0 nor 1. */
  copyBits(bits: Uint8Array): Uint8Array<ArrayBuffer> | null {
    const copy = new Uint8Array(bits.length);
    return this.#calls.copy_bits(plain(bits), copy, BigInt(bits.length)) === 1 ? copy : null;
  }

  /** As `modulate`. */
  modulate(bits: Uint8Array, modulation: NativeModulation): Float32Array<ArrayBuffer> {
    const symbols = new Float32Array(2 * Math.ceil(bits.length / BITS_PER_SYMBOL[modulation]));
    this.#calls[`modulate_${modulation}`](plain(bits), symbols, BigInt(bits.length));
    return symbols;
  }

  /** As `demodulateLlr` and `hardBits`, in one pass. @throws RangeError when there is not one variance per symbol */
  demodulate(
    symbols: Float32Array,
    modulation: NativeModulation,
    noiseVariance: number | Float32Array,
  ): { llr: Float32Array<ArrayBuffer>; bits: Uint8Array<ArrayBuffer> } {
    const count = symbols.length / 2;
    const [variances, variance] = typeof noiseVariance === "number" ? [null, noiseVariance] : [plain(noiseVariance), 0];
    if (typeof noiseVariance !== "number" && noiseVariance.length !== count) {
      throw new RangeError(`Cannot demodulate ${count} symbols with ${noiseVariance.length} noise variances`);
    }
    const length = count * BITS_PER_SYMBOL[modulation];
    const llr = new Float32Array(length), bits = new Uint8Array(length);
    this.#calls[`demodulate_${modulation}`](plain(symbols), variances, variance, BigInt(count), llr, bits);
    return { llr, bits };
  }

  /** As `generator.addComplexNormal`: draws the same values and leaves the generator in the same state. */
  addComplexNormal(generator: Generator, symbols: Float32Array, variance: number): Float32Array<ArrayBuffer> {
    const scale = partScale(variance), out = new Float32Array(symbols.length);
    generator.lend((state) =>
      this.#calls.add_complex_normal(state, plain(symbols), out, BigInt(symbols.length / 2), scale)
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
function plain(array: Uint8Array | Float32Array): Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer> {
  return array as Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
}

let kernels: NativeKernels | undefined;

/** The extension of this program, loaded on first use. @throws Error with the reason when it is not available */
export function nativeKernels(): NativeKernels {
  if (kernels !== undefined) return kernels;
  const { available, path, reason } = nativeExtension();
  if (!available) throw new Error(`Cannot load the native extension: ${reason}`);
  return kernels = NativeKernels.open(path!);
}
