/** Recipes: files to read and save, and every view of a recipe without a run. */
import { codeRow } from "../../contract/codes.ts";
import { type Diagnostic, SvcError } from "../../contract/error.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import type { ExecutionPlan, PlanCacheEvidence } from "../../plan/types.ts";
import type { RecipeChange } from "../../recipe/diff.ts";
import { expansionDocument } from "../../recipe/expand_matrix.ts";
import type { CompileMode, RecipeDocument } from "../../recipe/types.ts";
import { type RecipeSpecs, recipeSpecs } from "../../research/specs.ts";
import type { RunEstimate } from "../../run/run_estimate.ts";
import { AuthoredRecipe } from "../../api/authored_recipe.ts";
import type { RecipeFileRow } from "../../api/recipes.ts";
import type { Session } from "../../api/session.ts";
import { RECIPE_FILE } from "../call_routes.ts";
import { readRecipeAt } from "../recipe_file.ts";
import { saveRecipe } from "../recipe_save.ts";
import { Answer, get, post } from "../route.ts";
import { DIAGNOSTIC, documentOf, MODE, OBJECT, RECIPE, refusals, reply, STRICT_LINT } from "../schemas.ts";

const PATH = z.strictObject({ path: RECIPE_FILE });
const BODY = z.strictObject({ recipe: RECIPE });
const MATRIX = z.object({ canonical_matrix: OBJECT.nullable() });
const VALIDATION = z.object({
  status: z.string(),
  mode: MODE,
  defaults_materialized: z.boolean(),
  diagnostics: z.array(DIAGNOSTIC),
});
const VALID = z.object({
  status: z.enum(["valid"]),
  recipe: documentOf<RecipeDocument>(),
  validation: VALIDATION,
  effective: documentOf<RecipeDocument>(),
  specs: documentOf<RecipeSpecs>(),
  seed_policy: documentOf<JsonObject>(),
});
/** Completed runs that an estimate of time reads. */
const PAST_RUNS = 5;

export const recipeRoutes = [
  get("/api/recipes", "The recipes of the project and of the program", {
    replies: {
      200: reply(
        "All of recipes/ in both, each with its place and problems",
        z.object({ recipes: z.array(documentOf<RecipeFileRow>()) }),
      ),
    },
    thread: async ({ session }) => ({ recipes: await session.recipes.list() }),
  }),
  get("/api/recipe", "A recipe file, decoded", {
    description: "file_sha256 is the ETag: send it as If-Match when saving.",
    stable: true,
    query: PATH,
    replies: {
      200: reply(
        "The authored recipe",
        z.object({ path: z.string(), recipe: documentOf<JsonObject>(z.unknown()), file_sha256: z.string() }),
      ),
      ...refusals(400, 403, 404),
    },
    async thread({ query: { path }, session }) {
      const { value, sha256 } = await readRecipeAt(session, path);
      return new Answer({ path, recipe: value, file_sha256: sha256 }, { headers: { etag: `"${sha256}"` } });
    },
  }),
  get("/api/recipe/graph", "The graph of a recipe file", {
    query: PATH,
    replies: {
      200: reply(
        "Nodes and edges",
        z.object({ schema_version: z.int(), recipe: z.string(), nodes: z.array(OBJECT), edges: z.array(OBJECT) }),
      ),
      ...refusals(400, 403, 404),
    },
    thread: async ({ query, session }) =>
      session.recipes.graph(await readRecipeAt(session, query.path), { mode: "compat" }),
  }),
  get("/api/recipe/matrix", "The matrix of a recipe file", {
    query: PATH,
    replies: { 200: reply("The canonical matrix, or null", MATRIX), ...refusals(400, 403, 404) },
    async thread({ query, session }) {
      const { canonical_matrix } = await expanded(session, await readRecipeAt(session, query.path));
      return { canonical_matrix };
    },
  }),
  post("/api/recipe/matrix/expand", "The concrete recipes of a matrix", {
    writes: false,
    body: BODY,
    replies: {
      200: reply(
        "Recipes in matrix order",
        MATRIX.extend({ recipe: OBJECT, expanded_count: z.int(), recipes: z.array(documentOf<RecipeDocument>()) }),
      ),
      ...refusals(400),
    },
    thread: ({ body, session }) => expanded(session, posted(body.recipe)),
  }),
  post("/api/recipe/validate", "Strict validation of a recipe; nothing is written", {
    writes: false,
    body: BODY.extend({ mode: MODE.default("strict") }),
    replies: {
      200: reply("The recipe in its forms", VALID),
      ...refusals(400),
    },
    thread: ({ body, session }) => validated(session, posted(body.recipe), body.mode),
  }),
  post("/api/recipe/check", "The findings on a recipe in any state, its forms, and what its runs need", {
    description: "For editors: a recipe that is refused is answered too. Nothing is written.",
    writes: false,
    body: BODY.extend({
      mode: MODE.default("strict"),
      plan: z.boolean().default(true).describe("whether a valid recipe is planned too"),
    }),
    replies: {
      200: reply(
        "What is known of the recipe",
        z.object({
          status: z.enum(["valid", "invalid"]),
          diagnostics: z.array(DIAGNOSTIC).describe("of the recipe and of its plan"),
          forms: VALID.nullable(),
          estimate: documentOf<RunEstimate>().nullable().describe("null where there is no plan"),
        }),
      ),
      ...refusals(400),
    },
    thread: ({ body, session }) => checked(session, posted(body.recipe), body),
  }),
  post("/api/recipe/lint", "The findings on links, powers and rates of a recipe", {
    writes: false,
    body: BODY,
    replies: {
      200: reply(
        "The report, passed or failed",
        z.object({ schema_version: z.int(), status: z.enum(["passed", "failed"]), issues: z.array(DIAGNOSTIC) }),
      ),
      ...refusals(400),
    },
    thread: ({ body, session }) => session.recipes.lint(posted(body.recipe)),
  }),
  post("/api/recipe/plan", "The execution plan of a recipe; nothing is written", {
    description: "Of a recipe with a matrix: the plan of its first point, and the findings about all points.",
    writes: false,
    body: BODY.extend({ mode: MODE.default("strict"), strict_lint: STRICT_LINT }),
    replies: {
      200: reply(
        "The plan of a run",
        z.object({
          plan: documentOf<ExecutionPlan>(),
          cache: documentOf<PlanCacheEvidence>(),
          diagnostics: z.array(DIAGNOSTIC),
        }),
      ),
      ...refusals(400),
    },
    async thread({ body, session }) {
      const options = { mode: body.mode, strictLint: body.strict_lint };
      const { plan, cache, diagnostics } = await session.recipes.planWhole(posted(body.recipe), options);
      return { plan, cache, diagnostics };
    },
  }),
  post("/api/recipe/diff", "The differences between two recipes", {
    writes: false,
    body: z.strictObject({ a: RECIPE, b: RECIPE }),
    replies: {
      200: reply(
        "Every smallest change",
        z.object({ equal: z.boolean(), changes: z.array(documentOf<RecipeChange>()) }),
      ),
      ...refusals(400),
    },
    thread: ({ body, session }) => session.recipes.diff(posted(body.a), posted(body.b)),
  }),
  post("/api/recipe/save", "Save a valid recipe in one step; comments of the file stay", {
    description: "With If-Match, a file that changed since it was read is not overwritten (412).",
    body: BODY.extend({
      filename: z.string().optional().describe("in recipes/; the recipe's name when left out"),
    }),
    replies: {
      200: reply(
        "The file that holds the recipe",
        z.object({
          status: z.enum(["saved"]),
          path: z.string(),
          recipe: OBJECT,
          validation: VALIDATION,
          file_sha256: z.string(),
        }),
      ),
      ...refusals(400, 403, 412),
    },
    async thread({ body: { recipe: given, filename }, headers, session }) {
      const source = posted(given);
      const { recipe, validation } = await validated(session, source, "strict");
      const options = { filename, name: recipe.name, ifMatch: headers["if-match"] };
      const { path, sha256: file_sha256 } = await saveRecipe(session, source, options);
      return new Answer({ status: "saved", path, recipe, validation, file_sha256 }, {
        headers: { etag: `"${file_sha256}"` },
      });
    },
  }),
] as const;

