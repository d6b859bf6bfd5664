/**
 * Image codecs of other projects as WebAssembly from npm. A codec computes the same bytes on every machine: one thread, no
 * clock, no files. It reads untrusted bytes in its own memory only; after a failure this memory is dropped.
 */
import { messageOf, SvcError } from "../contract/error.ts";

/** An instance: the embind functions of a package's encoder or decoder. */
export interface CodecInstance {
  encode(rgba: Uint8Array, width: number, height: number, options: object): Uint8Array | null;
  decode(file: ArrayBuffer, bitDepth?: number): { width: number; height: number; data: Uint8ClampedArray } | null;
}

type Factory = (options: Record<string, unknown>) => Promise<CodecInstance>;

/** A codec that is compiled at its first use. */
export class WasmCodec {
  #instance: Promise<CodecInstance> | undefined;
  #module: Promise<WebAssembly.Module> | undefined;
  readonly #name: string;
  readonly #glue: () => Promise<{ default: unknown }>;
  readonly #binary: string;

  /**
   * @param name for messages
   * @param glue imports the package's loader
   * @param binary URL of its WebAssembly
   */
  constructor(name: string, glue: () => Promise<{ default: unknown }>, binary: string) {
    this.#name = name;
    this.#glue = glue;
    this.#binary = binary;
  }

  /** @throws SvcError `runtime_unavailable` without the package, or without permission to read it */
  ready(): Promise<CodecInstance> {
    return this.#instance ??= this.#start().catch((error) => {
      this.#module = this.#instance = undefined;
      throw new SvcError("runtime_unavailable", `Cannot start the ${this.#name} codec: ${messageOf(error)}`, {
        hint: "Run deno cache on the program, and allow it to read its dependencies",
      });
    });
  }

  /** Drops the memory of the instance; the next use starts another one. */
  drop(): void {
    this.#instance = undefined;
  }

  async #start(): Promise<CodecInstance> {
    this.#module ??= Deno.readFile(new URL(this.#binary)).then((bytes) => WebAssembly.compile(bytes));
    const [{ default: factory }, module] = await Promise.all([this.#glue(), this.#module]);
    const instantiateWasm = (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => {
      const instance = new WebAssembly.Instance(module, imports);
      done(instance);
      return instance.exports;
    };
    const silent = () => {};
    return await (factory as Factory)({ noInitialRun: true, print: silent, printErr: silent, instantiateWasm });
  }
}

/** Grey or RGB samples as RGBA without transparency. */
export function rgbaOf({ data, channels }: { data: Uint8Array; channels: number }): Uint8Array {
  const pixels = data.length / channels, rgba = new Uint8Array(4 * pixels).fill(255);
  for (let at = 0; at < pixels; at++) {
    for (let c = 0; c < 3; c++) rgba[4 * at + c] = data[at * channels + c % channels];
  }
  return rgba;
}

/** RGBA samples as RGB, or as the rounded mean of the three for a grey image. */
export function samplesOf(rgba: ArrayLike<number>, channels: 1 | 3): Uint8Array {
  const pixels = rgba.length / 4, data = new Uint8Array(channels * pixels);
  for (let at = 0; at < pixels; at++) {
    const [r, g, b] = [rgba[4 * at], rgba[4 * at + 1], rgba[4 * at + 2]];
    if (channels === 1) data[at] = Math.round((r + g + b) / 3);
    else data.set([r, g, b], 3 * at);
  }
  return data;
}
