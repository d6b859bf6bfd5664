/**
 * The project's trust file, `svc_trust.json`: grants of the operator for adapters whose folders have exactly the
 * recorded digest. A changed folder loses its grants.
 */
import { join } from "node:path";
import { type Diagnostic, diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { compareCodePoints } from "../contract/json.ts";
import { checkValue } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { readRecipeText } from "../recipe/read.ts";
import { ENV_REQUEST, NET_REQUEST } from "./manifest_schema.ts";
import type { PermissionSet } from "./types.ts";

/** In the project root. */
export const TRUST_FILE = "svc_trust.json";

export type TrustEntry = {
  name: string;
  folder_sha256: string;
  permissions: PermissionSet;
  note?: string;
};

export type TrustFile = {
  schema_version: 1;
  kind: "svc.adapter_trust";
  adapters: TrustEntry[];
};

const texts = (pattern?: string): JsonObject => ({
  type: "array",
  items: { type: "string", minLength: 1, ...(pattern === undefined ? {} : { pattern }) },
});

const SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["schema_version", "kind", "adapters"],
  properties: {
    schema_version: { type: "integer", enum: [1] },
    kind: { type: "string", enum: ["svc.adapter_trust"] },
    adapters: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["name", "folder_sha256", "permissions"],
        properties: {
          name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]*$" },
          folder_sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
          permissions: {
            type: "object",
            additionalProperties: false,
            properties: { net: texts(NET_REQUEST), read: texts(), env: texts(ENV_REQUEST) },
          },
          note: { type: "string" },
        },
      },
    },
  },
};

/**
 * Reads the trust file of a project.
 * @returns the file, or null when the project has none
 * @throws SvcError `adapter_manifest_invalid` with every finding: a partly invalid file grants nothing
 */
export function readTrustFile(projectRoot: string): TrustFile | null {
  const path = join(projectRoot, TRUST_FILE);
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new SvcError("adapter_manifest_invalid", `Cannot read ${TRUST_FILE}: ${messageOf(error)}`, { cause: error });
  }
  let found: Diagnostic[];
  try {
    const { value } = readRecipeText(text, { file: path });
    found = checkValue(SCHEMA, value, [], { code: "adapter_manifest_invalid" });
    if (found.length === 0) return complete(value as TrustFile);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    found = error.diagnostics.map((item) => ({ ...item, code: "adapter_manifest_invalid" }));
    if (found.length === 0) found = [diagnostic("adapter_manifest_invalid", [], error.message)];
  }
  throw new SvcError("adapter_manifest_invalid", `Cannot read ${TRUST_FILE} as a trust file`, {
    diagnostics: found,
    hint: "Fix it, or write it with svc adapter trust",
  });
}

function complete(file: TrustFile): TrustFile {
  const adapters = file.adapters.map((entry) => ({
    ...entry,
    permissions: {
      net: entry.permissions.net ?? [],
      read: entry.permissions.read ?? [],
      env: entry.permissions.env ?? [],
    },
  }));
  return { ...file, adapters };
}

/** The entry for this digest, `mismatch` if there are only entries for other digests of the adapter, or null. */
export function findTrust(file: TrustFile | null, name: string, folderSha256: string): TrustEntry | "mismatch" | null {
  const named = file?.adapters.filter((entry) => entry.name === name) ?? [];
  return named.find((entry) => entry.folder_sha256 === folderSha256) ?? (named.length > 0 ? "mismatch" : null);
}

/** The file with an entry that replaces earlier ones of its adapter. */
export function withTrust(file: TrustFile | null, entry: TrustEntry): TrustFile {
  const others = file?.adapters.filter(({ name }) => name !== entry.name) ?? [];
  const adapters = [...others, entry].sort((a, b) => compareCodePoints(a.name, b.name));
  return { schema_version: 1, kind: "svc.adapter_trust", adapters };
}

/** The file without the entries of an adapter. */
export function withoutTrust(file: TrustFile | null, name: string): TrustFile {
  const adapters = file?.adapters.filter((entry) => entry.name !== name) ?? [];
  return { schema_version: 1, kind: "svc.adapter_trust", adapters };
}
