/** Views of benchmarks: a pack with its validation, the tables of a result, and its figures. Nothing is written. */
import type { PackEntry } from "../../study/pack/pack.ts";
import type { Replication } from "../../study/pack/types.ts";
import { benchmarks } from "../../api/calls/benchmarks.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { type Figure, FIGURE_TYPES } from "../../figure/types.ts";
import { packFile } from "../pack_file.ts";
import { get } from "../route.ts";
import { DIAGNOSTIC, documentOf, refusals, reply } from "../schemas.ts";

const PLOT = benchmarks.figure.fields;
const FILES = z.record(z.string(), z.string());

export const benchmarkReportRoutes = [
  get("/api/benchmarks/pack", "A pack: its protocol, its recipes, and the findings of `svc benchmark validate`", {
    query: z.strictObject({ path: z.string().describe("name or id of a pack, or its file in benchmarks/") }),
    replies: {
      200: reply(
        "The pack; null where its file cannot be read as one",
        z.object({
          status: z.enum(["valid", "invalid"]),
          name: z.string(),
          pack: documentOf<JsonObject>().nullable(),
          sha256: z.string().nullable(),
          replication: documentOf<Replication>().nullable(),
          recipes: z.array(
            documentOf<
              & Pick<PackEntry, "id" | "label" | "role" | "path" | "skip_reason">
              & Pick<PackEntry["params"], "method_id" | "baseline_id" | "matrix_selection">
            >(),
          ),
          diagnostics: z.array(DIAGNOSTIC),
        }),
      ),
      ...refusals(400, 403, 404),
    },
    async thread({ query, session }) {
      const { file, name } = await packFile(session, query.path);
      const loaded = await session.benchmarks.load(file);
      const { pack, diagnostics } = loaded;
      return {
        status: loaded.valid ? "valid" : "invalid",
        name,
        pack: pack?.document ?? null,
        sha256: pack?.sha256 ?? null,
        replication: pack === null ? null : loaded.replication,
        recipes: pack === null
          ? []
          : loaded.recipes.map(({ entry: { id, label, role, path, skip_reason, params } }) => ({
            id,
            label,
            role,
            path,
            skip_reason,
            method_id: params.method_id,
            baseline_id: params.baseline_id,
            matrix_selection: params.matrix_selection,
          })),
        diagnostics,
      };
    },
  }),
  get("/api/benchmarks/results/:result_id/figure", "A figure of a result: the texts that `svc benchmark plot` writes", {
    query: z.strictObject({
      plot: PLOT.plot,
      x: PLOT.x,
      y: PLOT.y,
      group: PLOT.group,
      value: PLOT.value,
      baseline: PLOT.baseline,
      recipe: z.string().optional().describe("only this one"),
    }),
    replies: {
      200: reply(
        "The figure as data, and as texts by file name: specification, SVG, CSV and the record that binds them",
        z.object({
          plot: z.enum(FIGURE_TYPES),
          name: z.string(),
          figure: documentOf<Figure>(),
          confusion: z.boolean(),
          files: FILES,
        }),
      ),
      ...refusals(400, 404),
    },
    async thread({ params, query: { recipe, ...asked }, session }) {
      const request = recipe === undefined ? asked : { ...asked, recipes: [recipe] };
      const drawn = await session.benchmarks.figure(params.result_id, request);
      const { plot, x, y, group, name, figure, confusion, files } = drawn;
      const texts = Object.entries(files).filter((entry) => typeof entry[1] === "string");
      return { plot, x, y, group, name, figure, confusion, files: Object.fromEntries(texts) };
    },
  }),
] as const;
