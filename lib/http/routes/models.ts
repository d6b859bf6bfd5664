/** Models from elsewhere: trained artifacts in the store, and the adapters that the server was started with. */
import { inspectAdapter } from "../../adapter/inspect.ts";
import { type Diagnostic, diagnostic, SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import { MAX_PACKAGE_BYTES } from "../../training/limits.ts";
import { programRoot } from "../../training/program_root.ts";
import {
  type ArtifactRow,
  type ArtifactStore,
  importTrainedArtifact,
  listTrainedArtifacts,
  showTrainedArtifact,
  verifyTrainedArtifact,
} from "../../training/store.ts";
import { Answer, json, threadRoute } from "../route.ts";
import { OBJECT, problem } from "../schemas.ts";
import type { Library } from "../service.ts";

const NO_ARTIFACT = problem("There is no such artifact");

export const modelRoutes = [
  threadRoute({
    method: "get",
    path: "/api/trained-artifacts",
    summary: "The trained artifacts of the store, the project and the program",
    query: z.strictObject({
      operation: z.string().optional().describe("only those that fill the slot of this operation"),
    }),
    replies: {
      200: { description: "A row each", schema: z.object({ artifacts: z.array(OBJECT) }) },
      404: problem("There is no such operation"),
    },
    async handle({ query, service }) {
      if (query.operation !== undefined) (await service.registry()).get(query.operation);
      const rows = listTrainedArtifacts(await storeOf(service), { operation: query.operation });
      return json({ artifacts: rows.map(shown) });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/trained-artifacts/:artifact",
    summary: "An artifact by id or digest",
    replies: {
      200: {
        description: "Its row",
        schema: z.object({ id: z.string(), status: z.string(), operations: z.array(z.string()) }),
      },
      404: NO_ARTIFACT,
    },
    handle: async ({ params, service }) =>
      json(shown(showTrainedArtifact(reference(params.artifact), await storeOf(service)).row)),
  }),
  threadRoute({
    method: "get",
    path: "/api/trained-artifacts/:artifact/verify",
    summary: "Hash an artifact again and repeat every check",
    replies: {
      200: { description: "The report", schema: z.object({ status: z.enum(["valid", "invalid"]) }) },
      404: NO_ARTIFACT,
    },
    async handle({ params, service }) {
      const { path: _path, ...report } = verifyTrainedArtifact(reference(params.artifact), await storeOf(service));
      return json(report);
    },
  }),
  threadRoute({
    method: "post",
    path: "/api/trained-artifacts/import",
    summary: "Bring a package into the store; all of it is checked before anything is written",
    upload: MAX_PACKAGE_BYTES,
    query: z.strictObject({
      operation: z.string().optional().describe("refuse a package that does not fill the slot of this operation"),
      label: z.string().max(200).optional().describe("name for people"),
      filename: z.string().max(200).optional().describe("what the package is called in messages and in the record"),
    }),
    replies: {
      201: {
        description: "It is in the store",
        schema: z.object({ outcome: z.enum(["imported", "present", "repaired"]), artifact: OBJECT }),
      },
      400: problem("The query cannot be used"),
      404: problem("There is no such operation"),
      422: problem("The package is not valid; every problem is among the diagnostics"),
    },
    async handle({ bytes, query, service }) {
      if (query.operation !== undefined) (await service.registry()).get(query.operation);
      const imported = importWhole(bytes, await storeOf(service), query);
      return new Answer(json({ ...imported, artifact: shown(imported.artifact) }), { status: 201 });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/adapters",
    summary: "The adapters that the server was started with, and what each is granted",
    replies: { 200: { description: "A row each", schema: z.object({ adapters: z.array(OBJECT) }) } },
    handle: ({ service }) =>
      json({ adapters: service.adapters.folders.map((folder) => shownAdapter(service, folder)) }),
  }),
] as const;

async function storeOf({ workspace: { stateDir, projectRoot }, registry }: Library): Promise<ArtifactStore> {
  const operations = await registry();
  return {
    stateDir,
    projectRoot,
    programRoot: programRoot(),
    contractOf: (id) => operations.find(id)?.operation.contract,
  };
}

/** An id or a digest; a path would reach beyond the store. @throws SvcError `artifact_not_found` */
function reference(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)) return text;
  throw new SvcError("artifact_not_found", `Cannot find an artifact named ${text}`, {
    hint: "Give its id, or the beginning of its digest",
  });
}

/** A row without its place on this machine. */
function shown({ path: _path, ...row }: ArtifactRow) {
  return row;
}

/** Whatever is wrong with a package is one kind of answer. @throws SvcError `artifact_invalid` */
function importWhole(bytes: Uint8Array, store: ArtifactStore, options: Parameters<typeof importTrainedArtifact>[2]) {
  try {
    return importTrainedArtifact(bytes, store, options);
  } catch (error) {
    if (!(error instanceof SvcError && error.code.startsWith("artifact_"))) throw error;
    const { code, message, hint, diagnostics } = error;
    const found: Diagnostic[] = diagnostics.length > 0 ? diagnostics : [diagnostic(code, [], message, { hint })];
    throw new SvcError("artifact_invalid", message, { hint, diagnostics: found });
  }
}

/** An adapter without its place on this machine. Grants are given by name: those of others do not concern it. */
function shownAdapter({ adapters: { grants }, workspace: { projectRoot } }: Library, folder: string) {
  const { name } = inspectAdapter({ folder }, { projectRoot });
  const own = grants.filter((grant) => grant.startsWith(`${name}:`));
  const { folder: _folder, manifest_file: _file, ...adapter } = inspectAdapter({ folder, grants: own }, {
    projectRoot,
  });
  return adapter;
}
