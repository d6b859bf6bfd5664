/** A file of a bundle as the reply to a request: whole or a range of bytes (RFC 9110, 14), with its recorded digest as ETag. */
import { basename } from "node:path";
import { inside, openFile, readText } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import type { ArtifactFile } from "../run/artifact_file.ts";
import { SUMS_FILE } from "../run/documents.ts";
import { parseSha256Sums } from "../run/files.ts";
import { MAX_DOCUMENT_BYTES } from "../run/read.ts";
import type { Workspace } from "../run/workspace.ts";
import { matches } from "./answer.ts";
import { Answer } from "./route.ts";

interface Range {
  first: number;
  /** The byte after the last one. */
  end: number;
}

/**
 * Answers with a file that is read at the speed of the client.
 * @param asked headers of the request, by lower-case names
 * @throws SvcError `range_not_satisfiable` for a range without a byte of the file
 */
export function fileAnswer(workspace: Workspace, file: ArtifactFile, asked: Readonly<Record<string, string>>): Answer {
  const { full, size } = file, digest = recordedDigest(workspace, file.path);
  const name = basename(file.path).replaceAll(/[^A-Za-z0-9._-]/g, "_");
  const headers: Record<string, string> = {
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename="${name}"`,
    "accept-ranges": "bytes",
    ...(digest === null ? {} : { etag: `"${digest}"` }),
  };
  if (digest !== null && matches(asked["if-none-match"], headers.etag)) {
    return new Answer(null, { status: 304, headers: { etag: headers.etag } });
  }
  // A range of another version of the file would not fit what the client has.
  const current = asked["if-range"] === undefined || asked["if-range"] === headers.etag;
  const range = current ? rangeOf(asked.range, size) : null;
  const { first, end } = range ?? { first: 0, end: size };
  if (range !== null) headers["content-range"] = `bytes ${first}-${end - 1}/${size}`;
  headers["content-length"] = String(end - first);
  return new Answer(bytesOf(openFile(full, { read: true }), first, end), {
    status: range === null ? 200 : 206,
    headers,
  });
}

/** The digest of a file in the record of its finished run; null where there is none. */
function recordedDigest({ stateDir }: Workspace, path: string): string | null {
  const [folder, id, ...rest] = path.split("/"), sums = inside(stateDir, folder, id, SUMS_FILE);
  if (rest.length === 0 || !exists(sums)) return null;
  return parseSha256Sums(readText(sums, MAX_DOCUMENT_BYTES)).get(rest.join("/")) ?? null;
}

/**
 * The one range of a `Range` header; null for the whole file: without the header, with another unit, with several ranges, and
 * where it is no range.
 * @throws SvcError `range_not_satisfiable`
 */
function rangeOf(header: string | undefined, size: number): Range | null {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(" ", "") ?? "");
  if (found === null || found[1] === "" && found[2] === "") return null;
  const [from, to] = [found[1], found[2]].map((digits) => digits === "" ? null : Number(digits));
  const first = from ?? Math.max(0, size - to!), end = from === null || to === null ? size : Math.min(size, to + 1);
  if (from !== null && to !== null && to < from) return null;
  if (first >= end) {
    throw new SvcError("range_not_satisfiable", `Cannot send the range ${header}: the file has ${size} bytes`, {
      hint: "Ask without Range for the whole file",
      extra: { content_range: `bytes */${size}` },
    });
  }
  return { first, end };
}

/** The bytes of a file from `first` to before `end`; the stream closes the file at its end and when the client leaves. */
function bytesOf(file: Deno.FsFile, first: number, end: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = end - first;
  file.seekSync(first, Deno.SeekMode.Start);
  return file.readable.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        const part = chunk.subarray(0, left);
        left -= part.length;
        controller.enqueue(part);
        if (left === 0) controller.terminate();
      },
      flush(controller) {
        // A file that became shorter meanwhile must not look complete.
        if (left > 0) controller.error(new Error(`${left} bytes are missing`));
      },
    }),
  );
}
