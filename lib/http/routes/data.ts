/**
 * Files of the project that become data: folders, their content, and manifests.
 * By hand: confined folders, and uploads.
 */
import { z } from "../../contract/zod.ts";
import {
  type DataContents,
  dataContents,
  type DataFolder,
  dataFolder,
  dataSets,
  type MadeManifest,
  makeDataManifest,
} from "../data_files.ts";
import type { DataSet } from "../data_sets.ts";
import { MAX_UPLOAD_BYTES, type StoredUpload, storeUpload } from "../data_upload.ts";
import { Answer, get, post } from "../route.ts";
import { documentOf, OBJECT, refusals, reply } from "../schemas.ts";

const PATH = z.string().describe("file or folder, relative to the project");
const STORED = documentOf<StoredUpload>(
  z.object({ path: z.string(), sha256: z.string(), size_bytes: z.int(), outcome: z.enum(["stored", "present"]) }),
);

export const dataRoutes = [
  get("/api/data/files", "The files of a folder of the project", {
    query: z.strictObject({
      folder: z.string().default("").describe("relative to the project; empty for the project"),
    }),
    replies: {
      200: reply(
        "Files by name, folders first, at most 500",
        documentOf<DataFolder>(z.object({ folder: z.string(), files: z.array(OBJECT), truncated: z.boolean() })),
      ),
      ...refusals(400, 403, 404),
    },
    thread: ({ query, session }) => dataFolder(session, query.folder),
  }),
  get("/api/data/preview", "What a file holds: lines, spectrum, power-delay profile, thumbnails of images", {
    query: z.strictObject({ path: PATH }),
    replies: {
      200: reply(
        "Description and preview",
        documentOf<DataContents>(z.object({ path: z.string(), kind: z.string(), preview: OBJECT.nullable() })),
      ),
      ...refusals(400, 403, 404),
    },
    thread: ({ query, session }) => dataContents(session, query.path),
  }),
  get("/api/data/sets", "The data of the project that sources can read: manifests, recordings and files of arrays", {
    replies: {
      200: reply(
        "Each with its state: manifests are compared with their files, up to 256 MiB of them",
        z.object({
          sets: z.array(documentOf<DataSet>(z.object({ path: z.string(), kind: z.string(), state: z.string() }))),
          truncated: z.boolean(),
        }),
      ),
    },
    thread: ({ session }) => dataSets(session),
  }),
  post("/api/data/manifests", "Write the manifest of a file or folder of images, texts or bits", {
    body: z.strictObject({
      path: PATH.min(1),
      skip_unreadable: z.boolean().optional().describe("name image files that cannot be read, and leave them out"),
    }),
    replies: {
      200: reply(
        "The manifest, with the digest that pins it",
        documentOf<MadeManifest>(z.object({ path: z.string(), sha256: z.string(), sample_count: z.int().nullable() })),
      ),
      ...refusals(400, 403, 404),
    },
    thread: ({ body, session }) => makeDataManifest(session, body.path, body.skip_unreadable),
  }),
  post("/api/data/uploads", "Store a file of data in the folder uploads of the project; no file is replaced", {
    upload: MAX_UPLOAD_BYTES,
    query: z.strictObject({
      folder: z.string().describe("a plain name"),
      name: z.string().describe("of the file; its suffix names the kind that the content must have"),
    }),
    replies: {
      200: reply("The folder has this file with these bytes", STORED),
      201: reply("The file is stored", STORED),
      ...refusals(400, 403, 409),
    },
    async thread({ bytes, query, session }) {
      const stored = await storeUpload(session, { ...query, bytes });
      return new Answer(stored, { status: stored.outcome === "stored" ? 201 : 200 });
    },
  }),
] as const;
