/** Models of external origin: trained artifacts in the store, and the adapters of the server. By hand: an upload. */
import { adapters } from "../../api/calls/adapters.ts";
import { artifacts } from "../../api/calls/artifacts.ts";
import { warned } from "../../api/call.ts";
import { withWarnings } from "../../api/documents.ts";
import { findingsOf, SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import { MAX_PACKAGE_BYTES } from "../../training/limits.ts";
import type { ArtifactRow } from "../../training/store.ts";
import { routesOf } from "../call_routes.ts";
import { Answer, post } from "../route.ts";
import { OBJECT, refusals, reply } from "../schemas.ts";

export const modelRoutes = [
  ...routesOf("artifacts", artifacts),
  ...routesOf("adapters", adapters),
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
        withWarnings(z.object({ outcome: z.enum(["imported", "present", "repaired"]), artifact: OBJECT })),
      ),
      ...refusals(400, 404, 422),
    },
    async thread({ bytes, query: { filename = "the package", ...options }, session }) {
      const imported = await session.artifacts.import(filename, { ...options, bytes }).catch(refuseWhole);
      const document = warned(artifacts.import, imported, { ...imported, artifact: shown(imported.artifact) });
      return new Answer(document, { status: 201 });
    },
  }),
] as const;

/** A row without its place on this machine. */
const shown = ({ path: _path, ...row }: ArtifactRow) => row;

/** Gives all problems of a package one code. @throws SvcError `artifact_invalid` */
function refuseWhole(error: unknown): never {
  if (!(error instanceof SvcError && error.code.startsWith("artifact_"))) throw error;
  const { message, hint } = error;
  throw new SvcError("artifact_invalid", message, { hint, diagnostics: findingsOf(error) });
}
