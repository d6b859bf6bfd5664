/** The native extension for tests: built where a compiler is there, and a loud skip where none is. */
import { buildNative, findCompiler } from "../../lib/numeric/native/build.ts";

const compiler = findCompiler();
if (compiler === null) {
  console.warn("SKIPPED: tests of the native extension need a C++ compiler, and neither CXX, g++ nor clang++ is here");
}

/** Path of the library, or null without a compiler. Resources of tests are checked, so it is loaded outside of them. */
export const NATIVE_LIBRARY: string | null = compiler === null ? null : await buildNative();

/** Options of a test that needs the extension. */
export const NEEDS_NATIVE = { ignore: NATIVE_LIBRARY === null };
