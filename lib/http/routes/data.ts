/** Datasets, and files of the project that become data. By hand: an upload. */
import { data } from "../../api/calls/data.ts";
import { z } from "../../contract/zod.ts";
import { MAX_UPLOAD_BYTES, type StoredUpload, storeUpload } from "../data_upload.ts";
import { routesOf } from "../call_routes.ts";
import { Answer, post } from "../route.ts";
import { documentOf, refusals, reply } from "../schemas.ts";

const STORED = documentOf<StoredUpload>(
  z.object({ path: z.string(), sha256: z.string(), size_bytes: z.int(), outcome: z.enum(["stored", "present"]) }),
);

export const dataRoutes = [
  ...routesOf("data", data),
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
