/** Small images of what runs received: an image, or the symbols. */
import { get } from "../api.ts";
import { thumbnailOf } from "../graph/thumbnails.ts";
import { artifactsOf } from "./documents.ts";
import { imagePair, receivedSymbols } from "./received.ts";

/** Images of runs, one after another, after one request for all. Whoever stops revokes the addresses that came. */
export async function* runPictures(ids: string, signal: AbortSignal): AsyncGenerator<[run: string, url: string]> {
  const { runs } = await get("/api/runs/documents", { query: { ids }, signal });
  for (const { summary } of runs) {
    const outputs = artifactsOf(summary), shown = imagePair(outputs)?.received ?? receivedSymbols(outputs);
    // An artifact that was pruned has no image.
    const url = shown === undefined ? null : await thumbnailOf(shown, signal).catch(() => null);
    if (url !== null) yield [summary.run_id, url];
  }
}
