/**
 * onnxruntime-node, the optional native runtime. It is faster on large networks, and its results differ from those of
 * the portable engine in the last digits of binary32 (`ACCELERATOR_TOLERANCE`). It runs native code in the calling
 * thread, without a sandbox, with one thread unless an operation asks for more, so that results do not depend on the number
 * of processors.
 */
import { messageOf, SvcError } from "../contract/error.ts";
import { type Engine, engineOf, type OrtModule } from "./engine.ts";

/** Not a literal import: the 290 MB are fetched on request, not with the program. */
const PACKAGE = "npm:onnxruntime-node@1.30.0";

/** Tolerance between the two runtimes, for networks of ordinary depth. Exported for tests. */
export const ACCELERATOR_TOLERANCE = { atol: 1e-6, rtol: 1e-5 };

const engines = new Map<number, Promise<Engine>>();

/** @throws SvcError `runtime_unavailable` without the package or the permission to load it */
export function acceleratedEngine(threads: number): Promise<Engine> {
  let engine = engines.get(threads);
  if (engine === undefined) {
    engine = start(threads).catch((error) => {
      engines.delete(threads);
      throw error;
    });
    engines.set(threads, engine);
  }
  return engine;
}

const NO_LIBRARIES = {
  reason: "native libraries may not be loaded",
  hint: "Run with --allow-ffi, or without the accelerator",
};
const NO_PACKAGE_HINT = `Run deno cache ${PACKAGE}, or run without the accelerator`;

/** The reason why the runtime cannot be used here; null where it can. */
export function acceleratorLack(): { reason: string; hint: string; fetch?: string } | null {
  if (Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return NO_LIBRARIES;
  // Deno names no folder of a package that no module imports; the portable runtime lies beside it.
  const beside = import.meta.resolve("npm:onnxruntime-web@1.30.0/wasm");
  try {
    Deno.statSync(new URL(beside.replace(/onnxruntime-web\/.*$/, "onnxruntime-node/1.30.0/package.json")));
    return null;
  } catch {
    return { reason: "its package is not on this machine", hint: NO_PACKAGE_HINT, fetch: `deno cache ${PACKAGE}` };
  }
}

async function start(threads: number): Promise<Engine> {
  const refuse = (reason: string, hint: string) =>
    new SvcError("runtime_unavailable", `Cannot run models on onnxruntime-node: ${reason}`, { hint });
  if ((await Deno.permissions.query({ name: "ffi" })).state !== "granted") {
    throw refuse(NO_LIBRARIES.reason, NO_LIBRARIES.hint);
  }
  try {
    const ort = await import(PACKAGE) as OrtModule;
    return withoutFloat16(engineOf(ort, { intraOpNumThreads: threads, interOpNumThreads: 1 }));
  } catch (error) {
    throw refuse(messageOf(error), NO_PACKAGE_HINT);
  }
}

/** The binding does not support float16 arrays here. */
function withoutFloat16(engine: Engine): Engine {
  return {
    async open(model) {
      const session = await engine.open(model);
      const half = [...session.inputs, ...session.outputs].find(({ dtype }) => dtype === "float16");
      if (half === undefined) return session;
      await session.release();
      throw new TypeError(
        `${half.name} is float16, which onnxruntime-node does not support; run without the accelerator`,
      );
    },
  };
}
