/** Paths, digests and names of documents that somebody else may have written: a text has such a type after its check. */
import { SvcError } from "./error.ts";

declare const CHECKED: unique symbol;

/** A relative path with `/` between plain names: it stays inside the folder of its document. */
export type BundlePath = string & { readonly [CHECKED]: "path" };
/** A SHA-256 in hexadecimal; hashing gives one, or {@link isDigest}. */
export type Digest = string & { readonly [CHECKED]: "digest" };

/** Folder of artifacts in a bundle. */
export const ARTIFACTS_FOLDER = "artifacts";

/** Longest name that file systems take. */
const MAX_NAME_BYTES = 255;
const MAX_PATH_LENGTH = 4096;
// deno-lint-ignore no-control-regex -- control characters are refused
const FORBIDDEN = /[\\\u0000-\u001f\u007f-\u009f]|^[A-Za-z]:/;

/** The reason why a text is no {@link BundlePath}, or null. */
export function pathProblem(text: string): string | null {
  if (text === "" || text.length > MAX_PATH_LENGTH || FORBIDDEN.test(text)) {
    return "it is no relative path with / between its parts";
  }
  const isPlain = (part: string) =>
    part !== "" && part !== "." && part !== ".." && new TextEncoder().encode(part).length <= MAX_NAME_BYTES;
  return text.split("/").every(isPlain) ? null : `its parts must be plain names of at most ${MAX_NAME_BYTES} bytes`;
}

export const isBundlePath = (value: unknown): value is BundlePath =>
  typeof value === "string" && pathProblem(value) === null;

export const isDigest = (value: unknown): value is Digest => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

/** @throws SvcError `path_refused` */
export function bundlePath(text: string): BundlePath {
  const why = pathProblem(text);
  if (why !== null) throw new SvcError("path_refused", `Cannot use the path ${quoted(text)}: ${why}`);
  return text as BundlePath;
}

/** The beginning of a text in quotes, for a message. */
export const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
