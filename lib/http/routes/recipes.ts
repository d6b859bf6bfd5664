/** Recipes: files to read and save, and everything that can be said of a recipe without running it. */
import { SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import { recipeGraph } from "../../plan/graph.ts";
import { lintRecipe } from "../../plan/lint.ts";
import { planRecipe } from "../../plan/planner.ts";
import { compileRecipe } from "../../recipe/compile.ts";
import { diffRecipes } from "../../recipe/diff.ts";
import { expandMatrix, expansionDocument } from "../../recipe/expand_matrix.ts";
import { recipeSpecs } from "../../research/specs.ts";
import { refusal } from "../../run/run.ts";
import { readRecipeAt } from "../recipe_file.ts";
import { listRecipes } from "../recipe_list.ts";
import { saveRecipe } from "../recipe_save.ts";
import { Answer, json, threadRoute } from "../route.ts";
import { DIAGNOSTIC, OBJECT, problem, RECIPE } from "../schemas.ts";

const PATH = z.strictObject({ path: z.string().describe("relative to the project root, in recipes/") });
const REFUSED = problem("The recipe cannot be used; every problem is among the diagnostics");
const FILE_REPLIES = {
  400: problem("The query or the recipe cannot be used"),
  403: problem("The path is no plain path in recipes/"),
  404: problem("There is no such file"),
} as const;
const EXPANSION = z.object({
  recipe: OBJECT,
  expanded_count: z.int(),
  canonical_matrix: OBJECT.nullable(),
  recipes: z.array(OBJECT),
});

export const recipeRoutes = [
  threadRoute({
    method: "get",
    path: "/api/recipes",
    summary: "The recipe files of the project",
    replies: {
      200: {
        description: "All of recipes/, with what stands in their way",
        schema: z.object({ recipes: z.array(OBJECT) }),
      },
    },
    handle: async ({ service }) => json({ recipes: await listRecipes(service) }),
  }),
  threadRoute({
    method: "get",
    path: "/api/recipe",
    summary: "A recipe file, decoded",
    description: "file_sha256 is the ETag: send it as If-Match when saving.",
    stable: true,
    query: PATH,
    replies: {
      200: {
        description: "The authored recipe",
        schema: z.object({ path: z.string(), recipe: z.unknown(), file_sha256: z.string() }),
      },
      ...FILE_REPLIES,
    },
    async handle({ query, service }) {
      const { value, sha256 } = await readRecipeAt(service.workspace, query.path);
      return new Answer({ path: query.path, recipe: value, file_sha256: sha256 }, { headers: { etag: `"${sha256}"` } });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/recipe/graph",
    summary: "The graph of a recipe file",
    query: PATH,
    replies: {
      200: {
        description: "Nodes and edges",
        schema: z.object({
          schema_version: z.int(),
          recipe: z.string(),
          nodes: z.array(OBJECT),
          edges: z.array(OBJECT),
        }),
      },
      ...FILE_REPLIES,
    },
    async handle({ query, service }) {
      const registry = await service.registry();
      const { value, locate } = await readRecipeAt(service.workspace, query.path);
      const { effective, normalized, diagnostics } = compileRecipe(value, { mode: "compat", registry, locate });
      const recipe = effective ?? normalized;
      if (recipe === null) throw refusal("recipe_invalid", "Cannot draw the recipe", diagnostics);
      return recipeGraph(recipe, registry);
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/recipe/matrix",
    summary: "The matrix of a recipe file",
    query: PATH,
    replies: {
      200: { description: "The canonical matrix, or null", schema: z.object({ canonical_matrix: OBJECT.nullable() }) },
      ...FILE_REPLIES,
    },
    async handle({ query, service }) {
      const { value, locate } = await readRecipeAt(service.workspace, query.path);
      return { canonical_matrix: expand(value, await service.registry(), locate).canonical_matrix };
    },
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/matrix/expand",
    summary: "The concrete recipes of a matrix",
    writes: false,
    body: z.strictObject({ recipe: RECIPE }),
    replies: { 200: { description: "Recipes in matrix order", schema: EXPANSION }, 400: REFUSED },
    handle: async ({ body, service }) => expand(body.recipe, await service.registry()),
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/validate",
    summary: "Strict validation of a recipe; nothing is written",
    writes: false,
    body: z.strictObject({ recipe: RECIPE, mode: z.enum(["strict", "compat"]).default("strict") }),
    replies: {
      200: {
        description: "The recipe in its forms",
        schema: z.object({
          status: z.enum(["valid"]),
          recipe: OBJECT,
          validation: z.object({
            status: z.string(),
            mode: z.enum(["strict", "compat"]),
            defaults_materialized: z.boolean(),
            diagnostics: z.array(DIAGNOSTIC),
          }),
          effective: OBJECT,
          specs: OBJECT,
          seed_policy: OBJECT,
        }),
      },
      400: REFUSED,
    },
    handle: async ({ body, service }) => json(validated(body.recipe, body.mode, await service.registry())),
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/lint",
    summary: "What can be said against a recipe",
    writes: false,
    body: z.strictObject({ recipe: RECIPE }),
    replies: {
      200: {
        description: "The report, passed or failed",
        schema: z.object({
          schema_version: z.int(),
          status: z.enum(["passed", "failed"]),
          issues: z.array(DIAGNOSTIC),
        }),
      },
      400: problem("The body cannot be used"),
    },
    async handle({ body, service }) {
      const registry = await service.registry();
      return json(lintRecipe(compileRecipe(body.recipe, { mode: "strict", registry }), { registry, strict: true }));
    },
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/plan",
    summary: "The execution plan of a recipe; nothing is written",
    writes: false,
    body: z.strictObject({ recipe: RECIPE }),
    replies: {
      200: {
        description: "What would run",
        schema: z.object({ plan: OBJECT, cache: OBJECT, diagnostics: z.array(DIAGNOSTIC) }),
      },
      400: REFUSED,
    },
    async handle({ body, service }) {
      const { readiness, planCache: cache } = service;
      const registry = await service.registry();
      const compilation = compileRecipe(body.recipe, { mode: "strict", registry });
      const planned = await planRecipe(compilation, { registry, readiness, cache, singleRun: true });
      if (planned.status === "refused") {
        const code = compilation.status === "invalid" ? "recipe_invalid" : "plan_invalid";
        throw refusal(code, "Cannot plan the recipe", planned.diagnostics);
      }
      return json({ plan: planned.plan, cache: planned.cache, diagnostics: planned.diagnostics });
    },
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/diff",
    summary: "What differs between two recipes",
    writes: false,
    body: z.strictObject({ a: RECIPE, b: RECIPE }),
    replies: {
      200: { description: "Every smallest change", schema: z.object({ equal: z.boolean(), changes: z.array(OBJECT) }) },
      400: problem("The body cannot be used"),
    },
    handle: ({ body }) => diffRecipes(json(body.a), json(body.b)),
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/save",
    summary: "Save a recipe that validates, in one step; comments of the file stay",
    description: "With If-Match, a file that changed since it was read is left alone (412).",
    body: z.strictObject({
      recipe: RECIPE,
      filename: z.string().optional().describe("in recipes/; the recipe's name when left out"),
    }),
    replies: {
      200: {
        description: "The file that holds it now",
        schema: z.object({
          status: z.enum(["saved"]),
          path: z.string(),
          recipe: OBJECT,
          validation: OBJECT,
          file_sha256: z.string(),
        }),
      },
      400: REFUSED,
      403: problem("The file name leaves recipes/, or the server is read-only"),
      412: problem("The file changed since it was read"),
    },
    async handle({ body, headers, service }) {
      const validation = validated(body.recipe, "strict", await service.registry());
      const saved = await saveRecipe(service.workspace, json(body.recipe), {
        filename: body.filename,
        name: validation.recipe.name,
        ifMatch: headers["if-match"],
      });
      const { recipe, validation: verdict } = validation;
      return new Answer(
        json({ status: "saved", path: saved.path, recipe, validation: verdict, file_sha256: saved.sha256 }),
        {
          headers: { etag: `"${saved.sha256}"` },
        },
      );
    },
  }),
] as const;

/** The reply of the validation. @throws SvcError `recipe_invalid` with every diagnostic */
function validated(
  recipe: unknown,
  mode: "strict" | "compat",
  registry: Parameters<typeof compileRecipe>[1]["registry"],
) {
  const compilation = compileRecipe(recipe, { mode, registry });
  const { diagnostics, defaults_materialized, normalized, effective, seed_policy } = compilation;
  if (compilation.status === "invalid") throw refusal("recipe_invalid", "Cannot accept the recipe", diagnostics);
  return {
    status: "valid",
    recipe: normalized!,
    validation: { status: "valid", mode, defaults_materialized, diagnostics },
    effective: effective!,
    specs: recipeSpecs(effective!),
    seed_policy: seed_policy!,
  };
}

function expand(
  recipe: unknown,
  registry: Parameters<typeof expandMatrix>[1]["registry"],
  locate?: Parameters<typeof expandMatrix>[1]["locate"],
) {
  const expansion = expandMatrix(recipe, { registry, locate });
  if (expansion.status !== "invalid") return expansionDocument(expansion);
  const { diagnostics } = expansion;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  // A recipe that is fine but for its matrix has a matrix problem.
  const matrix = errors.every(({ code }) => code.startsWith("matrix_"));
  throw matrix
    ? new SvcError("matrix_invalid", `Cannot expand the matrix: ${errors.length} problems`, { diagnostics })
    : refusal("recipe_invalid", "Cannot expand the recipe", diagnostics);
}
