/** A pack with its validation. Nothing is written. By hand: a request names a pack by a confined path. */
import type { PackEntry } from "../../study/pack/pack.ts";
import type { Replication } from "../../study/pack/types.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { packFile } from "../pack_file.ts";
import { get } from "../route.ts";
import { DIAGNOSTIC, documentOf, refusals, reply } from "../schemas.ts";

export const benchmarkReportRoutes = [
  get("/api/benchmarks/pack", "A pack: its protocol, its recipes, and the findings of `svc benchmark validate`", {
    tool: { name: "packs_show" },
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
] as const;
