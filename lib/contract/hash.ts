/** SHA-256 digests as 64 lowercase hex digits. */
import { canonicalJson, type Value } from "./json.ts";
import { nodeCrypto } from "./node_builtins.ts";

/** Digest of bytes or of the UTF-8 form of a text. */
export function sha256Hex(data: Uint8Array | string): string {
  return nodeCrypto().createHash("sha256").update(data).digest("hex");
}

/** Digest of the canonical JSON of a value. */
export function sha256Json(value: Value): string {
  return sha256Hex(canonicalJson(value));
}
