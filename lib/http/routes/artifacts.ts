/**
 * Files of bundles: their beginning, their bytes, images and reduced series of their arrays.
 * By hand: bytes, ranges and images of files, in the forms of the page.
 */
import { decodeImage, MAX_IMAGE_FILE_BYTES } from "../../artifact/image_file.ts";
import { writePng } from "../../artifact/png_encode.ts";
import { readBounded } from "../../artifact/read_file.ts";
import type { Float } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { blockOf, MAX_BLOCK_VALUES } from "../array_block.ts";
import { imageOfArray } from "../array_image.ts";
import { type ArtifactPreview, findArtifact, imagePlace, readArray } from "../artifact_file.ts";
import { fileAnswer } from "../file_answer.ts";
import { Answer, get } from "../route.ts";
import { documentOf, refusals, reply } from "../schemas.ts";
import { everyNth, SERIES_KINDS, SERIES_RANGES, seriesOf } from "../series.ts";

const PATH = z.string().describe("relative to the state directory, as in summaries: runs/<run_id>/artifacts/…");
const ARRAY = z.string().optional().describe("name of the array; the main one when left out");
const NUMBER = documentOf<number | Float>(z.number());
const REFUSED = refusals(400, 403, 404, 422);

export const artifactRoutes = [
  get("/api/artifact", "An artifact file: its type and beginning, or its bytes", {
    description:
      "Bytes always come as an attachment: nothing of a bundle is shown as a page. They carry the digest that a " +
      "finished run recorded as their ETag, and Range asks for a part.",
    stable: true,
    query: z.strictObject({ path: PATH, download: z.boolean().default(false).describe("1 for the bytes") }),
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
      ...REFUSED,
      ...refusals(416),
    },
    async handle({ query: { path, download }, headers, service }) {
      if (!download) return await service.threads.perform("preview", { path });
      const { workspace } = service.session;
      return fileAnswer(workspace, findArtifact(workspace, path), headers);
    },
  }),
  get("/api/image", "An image of an artifact, as PNG", {
    tool: { name: "images_show" },
    query: z.strictObject({
      path: PATH,
      index: z.int().min(0).default(0).describe("of the image in a batch"),
      array: ARRAY,
    }),
    replies: { 200: { description: "The image", media: "image/png" }, ...REFUSED },
    async thread({ query, session }) {
      const file = findArtifact(session.workspace, query.path);
      const image = file.format === "png" || file.format === "jpeg"
        ? decodeImage(await readBounded(file.full, MAX_IMAGE_FILE_BYTES, file.path))
        : imageOfArray(...imagePlace(file, query));
      return new Answer(new Uint8Array(writePng(image, 1)), { headers: { "content-type": "image/png" } });
    },
  }),
  get("/api/series", "An array reduced for a plot", {
    tool: { name: "arrays_series" },
    query: z.strictObject({
      path: PATH,
      array: ARRAY,
      points: z.int().min(2).max(100_000).default(1000),
      kind: z.enum(SERIES_KINDS).optional().describe("histogram_2d for complex values, else line, when left out"),
      range: z.enum(SERIES_RANGES).default("all").describe(
        "of a histogram: robust leaves out values far from the rest",
      ),
      stride: z.int().min(1).max(1_000_000).default(1).describe(
        "every stride-th value, such as those of one of so many layers",
      ),
      offset: z.int().min(0).max(999_999).default(0).describe("the first of these values, below stride"),
    }),
    replies: {
      200: reply(
        "Points of a line, or the edges and counts of a histogram",
        z.object({
          kind: z.enum(SERIES_KINDS),
          array: z.string(),
          x: z.array(NUMBER),
          y: z.array(NUMBER.nullable()),
          counts: z.array(z.array(z.int())).optional(),
          source_count: z.int(),
          outside_count: z.int().optional(),
        }),
      ),
      ...REFUSED,
    },
    thread({ query: { path, points, kind, range, stride, offset, ...query }, session }) {
      const { name, array } = readArray(findArtifact(session.workspace, path), query.array);
      return { array: name, ...seriesOf(everyNth(array, stride, offset), points, kind, range) };
    },
  }),
  get("/api/array", "A block of an array with every digit", {
    tool: { name: "arrays_show" },
    description: "For views that compute with values, such as |H| of one realisation over subcarriers.",
    query: z.strictObject({
      path: PATH,
      array: ARRAY,
      at: z.string().regex(/^(\d{1,9}(,\d{1,9})*)?$/).default("").describe("indices of the leading axes, such as 3,0"),
      first: z.int().min(1).max(MAX_BLOCK_VALUES).optional().describe("the first values of a block of one dimension"),
      reduce: z.enum(["none", "max"]).default("none").describe(
        "max: the largest value of equal cells where a block of two axes has too many values",
      ),
    }),
    replies: {
      200: reply(
        "The block in C order; imaginary is null for real values",
        z.object({
          array: z.string(),
          dtype: z.string(),
          shape: z.array(z.int()),
          at: z.array(z.int()),
          block_shape: z.array(z.int()),
          cell: z.array(z.int()).describe("values that one stands for on each axis of the block"),
          real: z.array(NUMBER.nullable()),
          imaginary: z.array(NUMBER.nullable()).nullable(),
        }),
      ),
      ...REFUSED,
    },
    thread({ query, session }) {
      const { name, array } = readArray(findArtifact(session.workspace, query.path), query.array);
      const at = query.at.split(",").filter(Boolean).map(Number);
      return { array: name, ...blockOf(array, at, { first: query.first, reduced: query.reduce === "max" }) };
    },
  }),
] as const;
