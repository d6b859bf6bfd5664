/** Models of external origin: trained artifacts in the store, and the adapters of the server. */
import type { AdapterInspection } from "../../adapter/types.ts";
import { findingsOf, SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import { MAX_PACKAGE_BYTES } from "../../training/limits.ts";
import type { ArtifactRow } from "../../training/store.ts";
import { Answer, get, post } from "../route.ts";
import { documentOf, OBJECT, refusals, reply } from "../schemas.ts";

export const modelRoutes = [
  get("/api/trained-artifacts", "The trained artifacts of the store, the project and the program", {
    query: z.strictObject({
      operation: z.string().optional().describe("only those for the trainable component of this operation"),
    }),
    replies: {
      200: reply("A row each", z.object({ artifacts: z.array(documentOf<ReturnType<typeof shown>>()) })),
      ...refusals(404),
    },
    thread: async ({ query, session }) => ({ artifacts: (await session.artifacts.list(query)).map(shown) }),
  }),
  get("/api/trained-artifacts/:artifact", "An artifact by id or digest", {
    replies: {
      200: reply("Its row", z.object({ id: z.string(), status: z.string(), operations: z.array(z.string()) })),
      ...refusals(404),
    },
    thread: async ({ params, session }) => shown((await session.artifacts.show(params.artifact, { paths: false })).row),
  }),
  get("/api/trained-artifacts/:artifact/verify", "Hash an artifact again and repeat every check", {
    replies: { 200: reply("The report", z.object({ status: z.enum(["valid", "invalid"]) })), ...refusals(404) },
    async thread({ params, session }) {
      const { path: _path, ...report } = await session.artifacts.verify(params.artifact, { paths: false });
      return report;
    },
  }),
  post("/api/trained-artifacts/import", "Import a package into the store; it is checked before anything is written", {
    upload: MAX_PACKAGE_BYTES,
    query: z.strictObject({
      operation: z.string().optional().describe("refuse a package that does not fit this operation's component"),
      label: z.string().max(200).optional().describe("name for people"),
      filename: z.string().max(200).optional().describe("name of the package in messages and in the record"),
    }),
    replies: {
      201: reply(
        "The artifact is in the store",
        z.object({ outcome: z.enum(["imported", "present", "repaired"]), artifact: OBJECT }),
      ),
      ...refusals(400, 404, 422),
    },
    async thread({ bytes, query, session }) {
      const imported = await session.artifacts.import(bytes, query).catch(refuseWhole);
      return new Answer({ ...imported, artifact: shown(imported.artifact) }, { status: 201 });
    },
  }),
  get("/api/adapters", "The adapters of the server, with their grants", {
    replies: {
      200: reply("A row each", z.object({ adapters: z.array(documentOf<ReturnType<typeof shownAdapter>>()) })),
    },
    thread: async ({ session }) => ({ adapters: (await session.adapters.list()).map(shownAdapter) }),
  }),
] as const;

/** A row without its place on this machine. */
const shown = ({ path: _path, ...row }: ArtifactRow) => row;

/** An adapter without its place on this machine. */
const shownAdapter = ({ folder, manifest_file: _file, diagnostics, ...adapter }: AdapterInspection) => ({
  ...adapter,
  diagnostics: diagnostics.map((item) => ({ ...item, hint: item.hint?.replaceAll(folder, "<folder>") ?? null })),
});

/** Gives all problems of a package one code. @throws SvcError `artifact_invalid` */
function refuseWhole(error: unknown): never {
  if (!(error instanceof SvcError && error.code.startsWith("artifact_"))) throw error;
  const { message, hint } = error;
  throw new SvcError("artifact_invalid", message, { hint, diagnostics: findingsOf(error) });
}
