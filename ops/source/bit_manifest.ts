/**
 * Hash-pinned bit payloads: the selected items of a manifest in order, each a source item. The manifest file and every
 * payload must have their recorded SHA-256.
 *
 * The document `svc.bit_payload_manifest`: frozen bit payloads, each pinned by the SHA-256 of its packed bytes.
 *
 *     schema_version: 1
 *     kind: svc.bit_payload_manifest
 *     items: [{id, bit_count, bits_hex | path, sha256}]   packed most significant bit first, last byte zero-padded
 *     selections: {<name>: [<id>, …]}
 */
import { defineOperation, isObject, type JsonObject, messageOf, parseJson, SvcError, type Value, z } from "../api.ts";
import { didYouMean } from "../../lib/contract/nearest.ts";
import { checkCount } from "../../lib/artifact/accounting.ts";
import { PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { bitsArtifact } from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { checkDigest } from "../_file_digest.ts";

interface BitPayload {
  id: string;
  bit_count: number;
  /** Packed bits, or the path of their file. */
  source: { hex: string } | { path: string };
  sha256: string;
}

interface BitManifest {
  items: BitPayload[];
  selections: Map<string, string[]>;
}

/**
 * Reads a manifest, JSON or YAML.
 * @throws SvcError `boundary_shape_invalid` or `boundary_value_invalid` for another document
 */
async function readBitManifest(bytes: Uint8Array, path: string): Promise<BitManifest> {
  const document = await parse(bytes, path);
  if (!isObject(document) || document.kind !== "svc.bit_payload_manifest" || document.schema_version !== 1) {
    throw invalid("it is not a svc.bit_payload_manifest of schema_version 1");
  }
  const unknown = Object.keys(document).find((key) => !["schema_version", "kind", "items", "selections"].includes(key));
  if (unknown !== undefined) throw invalid(`it has the unknown field ${unknown}`);
  if (!Array.isArray(document.items)) throw invalid("it has no list of items");
  const items = document.items.map(readItem);
  const ids = new Set(items.map((item) => item.id));
  if (ids.size !== items.length) throw invalid("two of its items have the same id");
  return { items, selections: readSelections(document.selections ?? {}, ids) };
}

async function parse(bytes: Uint8Array, path: string): Promise<Value> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.slice());
    if (/^\s*\{/.test(text) && !/\.ya?ml$/i.test(path)) return parseJson(text);
    const { parseYaml } = await import("../../lib/contract/yaml.ts");
    return parseYaml(text);
  } catch (error) {
    throw invalid(messageOf(error));
  }
}

function readItem(value: Value): BitPayload {
  if (!isObject(value)) throw invalid("an item is not a mapping");
  const { id, bit_count, bits_hex, path, sha256, ...rest } = value;
  if (typeof id !== "string" || id === "") throw invalid("an item has no id");
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalid(`item ${id} has the unknown field ${unknown}`);
  const count = checkCount(bit_count, "bits", { name: `the bit_count of ${id}` });
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) throw invalid(`item ${id} has no SHA-256`);
  if ((bits_hex === undefined) === (path === undefined)) throw invalid(`item ${id} needs one of bits_hex and path`);
  if (bits_hex !== undefined) {
    if (typeof bits_hex !== "string" || !/^([0-9a-fA-F]{2})*$/.test(bits_hex)) {
      throw invalid(`the bits_hex of ${id} is not a sequence of hexadecimal bytes`);
    }
    return { id, bit_count: count, source: { hex: bits_hex }, sha256 };
  }
  if (typeof path !== "string" || !isConfined(path)) throw invalid(`the path of ${id} leaves the manifest's folder`);
  return { id, bit_count: count, source: { path }, sha256 };
}

function isConfined(path: string): boolean {
  return path !== "" && !/^[A-Za-z][A-Za-z0-9+.-]*:|^\/|\\|\0/.test(path) && !path.split("/").includes("..");
}

function readSelections(value: Value, ids: ReadonlySet<string>): Map<string, string[]> {
  if (!isObject(value)) throw invalid("its selections are not a mapping");
  return new Map(
    Object.entries(value).map(([name, list]) => {
      if (!Array.isArray(list) || !list.every((id): id is string => typeof id === "string" && ids.has(id))) {
        throw invalid(`the selection ${name} is not a list of its item ids`);
      }
      return [name, list];
    }),
  );
}

