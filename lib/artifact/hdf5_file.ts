/**
 * Reads an HDF5 file on a thread of its own, which ends with it: a file that stops the library, or takes too long, is an
 * error of that file alone. Where the runtime can restrict threads, this one may read that file and nothing else.
 */
import { type Code, SvcError } from "../contract/error.ts";
import { canRestrictWorkers } from "../contract/isolation.ts";
import { Thread } from "../numeric/parallel/thread.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { type ArrayFile, type ArrayLimits, missingArray } from "./array_access.ts";
import type { ByteSource } from "./byte_source.ts";

/** The error of a file or of an array, as a message. */
export interface Refusal {
  code: Code;
  message: string;
  hint: string | null;
}
export type Hdf5Form = ReturnType<ArrayFile["form"]> | Refusal;
/** What the thread is asked. */
export interface Hdf5Request {
  file: Uint8Array | { path: string; size: number };
  name: string;
  wanted: readonly string[];
  limits: ArrayLimits;
  timeoutMs: number;
}
/** Forms of all arrays, and values of those that were wanted. */
export interface Hdf5Contents {
  forms: Map<string, Hdf5Form>;
  values: Map<string, NdArray | Refusal>;
}
export type Hdf5Reply = Hdf5Contents | Refusal;

/** Time of the library for a file, beyond that of any file within the limits. */
const TIMEOUT_MS = 120_000;
/** For the start of the thread, and for the library to be interrupted. */
const MARGIN_MS = 60_000;

/**
 * Reads forms, and the values of the wanted arrays. The values of other arrays are not in the result.
 * @throws SvcError `artifact_archive_invalid` also for a file that stops the library, `artifact_limit_exceeded` also for one
 *   that takes longer than the time, `runtime_unavailable` when the thread does not start
 */
export async function readHdf5(
  source: ByteSource,
  name: string,
  { wanted, limits, timeoutMs = TIMEOUT_MS }: {
    wanted: readonly string[];
    limits: ArrayLimits;
    timeoutMs?: number;
  },
): Promise<ArrayFile> {
  const { path, size } = source;
  const file = path === undefined ? source.at(0, size) : { path, size };
  const reply = await ask({ file, name, wanted, limits, timeoutMs });
  if ("code" in reply) throw errorOf(reply);
  const { forms, values } = reply, names = [...forms.keys()];
  const formOf = (array: string) => {
    const form = forms.get(array);
    if (form === undefined) throw missingArray(array, name, names);
    if ("code" in form) throw errorOf(form);
    return form;
  };
  return {
    names,
    has: (array) => forms.has(array),
    form: formOf,
    array(array) {
      formOf(array);
      const found = values.get(array);
      if (found === undefined) throw new TypeError(`the values of ${array} were not asked for`);
      if ("code" in found) throw errorOf(found);
      return found;
    },
    [Symbol.dispose]() {},
  };
}

const errorOf = ({ code, message, hint }: Refusal) => new SvcError(code, message, { hint });

async function ask(request: Hdf5Request): Promise<Hdf5Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Hdf5Reply>();
  const { file, name } = request, read = file instanceof Uint8Array ? false : [file.path];
  const unavailable = (why: string) =>
    new SvcError("runtime_unavailable", `Cannot open ${name}: the HDF5 library did not start: ${why}`);
  const permissions = await canRestrictWorkers() ? { read } : undefined;
  const thread = new Thread(new URL("./hdf5_worker.ts", import.meta.url), { name: "svc hdf5", permissions });
  const timer = setTimeout(() => reject(unavailable("it does not answer")), request.timeoutMs + MARGIN_MS);
  try {
    thread.port.onmessage = ({ data }: MessageEvent<Hdf5Reply>) => resolve(data);
    thread.onerror = (message) => reject(unavailable(message));
    thread.port.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    thread.end();
  }
}
