/** Element types and shapes of an artifact's arrays, by kind. */
import { SvcError } from "../contract/error.ts";
import {
  type ArtifactKind,
  BITS,
  CODED_BITS,
  DEMOD_BITS,
  FRAMED_BITS,
  IMAGES,
  INDICES,
  LATENTS,
  LLR,
  PAYLOAD_BITS,
  RX_SYMBOLS,
  SYMBOLS,
} from "../contract/kinds.ts";
import type { OutputArtifact } from "../contract/operation.ts";
import type { Dtype, NdArray } from "../numeric/array/ndarray.ts";

/** One form of an array. */
export interface ArrayForm {
  dtypes: readonly Dtype[];
  /** Names of the axes; a last axis "…" matches any further axes. */
  axes: readonly string[];
}

const BIT_STREAM: readonly ArrayForm[] = [{ dtypes: ["uint8"], axes: ["n"] }];
const INTEGERS: readonly Dtype[] = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"];
const SYMBOL_STREAM: readonly ArrayForm[] = [
  { dtypes: ["complex64"], axes: ["n"] },
  { dtypes: ["float32"], axes: ["n"] },
  { dtypes: ["float32"], axes: ["n", "d"] },
];

/**
 * Forms of the main array, for the kinds that external code returns; other kinds have the form that their operation
 * names.
 */
export const KIND_FORMS: Readonly<Record<ArtifactKind, readonly ArrayForm[]>> = {
  [PAYLOAD_BITS]: BIT_STREAM,
  [CODED_BITS]: BIT_STREAM,
  [FRAMED_BITS]: BIT_STREAM,
  [DEMOD_BITS]: BIT_STREAM,
  [BITS]: BIT_STREAM,
  [LLR]: [{ dtypes: ["float32"], axes: ["n"] }],
  [SYMBOLS]: SYMBOL_STREAM,
  [RX_SYMBOLS]: SYMBOL_STREAM,
  [IMAGES]: [{ dtypes: ["uint8", "float32"], axes: ["count", "height", "width", "channels"] }],
  [INDICES]: [{ dtypes: INTEGERS, axes: ["n", "…"] }],
  [LATENTS]: [{ dtypes: ["float32"], axes: ["n", "…"] }],
};

/**
 * Whether an array has one of the forms.
 * @param sizes known sizes of axes, by name
 */
export function hasForm(
  { dtype, shape }: Pick<NdArray, "dtype" | "shape">,
  forms: readonly ArrayForm[],
  sizes: Readonly<Record<string, number>> = {},
): boolean {
  return forms.some(({ dtypes, axes }) => {
    const open = axes.at(-1) === "…", fixed = open ? axes.slice(0, -1) : axes;
    return dtypes.includes(dtype) && (open ? shape.length >= fixed.length : shape.length === fixed.length) &&
      fixed.every((name, axis) => sizes[name] === undefined || sizes[name] === shape[axis]);
  });
}

/**
 * Checks the main array of an output against the forms of its kind.
 * @throws SvcError `output_kind_mismatch`, with the forms as its hint
 */
export function checkForm(port: string, kind: ArtifactKind, { array }: Pick<OutputArtifact, "array">): void {
  const forms = KIND_FORMS[kind];
  if (forms === undefined || array === undefined || hasForm(array, forms)) return;
  const { dtype, shape } = array;
  throw new SvcError("output_kind_mismatch", `Cannot store ${port} as ${kind}: it is ${dtype} [${shape.join(", ")}]`, {
    hint: `Expected: ${formText(forms)}`,
  });
}

/** Forms as text: `complex64 [n]; or float32 [n, d]`. */
export function formText(forms: readonly ArrayForm[], sizes: Readonly<Record<string, number>> = {}): string {
  const axis = (name: string) => sizes[name] === undefined ? name : `${name} = ${sizes[name]}`;
  return forms.map(({ dtypes, axes }) => `${dtypes.join(" or ")} [${axes.map(axis).join(", ")}]`).join("; or ");
}
