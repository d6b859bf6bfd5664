/**
 * Hash-pinned bit payloads: the selected items of a manifest in order, each a source item. The manifest file and every
 * payload must have their recorded SHA-256. The manifest: _bit_manifest.ts.
 */
import { PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation, sha256Hex, SvcError, z } from "../api.ts";
import { bitsArtifact } from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { type BitPayload, chooseItems, manifestFacts, readBitManifest } from "./_bit_manifest.ts";

export default defineOperation({
  id: "source.bit_manifest",
  name: "Hash-pinned bit payload manifest",
  description: "Reads frozen payload bits from a local manifest whose hash must match",
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    manifest_path: z.string().min(1).describe("path of the manifest, JSON or YAML"),
    manifest_sha256: z.string().regex(/^[0-9a-f]{64}$/).describe("SHA-256 of the manifest file"),
    item_ids: z.array(z.string().min(1)).default([]).describe(
      "items in this order; without a selection, none means all",
    ),
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

function checkDigest(bytes: Uint8Array, sha256: string, what: string): void {
  const found = sha256Hex(bytes);
  if (found === sha256) return;
  throw new SvcError("boundary_hash_mismatch", `Cannot use ${what}: its SHA-256 differs from the recorded one`, {
    hint: `Recorded ${sha256}, found ${found}`,
  });
}
