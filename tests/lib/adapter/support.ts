/** Adapter folders for tests, written file by file. */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { bindingOf } from "../../../lib/adapter/binding.ts";
import { effectiveGrants, parseGrant } from "../../../lib/adapter/grants.ts";
import { readAdapter } from "../../../lib/adapter/read_manifest.ts";
import { readTrustFile } from "../../../lib/adapter/trust.ts";
import { operationOf } from "../../../lib/adapter/step.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { Operation, OutputArtifact } from "../../../lib/contract/operation.ts";
import { tables } from "../../support/tables.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const DATA = tables(import.meta.url);

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
export const withFolder = async (body: (folder: string) => void | Promise<void>): Promise<void> =>
  await body(temporaryFolder("svc-adapter-"));

export const MANIFEST: string = DATA.MANIFEST;

const ENCODER = `import { half } from "./lib/half.ts"; export function encode({ data }) {
  return { dtype: "uint8", shape: [data.length], data: data.map(half) };
}
`;

/** A folder that is in order. */
export const FILES: Record<string, string> = {
  "svc_adapter.yaml": MANIFEST,
  "encode.ts": ENCODER,
  "lib/half.ts": "export const half = (value: number) => value & 1;\n",
};

/** A manifest of one module whose every named function is an operation `<name>.<function>` of the same contract. */
export function manifestOf(
  functions: readonly string[],
  { name = "probe", wraps = "model.external_encode_bits", extra = "", call = "call_style: dict" } = {},
): string {
  const operations = functions.map((id) => `
  - id: ${name}.${id.toLowerCase()}
    name: ${id}
    wraps: ${wraps}
    adapter: { path: code.ts, callable: ${id}, ${call} }
    params_schema: { type: object, properties: { level: { type: number, default: 0.5 }, seed: { type: integer } } }`);
  return `schema_version: 1\nname: ${name}\nversion: "1"\n${extra}\noperations:${operations.join("")}\n`;
}

/** The operations of a folder as a worker has them, by id. */
export function operationsOf(folder: string, grants: string[] = []): Map<string, Operation> {
  const { adapter, diagnostics } = readAdapter(folder);
  if (adapter === null) throw new Error(JSON.stringify(diagnostics, null, 1));
  const name = adapter.manifest.name;
  const effective = effectiveGrants(adapter, grants.map((text) => parseGrant(text, name)), readTrustFile(null), folder);
  return new Map(adapter.manifest.operations.map((operation) => {
    const binding = bindingOf(adapter, operation, effective);
    return [operation.id, operationOf(JSON.parse(JSON.stringify(binding)))];
  }));
}

/** A batch of small images. */
export function images(count = 1, side = 4): OutputArtifact {
  const data = Uint8Array.from({ length: count * side * side * 3 }, (_, index) => (index * 37) % 256);
  return imagesArtifact({ count, height: side, width: side, channels: 3, dtype: "uint8", data }, {});
}

/** Four bits as an adapter answers with them. */
export const BITS = `{ dtype: "uint8", shape: [4], data: Uint8Array.of(1, 0, 1, 1) }`;

/** Body of a function that runs some code and answers with bits. */
export const body = (code: string) => `  ${code};\n  return ${BITS};`;

/** The failure of a call, as `code: message`. */
export async function failure(call: Promise<unknown>): Promise<{ code: string; message: string; hint: string | null }> {
  try {
    await call;
  } catch (error) {
    return error as { code: string; message: string; hint: string | null };
  }
  return { code: "none", message: "it succeeded", hint: null };
}

/** Command lines of living processes that name a folder (Linux). */
export function processesOf(folder: string): string[] {
  if (Deno.build.os !== "linux") return [];
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^[0-9]+$/.test(name)) return [];
    try {
      const line = Deno.readTextFileSync(`/proc/${name}/cmdline`);
      return line.split(/[\0=]/).includes(folder) ? [line] : [];
    } catch {
      // It has ended since the folder was read.
      return [];
    }
  });
}

/** A recipe that gives a photograph to an operation. */
export const placed = (op: string) => ({
  name: "placed",
  metadata: { seed: 7 },
  steps: [
    {
      id: "images",
      op: "source.image_dataset",
      params: { dataset: "svc_sample_images", image_ids: "camera", crop_size: 8 },
    },
    { id: "coder", op, inputs: { images: "images.images" } },
  ],
});
