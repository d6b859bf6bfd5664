/** Documents for other threads. A structured clone does not keep 1 and 1.0 apart; canonical JSON does. */
import { SvcError } from "./error.ts";
import { sha256Hex } from "./hash.ts";
import { canonicalJson, parseJson, type Value } from "./json.ts";

/** A document as canonical JSON, with its digest. */
export interface SealedText {
  text: string;
  sha256: string;
}

/** @param document a JSON value */
export function seal(document: object): SealedText {
  const text = canonicalJson(document as Value);
  return { text, sha256: sha256Hex(text) };
}

/** @throws SvcError `internal_error` for a text that does not match its digest */
export function unseal({ text, sha256 }: SealedText): Value {
  if (sha256Hex(text) === sha256) return parseJson(text);
  throw new SvcError("internal_error", "Cannot read the document of another thread: its digest differs");
}
