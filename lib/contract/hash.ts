/** SHA-256 digests as 64 lowercase hex digits. */
import { checkUnicode } from "./error.ts";
import { canonicalJson } from "./json.ts";
import type { Digest } from "./names.ts";
import type { Serializable } from "./value.ts";
import { nodeCrypto } from "./node_builtins.ts";

/** Digest of bytes or of the UTF-8 form of a text. @throws SvcError `text_invalid` for a lone surrogate */
export function sha256Hex(data: Uint8Array | string): Digest {
  if (typeof data === "string") checkUnicode(data);
  return nodeCrypto().createHash("sha256").update(data).digest("hex") as Digest;
}

/** The digest of bytes that come in blocks. */
export function sha256Stream(): { update(block: Uint8Array): void; digest(): Digest } {
  const hash = nodeCrypto().createHash("sha256");
  return { update: (block) => void hash.update(block), digest: () => hash.digest("hex") as Digest };
}

/** SHA-512 of bytes, as SigMF records it. */
export function sha512Hex(data: Uint8Array): string {
  return nodeCrypto().createHash("sha512").update(data).digest("hex");
}

export function sha256Json(value: Serializable): Digest {
  return sha256Hex(canonicalJson(value));
}
