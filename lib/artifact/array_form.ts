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
import type { Dtype, NdArray, TypedData } from "../numeric/array/ndarray.ts";

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

/** Forms of an item, of the kinds whose items may differ in shape: all axes but the first, the number of items. */
const ITEM_FORMS: Readonly<Record<string, readonly ArrayForm[]>> = {
  [IMAGES]: KIND_FORMS[IMAGES].map(({ dtypes, axes }) => ({ dtypes, axes: axes.slice(1) })),
  "semantic.importance_map.numpy": [{ dtypes: ["float32"], axes: ["height", "width"] }],
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
export function checkForm(
  port: string,
  kind: ArtifactKind,
  { array, items }: Pick<OutputArtifact, "array" | "items">,
): void {
  const forms = items === undefined ? KIND_FORMS[kind] : ITEM_FORMS[kind] ?? [];
  const wrong = (items ?? (array === undefined ? [] : [array])).find((each) => forms && !hasForm(each, forms));
  if (wrong === undefined) return;
  const { dtype, shape } = wrong;
  throw new SvcError("output_kind_mismatch", `Cannot store ${port} as ${kind}: it is ${dtype} [${shape.join(", ")}]`, {
    hint: forms.length === 0 ? "Only images and importance maps may differ in shape" : `Expected: ${formText(forms)}`,
  });
}

/** Forms as text: `complex64 [n]; or float32 [n, d]`. */
export function formText(forms: readonly ArrayForm[], sizes: Readonly<Record<string, number>> = {}): string {
  const axis = (name: string) => sizes[name] === undefined ? name : `${name} = ${sizes[name]}`;
  return forms.map(({ dtypes, axes }) => `${dtypes.join(" or ")} [${axes.map(axis).join(", ")}]`).join("; or ");
}

/** Kinds of one bit an element. */
const BIT_KINDS: ReadonlySet<ArtifactKind> = new Set([PAYLOAD_BITS, CODED_BITS, FRAMED_BITS, DEMOD_BITS, BITS]);
/** Kinds whose numbers are finite. An LLR may be infinite, where a bit is certain; a latent may be, where bits were wrong. */
const FINITE_KINDS: ReadonlySet<ArtifactKind> = new Set([SYMBOLS, RX_SYMBOLS, IMAGES]);

/**
 * Checks the values of the main array of an output, or of a block of it: bits are 0 or 1, symbols and pixels finite, LLRs
 * numbers.
 * @param offset elements before the block
 * @throws SvcError `output_value_invalid` with the first wrong element
 */
export function checkContents(port: string, kind: ArtifactKind, data: TypedData, offset = 0): void {
  const [holds, expected] = BIT_KINDS.has(kind)
    ? [(value: number) => value <= 1, "0 or 1"] as const
    : FINITE_KINDS.has(kind)
    ? [Number.isFinite, "finite"] as const
    : kind === LLR
    ? [(value: number) => !Number.isNaN(value), "a number"] as const
    : [null, ""] as const;
  if (holds === null || isSound(kind, data)) return;
  const at = (data as Float32Array).findIndex((value) => !holds(value));
  throw new SvcError("output_value_invalid", `Cannot store ${port} as ${kind}: element ${offset + at} is ${data[at]}`, {
    hint: `Every element of this kind is ${expected}`,
  });
}

/** Whether all values hold: one pass over the bits of the numbers, without branches. */
function isSound(kind: ArtifactKind, data: TypedData): boolean {
  if (data instanceof Uint8Array) return !BIT_KINDS.has(kind) || areBits(data);
  if (data instanceof Float64Array) return data.every(kind === LLR ? (value) => value === value : Number.isFinite);
  if (!(data instanceof Float32Array)) return true;
  const words = new Int32Array(data.buffer, data.byteOffset, data.length);
  return (kind === LLR ? nanSigns(words) : infiniteSigns(words)) >= 0;
}

/** Negative where a binary32 has only ones in its exponent: it is infinite or no number. */
function infiniteSigns(words: Int32Array): number {
  let signs = 0;
  for (let i = 0; i < words.length; i++) signs |= (words[i] & 0x7f800000) + 0x00800000;
  return signs;
}

/** Negative where a binary32 is no number: its magnitude lies above that of infinity. */
function nanSigns(words: Int32Array): number {
  let signs = 0;
  for (let i = 0; i < words.length; i++) signs |= 0x7f800000 - (words[i] & 0x7fffffff);
  return signs;
}

/** Whether each byte is 0 or 1; four at a time. */
function areBits(data: Uint8Array): boolean {
  const head = Math.min(data.length, -data.byteOffset & 3), words = (data.length - head) >> 2;
  let seen = 0;
  for (let i = 0; i < head; i++) seen |= data[i];
  const whole = new Uint32Array(data.buffer, data.byteOffset + head, words);
  for (let i = 0; i < words; i++) seen |= whole[i];
  for (let i = head + 4 * words; i < data.length; i++) seen |= data[i];
  return (seen & 0xfefefefe) === 0;
}