function invalid(why: string): SvcError {
  return new SvcError("boundary_value_invalid", `Cannot use the bit manifest: ${why}`);
}

/**
 * The items of a step in its order; without ids and selection all of them.
 * @throws SvcError `boundary_value_invalid` for an unknown name, with the nearest one as hint
 */
function chooseItems(manifest: BitManifest, itemIds: readonly string[], selection: string): BitPayload[] {
  const byId = new Map(manifest.items.map((item) => [item.id, item]));
  const find = <T>(map: ReadonlyMap<string, T>, name: string, what: string): T => {
    const found = map.get(name);
    if (found !== undefined) return found;
    throw new SvcError("boundary_value_invalid", `Cannot find the ${what} ${name} in the bit manifest`, {
      hint: didYouMean(name, map.keys()),
    });
  };
  const wanted = selection === "" ? itemIds : find(manifest.selections, selection, "selection");
  return wanted.length === 0 && selection === "" ? manifest.items : wanted.map((id) => find(byId, id, "item"));
}

/** Facts about the selected items for the receiver. */
function manifestFacts(items: readonly BitPayload[], manifestSha256: string): JsonObject {
  return {
    source_item_counts: items.map((item) => item.bit_count),
    source_item_ids: items.map((item) => item.id),
    manifest_sha256: manifestSha256,
  };
}

export default defineOperation({
  id: "source.bit_manifest",
  name: "Hash-pinned bit payload manifest",
  description: "Reads frozen payload bits from a local manifest whose hash must match",
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    manifest_path: z.string().min(1).describe("path of the manifest, JSON or YAML"),
    manifest_sha256: z.string().regex(/^[0-9a-f]{64}$/).describe("SHA-256 of the manifest file"),
    item_ids: z.array(z.string().min(1)).default([])
      .describe("items in this order; without a selection, none means all"),
    selection: z.string().default("").describe("a named selection of the manifest, instead of item_ids"),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: {
    bits: { keys: ["boundary_contract", "bit_count", "source_item_counts", "source_item_ids"] },
  },
  estimate: () => ({ bits: null }),
  check: ({ item_ids, selection }) =>
    item_ids.length > 0 && selection !== ""
      ? [{
        message: "Cannot choose items by ids and by a selection at once",
        place: ["selection"],
        hint: "Set only one of item_ids and selection",
      }]
      : [],
  requires: ({ manifest_path }) => [{ kind: "file", id: manifest_path }],
  async run({ params, files }) {
    const { manifest_path, manifest_sha256 } = params;
    const file = await files.read(manifest_path);
    checkDigest(file, manifest_sha256, manifest_path);
    const chosen = chooseItems(await readBitManifest(file, manifest_path), params.item_ids, params.selection);
    const folder = manifest_path.slice(0, manifest_path.lastIndexOf("/") + 1);
    const bits = new Uint8Array(chosen.reduce((sum, item) => sum + item.bit_count, 0));
    let at = 0;
    for (const item of chosen) {
      const packed = "hex" in item.source
        ? Uint8Array.fromHex(item.source.hex)
        : await files.read(folder + item.source.path);
      bits.set(payloadBits(packed, item), at);
      at += item.bit_count;
    }
    return { outputs: { bits: bitsArtifact(bits, manifestFacts(chosen, manifest_sha256), "payload.bits") } };
  },
});

function payloadBits(packed: Uint8Array, item: BitPayload): Uint8Array {
  checkDigest(packed, item.sha256, `the payload ${item.id}`);
  if (packed.length !== Math.ceil(item.bit_count / 8)) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot read ${item.bit_count} bits from ${packed.length} bytes of ${item.id}`,
    );
  }
  const all = unpackBits(packed);
  if (all.subarray(item.bit_count).some((bit) => bit !== 0)) {
    throw new SvcError("boundary_value_invalid", `Cannot use ${item.id}: the padding of its last byte is not zero`);
  }
  return all.subarray(0, item.bit_count);
}
