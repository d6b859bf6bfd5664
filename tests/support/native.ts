/** The native extension for tests: built where a compiler is there. */
import { buildNative, findCompiler } from "../../lib/numeric/native/build.ts";
import { needs } from "./needs.ts";

/** Path of the library, or null without a compiler. Resources of tests are checked, so it is loaded outside of them. */
export const NATIVE_LIBRARY: string | null = findCompiler() === null ? null : await buildNative();

/** Options of a test that needs the extension. */
export const needsNative = () => needs("a C++ compiler: CXX, g++ or clang++", NATIVE_LIBRARY);
