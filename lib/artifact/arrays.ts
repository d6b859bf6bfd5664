/**
 * The named arrays of an artifact, checked against an expected dtype and shape. A shape has numbers for fixed sizes and
 * names for sizes that must agree in all arrays.
 *
 *     const problem = arraysOf(inputs.problem);
 *     const ranges = problem.read("float64", ["example", "anchor"]);
 *     const anchors = problem.read("float64", ["example", "anchor", 2], "anchors");
 *     problem.size("example")
 */
import { SvcError } from "../contract/error.ts";
import type { InputArtifact } from "../contract/operation.ts";
import type { Dtype, TypedData } from "../numeric/array/ndarray.ts";

/** TypedArray of a dtype; complex values are interleaved. */
interface DataOf {
  uint8: Uint8Array;
  int32: Int32Array;
  int64: BigInt64Array;
  float32: Float32Array;
  float64: Float64Array<ArrayBuffer>;
  complex64: Float32Array;
  complex128: Float64Array<ArrayBuffer>;
}
export type ReadDtype = keyof DataOf;

export class NamedArrays {
  readonly #sizes: Map<string, number>;

  constructor(readonly input: InputArtifact, sizes: Map<string, number> = new Map()) {
    this.#sizes = sizes;
  }

  /** Another artifact with the same named sizes. */
  beside(input: InputArtifact): NamedArrays {
    return new NamedArrays(input, this.#sizes);
  }

  /**
   * The data of an array.
   * @param name default the main array
   * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_shape_invalid`,
   *   `boundary_non_finite`, or as `InputArtifact.array` for an unknown name
   */
  read<D extends ReadDtype>(dtype: D, shape: readonly (number | string)[], name?: string): DataOf[D] {
    const array = this.input.array(name), what = `${name ?? this.input.arrayNames[0]} of ${this.input.kind}`;
    if (array.dtype !== dtype) {
      throw new SvcError("boundary_dtype_invalid", `Cannot read ${array.dtype} data as ${what}: it is ${dtype}`);
    }
    if (array.shape.length !== shape.length) {
      throw new SvcError(
        "boundary_rank_invalid",
        `Cannot read ${array.shape.length} dimensions as ${what}: it has the shape [${shape.join(", ")}]`,
      );
    }
    shape.forEach((expected, axis) => {
      const found = array.shape[axis], known = typeof expected === "number" ? expected : this.#sizes.get(expected);
      if (known === undefined) this.#sizes.set(expected as string, found);
      else if (known !== found) {
        const meant = typeof expected === "number" ? `${expected}` : `${expected} = ${known}`;
        throw new SvcError(
          "boundary_shape_invalid",
          `Cannot read the shape [${array.shape.join(", ")}] as ${what}: axis ${axis} is ${meant}`,
        );
      }
    });
    checkFinite(array.data, array.dtype, what);
    return array.data as DataOf[D];
  }

  /** A named size; an array that has it must be read before. */
  size(name: string): number {
    const size = this.#sizes.get(name);
    if (size === undefined) throw new TypeError(`No array with the size ${name} was read`);
    return size;
  }
}

export function arraysOf(input: InputArtifact): NamedArrays {
  return new NamedArrays(input);
}

function checkFinite(data: TypedData, dtype: Dtype, what: string): void {
  if (!dtype.startsWith("float") && !dtype.startsWith("complex")) return;
  const values = data as Float64Array;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) {
      throw new SvcError("boundary_non_finite", `Cannot read ${what}: value ${i} is ${values[i]}`);
    }
  }
}
