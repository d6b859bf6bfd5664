/** Files of bundles: their beginning, or their bytes. By hand: a stream at the speed of the client, with ranges. */
import { runs } from "../../api/calls/runs.ts";
import { z } from "../../contract/zod.ts";
import { type ArtifactPreview, findArtifact } from "../../run/artifact_file.ts";
import { fileAnswer } from "../file_answer.ts";
import { get } from "../route.ts";
import { documentOf, refusals, reply } from "../schemas.ts";

export const artifactRoutes = [
  get("/api/artifact", "An artifact file: its type and beginning, or its bytes", {
    description:
      "Bytes always come as an attachment: nothing of a bundle is shown as a page. They carry the digest that a " +
      "finished run recorded as their ETag, and Range asks for a part.",
    stable: true,
    query: z.strictObject({
      path: runs.array.fields.path,
      download: z.boolean().default(false).describe("1 for the bytes"),
    }),
    replies: {
      200: reply(
        "The first 256 values of each array, or the first 64 KiB of a text",
        documentOf<ArtifactPreview>(z.object({
          path: z.string(),
          kind: z.string().nullable(),
          format: z.string(),
          size_bytes: z.int(),
          sha256: z.string(),
          truncated: z.boolean(),
        })),
      ),
      206: { description: "The range of bytes that was asked for", media: "application/octet-stream" },
      ...refusals(400, 403, 404, 416, 422),
    },
    async handle({ query: { path, download }, headers, service }) {
      if (!download) return await service.threads.perform("preview", { path });
      const { workspace } = service.session;
      return fileAnswer(workspace, findArtifact(workspace, path), headers);
    },
  }),
] as const;
