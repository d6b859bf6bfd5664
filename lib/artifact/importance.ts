/**
 * Importance maps: float32 or float64 [image, height, width], finite and at least 0. Maps of several sizes are the arrays item_000000,
 * item_000001, … of [height, width].
 */
import type { InputArtifact } from "../contract/operation.ts";
import { SvcError } from "../contract/error.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { holdsItems, itemName } from "./array_items.ts";

/** The map of one image. */
export interface ImportanceMap {
  readonly height: number;
  readonly width: number;
  readonly data: Float32Array | Float64Array;
}
/** Maps of one size. */
interface ImportanceMaps extends ImportanceMap {
  readonly count: number;
}

/**
 * The maps of an artifact, checked, in the order of its images.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_shape_invalid`, `boundary_value_invalid`
 */
export function importanceMapsOf(input: InputArtifact): ImportanceMap[] {
  if (!holdsItems(input.arrayNames.slice(0, 1))) {
    const { count, height, width, data } = checked(input.array()), pixels = height * width;
    return Array.from({ length: count }, (_, index) => {
      return { height, width, data: data.subarray(index * pixels, (index + 1) * pixels) };
    });
  }
  return input.arrayNames.map((name, index) => {
    const array = input.array(name);
    if (name !== itemName(index)) {
      throw new SvcError("boundary_shape_invalid", `Cannot read the array ${name} as importance map ${index}`);
    }
    return checked({ ...array, shape: [1, ...array.shape] });
  });
}

function checked({ dtype, shape, data }: NdArray): ImportanceMaps {
  if (dtype !== "float32" && dtype !== "float64") {
    throw new SvcError("boundary_dtype_invalid", `Cannot use ${dtype} values as importance: it is float32 or float64`);
  }
  if (shape.length !== 3 || shape.includes(0)) {
    throw new SvcError(
      "boundary_rank_invalid",
      `Cannot use the shape [${shape.join(", ")}] as importance maps [image, height, width]`,
    );
  }
  const values = data as Float32Array, wrong = values.findIndex((value) => !(value >= 0 && value < Infinity));
  if (wrong >= 0) {
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot use the importance ${values[wrong]}: it is finite and at least 0`,
    );
  }
  const [count, height, width] = shape;
  return { count, height, width, data: values };
}
