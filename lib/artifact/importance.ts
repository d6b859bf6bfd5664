/** Importance maps: float32 or float64 [image, height, width], finite and at least 0. */
import type { InputArtifact } from "../contract/operation.ts";
import { SvcError } from "../contract/error.ts";

export interface ImportanceMaps {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly data: Float32Array | Float64Array;
}

/**
 * The maps of an artifact, checked.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_value_invalid`
 */
export function importanceOf(input: InputArtifact): ImportanceMaps {
  const { dtype, shape, data } = input.array();
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
