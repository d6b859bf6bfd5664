/** The image-dataset manifest as JSON Schema. */
import type { JsonObject } from "../contract/value.ts";

const text: JsonObject = { type: "string", minLength: 1 };
const digest: JsonObject = { type: "string", pattern: "^[0-9a-f]{64}$" };
const texts: JsonObject = { type: "array", minItems: 1, uniqueItems: true, items: text };

const sample: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: [
    "sample_id",
    "path",
    "sha256",
    "source_id",
    "group_id",
    "source_sha256",
    "ancestry_ids",
    "transform",
    "transform_fingerprint_sha256",
  ],
  properties: {
    sample_id: text,
    path: text,
    sha256: digest,
    source_id: text,
    group_id: text,
    source_sha256: digest,
    ancestry_ids: texts,
    transform: { type: "object", required: ["name"], properties: { name: text } },
    transform_fingerprint_sha256: digest,
    post_transform_sha256: digest,
  },
};

/** Output of `svc schema manifest`. */
export const IMAGE_MANIFEST_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "svc image-dataset manifest",
  type: "object",
  additionalProperties: false,
  required: ["schema_version", "kind", "id", "version", "root", "splits", "samples"],
  properties: {
    schema_version: { type: "integer", const: 1 },
    kind: { type: "string", const: "svc.image_dataset_manifest" },
    id: text,
    version: { type: ["string", "integer"] },
    root: text,
    source_page: { type: "string" },
    license: { type: "object" },
    publication_ready: { type: "boolean" },
    publication_blocker: { type: "string" },
    splits: { type: "object", minProperties: 1, additionalProperties: texts },
    samples: { type: "array", minItems: 1, items: sample },
  },
};
