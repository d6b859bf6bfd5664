/** Fields of calls. The word after a description stands for the value in the help of the command line: `--older-than <age>`. */
import { FIGURE_FORMATS } from "../figure/types.ts";
import { z } from "../contract/zod.ts";
import type { RecipeInput } from "./authored_recipe.ts";

const words = new WeakMap<z.ZodType, string>();

/** The word for the value of a field, or null. */
export const wordOf = (type: z.ZodType): string | null => words.get(type) ?? null;

function worded<T extends z.ZodType>(type: T, word: string): T {
  words.set(type, word);
  return type;
}

/** How the command line writes a field in another way than by its name. */
interface Written<Flags extends string> {
  flags: Flags;
  description: string;
  /** The value of the field. */
  read?(given: unknown): unknown;
}
/** A field that the command line writes in another way. */
export type WrittenField<Flags extends string = string> = { readonly written: Written<Flags> };
export const writtenAs = (type: z.ZodType): Written<string> | undefined =>
  (type as z.ZodType & Partial<WrittenField>).written;

const onCommandLine = <T extends z.ZodType, const Flags extends string>(
  type: T,
  written: Written<Flags>,
): T & WrittenField<Flags> => Object.assign(type, { written });

export const flag = (description: string) => z.boolean().optional().describe(description);

/** A recipe: a value in a body, the path of a file in a query, a file or `-` on the command line. */
export type RecipeField = z.ZodType<RecipeInput, RecipeInput> & { readonly recipe: true };
const recipe = (description: string): RecipeField =>
  Object.assign(z.unknown().describe(description), { recipe: true }) as unknown as RecipeField;
export const isRecipe = (type: z.ZodType): boolean => "recipe" in type;
export const RECIPE = recipe("authored recipe; 1 and 1.0 are two values");

export const MODE = onCommandLine(
  z.enum(["strict", "compat"]).default("strict").describe("compat accepts older forms of recipes, with warnings"),
  {
    flags: "--compat",
    description: "accept older forms of recipes, with warnings",
    read: (compat) => compat ? "compat" : "strict",
  },
);
export const PLAN_CACHE = onCommandLine(z.boolean().default(true).describe("plan with the cache"), {
  flags: "--no-plan-cache",
  description: "plan without the cache",
});

/** A text that may be left out. */
export const text = (description: string, word = "text") => worded(z.string().optional().describe(description), word);

/** One of several values. */
export const oneOf = <const Value extends string>(description: string, values: readonly Value[], word?: string) => {
  const type = z.enum(values).optional().describe(description);
  return word === undefined ? type : worded(type, word);
};

/** Several texts; with commas on the command line and in queries. */
export const texts = (description: string, word = "ids") =>
  worded(z.array(z.string()).optional().describe(description), word);

/** Values by id; `--where a=1 --where b=2` on the command line, `a=1,b=2` in queries. */
const values = (description: string, word = "id=value") =>
  worded(z.record(z.string(), z.string()).optional().describe(description), word);

/** A folder that is written. */
export const folder = (fallback: string) => worded(z.string().default(fallback).describe("output folder"), "folder");

export const RUN = z.string().describe("id of a run, or a unique prefix of it");
export const RECIPE_NAME = text("only runs of this recipe and of the variants of its matrix", "name");
export const WHERE = values("only runs with these values of a parameter or metric, such as snr_db=6");
export const WORKERS = z.int().min(1).max(32).optional().describe(
  "run up to N steps of a run at once (1-32, default 1)",
);
export const IGNORE_ESTIMATE = flag("run even if the estimate exceeds free memory or disk");
export const LINT = onCommandLine(z.boolean().default(true).describe("lint the recipes before they run"), {
  flags: "--no-lint",
  description: "skip lint",
});
export const DROP = texts("steps whose artifacts are deleted", "steps");
export const DRY_RUN = flag("report what would be done, and change nothing");

/** The reference of differences. */
export const BASELINE = text(
  "series to subtract in a figure of differences: method id, label, or a value that only it has (default: that of the pack)",
  "series",
);

/** The metric of a heat map. */
export const VALUE = text(
  "metric of the cells of a heat map over --x and --y, or the rate beside the points of rate-distortion-perception",
  "id",
);

/** Names and units in a figure. */
export const NAMES = {
  label: values("name of a series in place of its own, by method id or label", "series=text"),
  units: values("unit of an axis in place of its own, by the id that it shows", "id=unit"),
};

/** Files of a figure. */
export const FILES = {
  name: text("name of the files, without extension", "name"),
  format: worded(
    z.array(z.enum(FIGURE_FORMATS)).optional().describe(
      "svg, pdf, pgf (pgfplots) or png, with commas (default: svg,png)",
    ),
    "formats",
  ),
};