/** The recipe of a body. */
const posted = (recipe: unknown) => new AuthoredRecipe(recipe as Value);

/** @throws SvcError `recipe_invalid` with every diagnostic */
async function validated(session: Session, source: AuthoredRecipe, mode: CompileMode) {
  const { compilation, diagnostics } = await session.recipes.validate(source, { mode });
  const { defaults_materialized, normalized, effective, seed_policy } = compilation;
  return {
    status: "valid",
    recipe: normalized!,
    validation: { status: "valid", mode, defaults_materialized, diagnostics },
    effective: effective!,
    specs: recipeSpecs(effective!),
    seed_policy,
  };
}

async function checked(session: Session, source: AuthoredRecipe, { mode, plan }: { mode: CompileMode; plan: boolean }) {
  const forms = await orRefusal(validated(session, source, mode));
  if (forms instanceof SvcError) {
    return { status: "invalid", diagnostics: diagnosticsOf(forms), forms: null, estimate: null };
  }
  const { validation: { diagnostics: own }, recipe: { name } } = forms, valid = { status: "valid", forms };
  if (!plan) return { ...valid, diagnostics: own, estimate: null };
  const planned = await orRefusal(session.recipes.planWhole(source));
  const known = new Set(own.map(keyOf));
  const found = planned instanceof SvcError ? diagnosticsOf(planned) : planned.diagnostics;
  const diagnostics = [...own, ...found.filter((one) => !known.has(keyOf(one)))];
  if (planned instanceof SvcError) return { ...valid, diagnostics, estimate: null };
  const past = await session.runs.list({ recipe: name, status: "completed", limit: PAST_RUNS });
  const { runEstimate } = await import("../../run/run_estimate.ts");
  return { ...valid, diagnostics, estimate: runEstimate(session.workspace, planned.plans, past) };
}

const keyOf = ({ code, pointer, message }: Diagnostic) => `${code} ${pointer} ${message}`;

/** The value, or the refusal of a recipe. @throws any other error */
async function orRefusal<T>(of: Promise<T>): Promise<T | SvcError> {
  try {
    return await of;
  } catch (error) {
    if (error instanceof SvcError && codeRow(error.code)[1] === 400) return error;
    throw error;
  }
}

/** The findings of a refusal: its diagnostics, or one made of the error itself. */
const diagnosticsOf = ({ diagnostics, code, message, hint }: SvcError): Diagnostic[] =>
  diagnostics.length > 0 ? diagnostics : [{ severity: "error", code, message, path: "$", hint }];

/** @throws SvcError `matrix_invalid` where only the matrix of a recipe has problems, else `recipe_invalid` */
async function expanded(session: Session, source: AuthoredRecipe) {
  const expansion = await session.recipes.expand(source);
  if (expansion.status !== "invalid") return expansionDocument(expansion);
  const { diagnostics } = expansion;
  const matrix = diagnostics.every(({ severity, code }) => severity !== "error" || code.startsWith("matrix_"));
  return source.refuse(matrix ? "matrix_invalid" : "recipe_invalid", "expand", diagnostics);
}
