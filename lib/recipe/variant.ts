/**
 * The identity of a matrix variant: a digest of its typed coordinates, independent of the recipe's name and the order
 * of dimensions; 6 and 6.0 differ.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import { formatFloat, isObject, type JsonObject, toNumber, typeName, type Value } from "../contract/value.ts";

const CONTRACT = "svc.recipe-matrix-selection.v1";

export function variantId(selection: JsonObject): string {
  const coordinates = sorted(selection).map(([name, value]) => [name, typed(value)]);
  return `mxv1-${sha256Json({ contract: CONTRACT, selection: coordinates })}`;
}

function sorted(object: JsonObject): [string, Value][] {
  return Object.entries(object).sort(([a], [b]) => compareCodePoints(a, b));
}

/** A value with explicit types, so that the digest does not depend on the notation of numbers. */
function typed(value: Value): Value {
  switch (typeName(value)) {
    case "null":
      return ["null"];
    case "boolean":
      return ["boolean", value];
    case "integer":
      return ["integer", String(value)];
    case "number":
      return ["float", formatFloat(toNumber(value as number))];
    case "string":
      return ["string", value];
    case "array":
      return ["array", (value as Value[]).map(typed)];
    case "object":
      return ["object", sorted(value as JsonObject).map(([key, item]) => [key, typed(item)])];
  }
}

/** Declarations of a variant space, in order of precedence. */
export const MATRIX_KEYS = ["matrix", "sweeps", "ui_sweeps"] as const;
export type MatrixKey = typeof MATRIX_KEYS[number];

/** Non-empty declarations of a variant space, in order of precedence. */
export function matrixKeys(metadata: JsonObject): MatrixKey[] {
  return MATRIX_KEYS.filter((key) => key === "matrix" ? (metadata.matrix ?? null) !== null : !isEmpty(metadata[key]));
}

/** Whether a recipe spans several variants, by a matrix or non-empty legacy sweeps. A single run refuses it. */
export function hasUnresolvedMatrix(document: { metadata: JsonObject }): boolean {
  return matrixKeys(document.metadata).length > 0;
}

function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}

/**
 * Checks the recorded coordinates of a concrete variant, and adds a missing id.
 * @returns the metadata, with the id
 * @param diagnostics receives `matrix_selection_mismatch`
 */
export function settleVariant(metadata: JsonObject, diagnostics: Diagnostic[]): JsonObject {
  const selection = metadata.matrix_selection ?? null, id = metadata.matrix_variant_id ?? null;
  if (selection === null && id === null) return metadata;
  const report = (key: string, message: string, hint: string) => {
    diagnostics.push(diagnostic("matrix_selection_mismatch", ["metadata", key], message, { hint }));
    return metadata;
  };
  if (selection === null) {
    return report(
      "matrix_variant_id",
      "Cannot check a variant id without its coordinates",
      "Add metadata.matrix_selection",
    );
  }
  if (!isObject(selection) || Object.keys(selection).length === 0) {
    return report(
      "matrix_selection",
      "Cannot read this value as the coordinates of a variant",
      "Map dimensions to values",
    );
  }
  const expected = variantId(selection);
  if (id === null) return { ...metadata, matrix_variant_id: expected };
  if (id !== expected) {
    return report(
      "matrix_variant_id",
      "Cannot match the variant id with its coordinates",
      `These coordinates have the id ${expected}`,
    );
  }
  return metadata;
}
