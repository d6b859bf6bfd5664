/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The thread that reads one HDF5 file; see `hdf5_file.ts`. */
import { Script } from "node:vm";
import { messageOf, SvcError } from "../contract/error.ts";
import { serveStarter } from "../numeric/parallel/thread.ts";
import { bytesOf, type NdArray } from "../numeric/array/ndarray.ts";
import { type ByteSource, fileSource, memorySource } from "./byte_source.ts";
import { loadHdf5, openHdf5 } from "./hdf5.ts";
import type { Hdf5Contents, Hdf5Form, Hdf5Reply, Hdf5Request, Refusal } from "./hdf5_file.ts";

const refusal = (error: unknown): Refusal => {
  if (error instanceof SvcError) return { code: error.code, message: error.message, hint: error.hint };
  throw error;
};
const attempt = <T>(call: () => T): T | Refusal => {
  try {
    return call();
  } catch (error) {
    return refusal(error);
  }
};

const send = serveStarter<Hdf5Request, Hdf5Reply>(async (request) => {
  const reply = await answer(request).catch((error): Refusal =>
    error instanceof SvcError ? refusal(error) : {
      code: "artifact_archive_invalid",
      message: `Cannot open ${request.name}: ${messageOf(error)}`,
      hint: null,
    }
  );
  const values = "values" in reply ? [...reply.values.values()] : [];
  send(reply, values.flatMap((each) => "code" in each ? [] : [bytesOf(each).buffer]));
});

async function answer({ file, name, wanted, limits, timeoutMs }: Hdf5Request): Promise<Hdf5Reply> {
  const hdf5 = await loadHdf5();
  using opened = new DisposableStack();
  const source: ByteSource = file instanceof Uint8Array
    ? memorySource(file)
    : opened.use(fileSource(file.path, file.size, name));
  return within(timeoutMs, name, (): Hdf5Contents => {
    using arrays = openHdf5(hdf5, source, name, limits);
    const forms = new Map<string, Hdf5Form>(), values = new Map<string, NdArray | Refusal>();
    for (const array of arrays.names) forms.set(array, attempt(() => arrays.form(array)));
    for (const array of wanted) if (arrays.has(array)) values.set(array, attempt(() => arrays.array(array)));
    return { forms, values };
  });
}

/** Ends a thread's own code after a time: the termination of a worker does not stop a loop, the watchdog of `node:vm` does. */
function within<T>(timeoutMs: number, name: string, body: () => T): T {
  Object.assign(globalThis, { readFile: body });
  const started = performance.now();
  const exceeded = () =>
    new SvcError("artifact_limit_exceeded", `Cannot open ${name}: reading it takes longer than ${timeoutMs / 1000} s`, {
      hint: "Split the file, or write it again when it is damaged",
    });
  try {
    const result = new Script("readFile()").runInThisContext({ timeout: Math.max(1, timeoutMs) }) as T;
    if (performance.now() - started >= timeoutMs) throw exceeded();
    return result;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") throw exceeded();
    throw error;
  }
}
