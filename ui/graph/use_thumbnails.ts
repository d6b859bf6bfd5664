/** The images on the blocks of a run. What draws them is loaded with the first run that has ended. */
import { useEffect, useState } from "../preact.ts";
import type { RunSummary } from "../runs/documents.ts";

/** Addresses of images by step. They appear one after another. */
export function useThumbnails(summary: RunSummary | null): ReadonlyMap<string, string> {
  const [urls, setUrls] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    if (summary === null || summary.status === "running") return;
    const stop = new AbortController(), made = new Map<string, string>();
    const draw = async () => {
      const { thumbnailsOf } = await import("./thumbnails.ts");
      for await (const [step, url] of thumbnailsOf(summary, stop.signal)) {
        if (stop.signal.aborted) return URL.revokeObjectURL(url);
        setUrls(new Map(made.set(step, url)));
      }
    };
    // Without the server there are no images, and the blocks stay as they are.
    draw().catch(() => {});
    return () => {
      stop.abort();
      for (const url of made.values()) URL.revokeObjectURL(url);
      setUrls(new Map());
    };
  }, [summary]);
  return urls;
}
