/** Adapter folders for tests, written file by file. */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";

export const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");

/** Writes a folder of files and answers its path. */
export function writeFolder(root: string, files: Record<string, string | Uint8Array>): string {
  for (const [path, content] of Object.entries(files)) {
    Deno.mkdirSync(dirname(join(root, path)), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(join(root, path), content);
    else Deno.writeFileSync(join(root, path), content);
  }
  return root;
}

/** Calls a body with a folder of its own that is removed afterwards. */
export async function withFolder(body: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "svc-adapter-" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export const MANIFEST = `schema_version: 1
name: my-codec
version: "1.2.0"
description: one sentence
permissions:
  net: ["models.example.org:443"]
  read: ["../weights"]
  env: ["MY_CODEC_LEVEL"]
limits: { timeout_s: 5, memory_mb: 64 }
operations:
  - id: my_codec.encode
    name: My codec, encoder
    wraps: model.external_encode_bits
    adapter: { path: encode.ts, callable: encode, call_style: array_params }
    fixed_params: { table: plain }
    params_schema: { type: object, properties: { level: { type: integer, default: 3 } }, additionalProperties: false }
`;

export const ENCODER = `import { half } from "./lib/half.ts";
export function encode(images) { return { dtype: "uint8", shape: [images.data.length], data: images.data.map(half) }; }
`;

/** A folder that is in order. */
export const FILES: Record<string, string> = {
  "svc_adapter.yaml": MANIFEST,
  "encode.ts": ENCODER,
  "lib/half.ts": "export const half = (value: number) => value & 1;\n",
};
