/** Shapes of documents that calls and routes reply with. Replies are open: a later version may add members. */
import type { Diagnostic } from "../contract/error.ts";
import { type Figure, FIGURE_TYPES } from "../figure/types.ts";
import { z } from "../contract/zod.ts";

/** Any JSON object, its numbers typed. */
export const OBJECT = z.record(z.string(), z.unknown());

/** A value of the library in a field: `T` is its type for callers. */
export const valueOf = <T>(description: string): z.ZodType<T, T> =>
  z.unknown().describe(description) as unknown as z.ZodType<T, T>;

/** A document of the library: `T` is its type for clients, `shape` is what the description publishes of it. */
export const documentOf = <T>(shape: z.ZodType = OBJECT): z.ZodType<T> => shape as z.ZodType<T>;

export const FIGURE = z.object({
  plot: z.enum(FIGURE_TYPES),
  name: z.string(),
  figure: documentOf<Figure>(),
  files: z.record(z.string(), z.string()),
});

/** The files of a figure that are texts: specification, SVG, CSV and the record of its sources. */
export const textFiles = (files: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

export const DIAGNOSTIC = documentOf<Diagnostic>(z.object({
  severity: z.enum(["error", "warning", "info"]),
  code: z.string(),
  message: z.string(),
  path: z.string(),
  hint: z.string().nullable(),
  pointer: z.string().optional(),
  step_id: z.string().optional(),
}));

/** The findings in a result. */
export const ownDiagnostics = ({ diagnostics }: { diagnostics: readonly Diagnostic[] }) => diagnostics;
export const ownWarnings = ({ warnings }: { warnings: readonly Diagnostic[] }) => warnings;

/** The findings on a row of a list; each names the row. */
export const rowFindings = (name: string, diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.map((item) => ({ ...item, message: `${name}: ${item.message}` }));

/** A published document with its `warnings`. */
export function withWarnings(document: z.ZodType): z.ZodType {
  const shape = document instanceof z.ZodObject ? document.shape : {};
  return z.looseObject({ warnings: z.array(DIAGNOSTIC), ...shape });
}
