/** Files of bundles: their beginning, their bytes, pictures and thinned series of their arrays. */
import { basename } from "node:path";
import { z } from "../../contract/zod.ts";
import { decodeImage } from "../../artifact/image_file.ts";
import { writePng } from "../../artifact/png_encode.ts";
import { blockOf } from "../array_block.ts";
import { imageOfArray } from "../array_image.ts";
import { findArtifact, readArray } from "../artifact_file.ts";
import { Answer, route, threadRoute } from "../route.ts";
import { problem } from "../schemas.ts";
import { SERIES_KINDS, SERIES_RANGES, seriesOf } from "../series.ts";

const PATH = z.string().describe("relative to the state directory, as in summaries: runs/<run_id>/artifacts/…");
const FILE_PROBLEMS = {
  400: problem("The query cannot be used"),
  403: problem("The path is no plain path below the folders of evidence"),
  404: problem("There is no such file"),
} as const;
const UNFIT = problem("The file holds nothing that could be shown so");

export const artifactRoutes = [
  route({
    method: "get",
    path: "/api/artifact",
    summary: "An artifact file: what it is and how it begins, or its bytes",
    description: "Bytes always come as an attachment: nothing of a bundle is shown as a page.",
    stable: true,
    query: z.strictObject({ path: PATH, download: z.boolean().default(false).describe("1 for the bytes") }),
    replies: {
      200: {
        description: "The first 256 values of each array, or the first 64 KiB of a text",
        schema: z.object({
          path: z.string(),
          kind: z.string().nullable(),
          format: z.string(),
          size_bytes: z.int(),
          sha256: z.string(),
          truncated: z.boolean(),
        }),
      },
      ...FILE_PROBLEMS,
      422: UNFIT,
    },
    async handle({ query, service }) {
      if (query.download) return await download(findArtifact(service.workspace, query.path));
      return await service.threads.perform("preview", { path: query.path });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/image",
    summary: "A picture of an artifact, as PNG",
    query: z.strictObject({
      path: PATH,
      index: z.int().min(0).default(0).describe("of the picture in a batch"),
      array: z.string().optional().describe("name of the array; the main one when left out"),
    }),
    replies: { 200: { description: "The picture", media: "image/png" }, ...FILE_PROBLEMS, 422: UNFIT },
    handle({ query, service }) {
      const file = findArtifact(service.workspace, query.path);
      const image = file.format === "png" || file.format === "jpeg"
        ? decodeImage(Deno.readFileSync(file.full))
        : imageOfArray(readArray(file, query.array).array, query.index);
      return new Answer(new Uint8Array(writePng(image)), { headers: { "content-type": "image/png" } });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/series",
    summary: "An array thinned for a plot",
    query: z.strictObject({
      path: PATH,
      array: z.string().optional().describe("name of the array; the main one when left out"),
      points: z.int().min(2).max(100_000).default(1000),
      kind: z.enum(SERIES_KINDS).optional().describe("histogram_2d for complex values, else line, when left out"),
      range: z.enum(SERIES_RANGES).default("all").describe(
        "of a histogram: robust leaves out what lies far from the rest",
      ),
    }),
    replies: {
      200: {
        description: "Points of a line, or the edges and counts of a histogram",
        schema: z.object({
          kind: z.enum(SERIES_KINDS),
          x: z.array(z.unknown()),
          y: z.array(z.unknown()),
          counts: z.array(z.array(z.int())).optional(),
          source_count: z.int(),
          outside_count: z.int().optional(),
        }),
      },
      ...FILE_PROBLEMS,
      422: UNFIT,
    },
    handle({ query, service }) {
      const file = findArtifact(service.workspace, query.path);
      const { name, array } = readArray(file, query.array);
      return { array: name, ...seriesOf(array, query.points, query.kind, query.range) };
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/array",
    summary: "A block of an array with every digit",
    description: "For views that compute with values, such as |H| of one realisation over subcarriers.",
    query: z.strictObject({
      path: PATH,
      array: z.string().optional().describe("name of the array; the main one when left out"),
      at: z.string().regex(/^(\d{1,9}(,\d{1,9})*)?$/).default("").describe("indices of the leading axes, such as 3,0"),
    }),
    replies: {
      200: {
        description: "The block in C order; imaginary is null for real values",
        schema: z.object({
          array: z.string(),
          dtype: z.string(),
          shape: z.array(z.int()),
          at: z.array(z.int()),
          block_shape: z.array(z.int()),
          real: z.array(z.unknown()),
          imaginary: z.array(z.unknown()).nullable(),
        }),
      },
      ...FILE_PROBLEMS,
      422: UNFIT,
    },
    handle({ query, service }) {
      const file = findArtifact(service.workspace, query.path);
      const { name, array } = readArray(file, query.array);
      return { array: name, ...blockOf(array, query.at.split(",").filter(Boolean).map(Number)) };
    },
  }),
] as const;

/** A file as an attachment; it is read as fast as the client takes it. */
export async function download({ full, path, size }: { full: string; path: string; size: number }): Promise<Answer> {
  const file = await Deno.open(full, { read: true });
  const name = basename(path).replaceAll(/[^A-Za-z0-9._-]/g, "_");
  return new Answer(file.readable, {
    headers: {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${name}"`,
      "content-length": String(size),
    },
  });
}
