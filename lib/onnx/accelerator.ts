/**
 * onnxruntime-node, the optional native runtime. It is faster on large networks, and its results differ from those of
 * the portable engine in the last digits of binary32 (`ACCELERATOR_TOLERANCE`). It runs native code in the calling
 * thread, without a sandbox, with one thread, so that results do not depend on the number of processors.
 */
import { messageOf, SvcError } from "../contract/error.ts";
import { type Engine, engineOf, type OrtModule } from "./engine.ts";

/** Not a literal import: the 290 MB are fetched on request, not with the program. */
const PACKAGE = "npm:onnxruntime-node@1.30.0";

/** Tolerance between the two runtimes, for networks of ordinary depth. Exported for tests. */
export const ACCELERATOR_TOLERANCE = { atol: 1e-6, rtol: 1e-5 };

let engine: Promise<Engine> | undefined;

/** @throws SvcError `runtime_unavailable` without the package or the permission to load it */
export function acceleratedEngine(): Promise<Engine> {
  return engine ??= start().catch((error) => {
    engine = undefined;
    throw error;
  });
}

async function start(): Promise<Engine> {
  const refuse = (reason: string, hint: string) =>
    new SvcError("runtime_unavailable", `Cannot run models on onnxruntime-node: ${reason}`, { hint });
  if ((await Deno.permissions.query({ name: "ffi" })).state !== "granted") {
    throw refuse("native libraries may not be loaded", "Run with --allow-ffi, or without the accelerator");
  }
  try {
    const ort = await import(PACKAGE) as OrtModule;
    return withoutFloat16(engineOf(ort, { intraOpNumThreads: 1, interOpNumThreads: 1 }));
  } catch (error) {
    throw refuse(messageOf(error), `Run deno cache ${PACKAGE}, or run without the accelerator`);
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
