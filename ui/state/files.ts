/** Files that the browser saves. */
import { addressOf, send } from "../api.ts";

export function saveAs(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const saveText = (content: string, name: string, type = "text/plain"): void =>
  saveAs(URL.createObjectURL(new Blob([content], { type })), name);

export const artifactAddress = (path: string) => addressOf("/api/artifact", { query: { path, download: 1 } });
export const imageAddress = (path: string, index: number) => addressOf("/api/image", { query: { path, index } });

/** Bytes of the server as an address; revoke it when it is no longer shown. @throws Problem */
export const blobUrl = async (address: string, signal?: AbortSignal): Promise<string> =>
  URL.createObjectURL(await (await send(address, { signal })).blob());

/** Saves an artifact file. @throws Problem */
export const saveArtifact = async (path: string): Promise<void> =>
  saveAs(await blobUrl(artifactAddress(path)), path.split("/").slice(-2).join("_"));
