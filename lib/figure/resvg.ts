/** The only import of the rasteriser. Import it lazily: its WebAssembly module has 2.4 MB. */
export { initWasm, Resvg } from "npm:@resvg/resvg-wasm@^2.6.2";

/** The WebAssembly module of the library, from the package cache. */
export async function resvgModule(): Promise<Uint8Array<ArrayBuffer>> {
  return await Deno.readFile(new URL(import.meta.resolve("npm:@resvg/resvg-wasm@^2.6.2/index_bg.wasm")));
}
