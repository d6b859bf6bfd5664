/** Files of bundles as texts, values and addresses of blobs. */
import { parseJson } from "../../lib/contract/json.ts";
import { blobUrl, headers, Problem } from "../api.ts";
import { useEffect, useState } from "../preact.ts";

export { get, Problem } from "../api.ts";

export const artifactAddress = (path: string, more = "") => `/api/artifact?path=${encodeURIComponent(path)}${more}`;
export const imageAddress = (path: string, index: number) =>
  `/api/image?path=${encodeURIComponent(path)}&index=${index}`;

export const seriesAddress = (path: string, array: string | null, kind: string, points: number) =>
  `/api/series?${new URLSearchParams({
    path,
    kind,
    points: String(points),
    // One value that lies far off does not shrink the picture of the others.
    ...(kind === "line" ? {} : { range: "robust" }),
    ...(array === null ? {} : { array }),
  })}`;

/** The whole text of a file. @throws Problem */
export async function text(path: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch(artifactAddress(path, "&download=1"), { headers: headers(), signal });
  const found = await response.text();
  if (response.ok) return found;
  const body = parseJson(found) as { code?: string; detail?: string };
  throw new Problem(response.status, String(body.code), String(body.detail ?? response.statusText));
}

/** The document of a file. @throws Problem */
export const json = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  parseJson(await text(path, signal)) as T;

/** Saves a file where the browser saves files. */
export async function saveArtifact(path: string): Promise<void> {
  const url = await blobUrl(artifactAddress(path, "&download=1"));
  saveAs(url, path.split("/").slice(-2).join("_"));
}

export function saveAs(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const saveText = (content: string, name: string, type: string): void =>
  saveAs(URL.createObjectURL(new Blob([content], { type })), name);

export interface Loaded<T> {
  value: T | null;
  problem: string | null;
}

/** What a promise brings, dropped when its question is no longer asked. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key: string): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { key: string }>({ key, value: null, problem: null });
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => !stop.signal.aborted && setLoaded({ key, value, problem: null }),
      (error) => !stop.signal.aborted && setLoaded({ key, value: null, problem: (error as Error).message }),
    );
    return () => stop.abort();
  }, [key]);
  return loaded.key === key ? loaded : { value: null, problem: null };
}
