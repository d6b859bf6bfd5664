/**
 * HDF5 files, also MATLAB files of version 7.3: numeric arrays of any layout and filter of the library, by h5wasm.
 *
 * Complex numbers are compounds of two floats of one width: (r, i) by h5py, (real, imag) by MATLAB. MATLAB stores the axes in
 * reverse order: arrays with its attribute MATLAB_class get their own order. Links to other files are not followed; virtual
 * arrays and other types have no values here.
 *
 * The library runs in WebAssembly with at most 2 GiB. Its file system holds nothing but the open file, read by range, and
 * devices that cannot be storage of an array. A damaged file can stop the library for good, or keep it in a loop: the program
 * reads each file on a thread of its own, see `hdf5_file.ts`.
 *
 * Format: The HDF Group, "HDF5 File Format Specification", version 3.0.
 */
import { messageOf, SvcError } from "../contract/error.ts";
import { type Dtype, DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import { type ArrayFile, type ArrayLimits, missingArray } from "./array_access.ts";
import type { ByteSource } from "./byte_source.ts";
import { fortranToC } from "./npy.ts";

const MATLAB_CLASS = "MATLAB_class";
/** Names of the types of the library. */
const TYPES = [
  "integer",
  "float",
  "time",
  "text",
  "bits",
  "opaque",
  "compound",
  "reference",
  "enumeration",
  "list",
  "array",
];

const library = async () => (await import("npm:h5wasm@^0.8.11")).ready;
type Library = Awaited<ReturnType<typeof library>>;
type Metadata = ReturnType<Library["get_dataset_metadata"]>;
/** Operations of a stream, which the types of Emscripten leave out. */
type Operations = { stream_ops: object };

/** Buffers of a chunk in a chain of filters, and what the memory of the library grows by beside them, at most. */
const FILTER_BUFFERS = 4, FREE_GROWTH = 2 ** 25;
const MAX_MESSAGE_BYTES = 2 ** 16;
/** Errors of the library's last call. An exception in place of them would not free the stack of the library. */
let messages = "";
let opened = 0;
/** Set by a trap, after which the state of the library is unknown. */
let stopped = false;

/** Loads the library, once a thread. */
export async function loadHdf5(): Promise<Library> {
  const found = await library(), [, , stream] = (found.FS as unknown as { streams: Operations[] }).streams;
  stream.stream_ops = {
    ...stream.stream_ops,
    write(_: unknown, bytes: Int8Array, from: number, length: number): number {
      messages = (messages + new TextDecoder().decode(bytes.slice(from, from + length))).slice(-MAX_MESSAGE_BYTES);
      return length;
    },
  };
  return found;
}

/**
 * Opens a file; arrays are read on request. After the library stopped, this thread opens no other file.
 * @throws SvcError `artifact_archive_invalid`, `artifact_limit_exceeded`
 */
export function openHdf5(
  hdf5: Library,
  source: ByteSource,
  name: string,
  { maxArrays, maxBytes }: ArrayLimits,
): ArrayFile {
  const path = `/${opened++}`;
  const exceeded = (why: string) => new SvcError("artifact_limit_exceeded", `Cannot open ${name}: ${why}`);
  hdf5.FS.writeFile(path, new Uint8Array(0));
  const node = hdf5.FS.lookupPath(path, {}).node as unknown as Operations;
  Object.assign(node, {
    usedBytes: source.size,
    stream_ops: {
      ...node.stream_ops,
      read(_: unknown, target: Int8Array, offset: number, length: number, position: number): number {
        const part = source.at(position, length);
        target.set(part, offset);
        return part.length;
      },
    },
  });
  const cleanUp = new DisposableStack();
  cleanUp.defer(() => hdf5.FS.unlink(path));
  try {
    const file = attempt(() => hdf5.open(path, hdf5.H5F_ACC_RDONLY, false));
    cleanUp.defer(() => stopped || hdf5.close_file(file));
    const isArray = (each: string) => hdf5.get_type(file, each) === hdf5.H5G_DATASET;
    const names = attempt(() => hdf5.get_names(file, "/", true).filter(isArray));
    if (names.length > maxArrays) throw exceeded(`it has more than ${maxArrays} arrays`);
    const known = new Set(names);
    const formOf = (array: string) => {
      if (!known.has(array)) throw missingArray(array, name, names);
      const metadata = attempt(() => hdf5.get_dataset_metadata(file, array));
      const isMatlab = attempt(() => hdf5.get_attribute_names(file, array)).includes(MATLAB_CLASS);
      const stored = metadata.shape ?? [], shape = isMatlab ? stored.toReversed() : stored, dtype = dtypeOf(metadata);
      const largest = Math.max(elementCount(shape), elementCount(metadata.chunks ?? []));
      if (!(largest * metadata.size <= maxBytes)) {
        throw exceeded(`its array ${array} of [${shape.join(", ")}] exceeds ${maxBytes} bytes`);
      }
      return { metadata, isMatlab, shape, dtype };
    };
    return {
      names,
      has: (array) => known.has(array),
      form(array) {
        const { dtype, shape, metadata } = formOf(array);
        return { dtype: dtype ?? TYPES[metadata.type] ?? "unknown", shape };
      },
      array(array): NdArray {
        const { metadata, isMatlab, shape, dtype } = formOf(array);
        if (dtype === null || metadata.virtual_sources !== undefined || metadata.shape === null) {
          const what = dtype === null ? TYPES[metadata.type] ?? "unknown type" : "virtual or empty array";
          throw new SvcError("artifact_archive_unsupported", `Cannot read ${array} of ${name}: it is of ${what}`);
        }
        const { itemSize, slots, make } = DTYPES[dtype], size = elementCount(shape) * itemSize;
        const bytes = new Uint8Array(new ArrayBuffer(size));
        attempt(() => {
          // The library rejects an empty block.
          const before = hdf5.HEAPU8.length, place = hdf5._malloc(Math.max(1, size));
          if (place === 0) throw exceeded(`its array ${array} exceeds the memory of the HDF5 library`);
          try {
            // The library converts to little-endian.
            const status = hdf5.get_dataset_data(file, array, null, null, null, BigInt(place));
            if (status < 0) throw new Error(`the array ${array} is damaged`);
            // A chunk is inflated whole, whatever it declares.
            const chunk = elementCount(metadata.chunks ?? []) * metadata.size;
            if (hdf5.HEAPU8.length - before > FILTER_BUFFERS * Math.max(size, chunk) + FREE_GROWTH) {
              throw new Error(`chunks of the array ${array} hold more than they declare`);
            }
            bytes.set(hdf5.HEAPU8.subarray(place, place + size));
          } finally {
            hdf5._free(place);
          }
        });
        const ordered = isMatlab ? fortranToC(bytes, shape, itemSize) : bytes;
        return { dtype, shape, data: make(ordered.buffer, 0, size / itemSize * slots) };
      },
      [Symbol.dispose]: () => cleanUp.dispose(),
    };
  } catch (error) {
    cleanUp.dispose();
    throw error;
  }

  function trap(): SvcError {
    return new SvcError(
      "artifact_archive_invalid",
      `Cannot open ${name}: it is damaged, the HDF5 library stopped on it`,
      {
        hint: "Write the file again",
      },
    );
  }

  /** A call of the library. */
  function attempt<T>(call: () => T): T {
    if (stopped) throw trap();
    messages = "";
    try {
      const result = call();
      if (messages === "") return result;
    } catch (error) {
      if (error instanceof SvcError) throw error;
      if (error instanceof WebAssembly.RuntimeError) {
        stopped = true;
        throw trap();
      }
      messages ||= messageOf(error);
    }
    // The innermost of the library's calls states the reason.
    const why = [...messages.matchAll(/\(\): (.+)$/gm)].at(-1)?.[1] ?? messages.split("\n")[0];
    throw new SvcError("artifact_archive_invalid", `Cannot open ${name}: ${why.slice(0, 200)}`);
  }
}

/** The type of numbers; null for others. */
function dtypeOf({ type, size, signed, compound_type }: Metadata): Dtype | null {
  if (type === 0) return known(`${signed ? "" : "u"}int${8 * size}`);
  if (type === 1) return known(`float${8 * size}`);
  if (type !== 6 || compound_type?.members.length !== 2) return null;
  const [first, second] = compound_type.members;
  const isPair = /^(r,i|real,imag)$/.test(`${first.name},${second.name}`) && first.offset === 0 &&
    [first, second].every((part) => part.type === 1 && 2 * part.size === size) && second.offset === first.size &&
    first.littleEndian === second.littleEndian;
  return isPair ? known(`complex${8 * size}`) : null;
}

const known = (name: string): Dtype | null => Object.hasOwn(DTYPES, name) ? name as Dtype : null;
