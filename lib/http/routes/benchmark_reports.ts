/** What others read of benchmarks: a pack with its validation, the tables of a result, and its figures. Nothing is written. */
import { loadPack } from "../../benchmark/load_pack.ts";
import { drawnPlot, exportedTables } from "../../benchmark/reports.ts";
import { z } from "../../contract/zod.ts";
import { FIGURE_TYPES } from "../../figure/types.ts";
import { packFile } from "../pack_file.ts";
import { json, threadRoute } from "../route.ts";
import { OBJECT, problem } from "../schemas.ts";

const FILES = z.record(z.string(), z.string());
const NO_RESULT = problem("There is no such result");

export const benchmarkReportRoutes = [
  threadRoute({
    method: "get",
    path: "/api/benchmarks/pack",
    summary: "A pack: its protocol, its recipes, and what `svc benchmark validate` finds in it",
    query: z.strictObject({ path: z.string().describe("name or id of a pack, or its file in benchmarks/") }),
    replies: {
      200: {
        description: "The pack; null where its file cannot be read as one",
        schema: z.object({ status: z.enum(["valid", "invalid"]), name: z.string(), diagnostics: z.array(OBJECT) }),
      },
      400: problem("The query cannot be used"),
      403: problem("The path is refused"),
      404: problem("There is no such pack"),
    },
    async handle({ query, service }) {
      const { projectRoot } = service.workspace;
      const { file, name } = packFile(projectRoot, query.path);
      const loaded = await loadPack(file, {
        registry: await service.registry(),
        projectRoot,
        planning: { readiness: service.readiness },
      });
      return json({
        status: loaded.valid ? "valid" : "invalid",
        name,
        pack: loaded.pack?.document ?? null,
        sha256: loaded.pack?.sha256 ?? null,
        replication: loaded.pack === null ? null : loaded.replication,
        recipes: loaded.pack === null ? [] : loaded.recipes.map(({ entry }) => ({
          id: entry.id,
          label: entry.label,
          role: entry.role,
          path: entry.path,
          skip_reason: entry.skip_reason,
        })),
        diagnostics: loaded.diagnostics,
      });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/results/:result_id/export",
    summary: "The tables of a result: the texts that `svc benchmark export` writes",
    replies: {
      200: { description: "Texts by file name", schema: z.object({ result_sha256: z.string(), files: FILES }) },
      404: NO_RESULT,
    },
    handle: ({ params, service }) => json(exportedTables(service.workspace, params.result_id)),
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/results/:result_id/figure",
    summary: "A figure of a result: the texts that `svc benchmark plot` writes",
    query: z.strictObject({
      plot: z.enum(FIGURE_TYPES).optional().describe("what to draw; what the pack asks for when left out"),
      x: z.string().optional().describe("metric or coordinate along x"),
      y: z.string().optional().describe("metric along y"),
      group: z.string().optional().describe("method, recipe, role or metric:<id>"),
      recipe: z.string().optional().describe("only this one"),
    }),
    replies: {
      200: {
        description:
          "What is drawn, as data and as texts by file name: specification, SVG, CSV and the record that binds them",
        schema: z.object({
          plot: z.enum(FIGURE_TYPES),
          name: z.string(),
          figure: OBJECT,
          confusion: z.boolean(),
          files: FILES,
        }),
      },
      400: problem(
        "The query cannot be used, the result is not complete, or it has nothing that this figure could show",
      ),
      404: NO_RESULT,
    },
    async handle({ params, query: { recipe, ...asked }, service }) {
      const request = recipe === undefined ? asked : { ...asked, recipes: [recipe] };
      const drawn = await drawnPlot(service.workspace, params.result_id, request);
      const { plot, x, y, group, name, figure, confusion, files } = drawn;
      const texts = Object.entries(files).filter((entry) => typeof entry[1] === "string");
      return json({ plot, x, y, group, name, figure, confusion, files: Object.fromEntries(texts) });
    },
  }),
] as const;
