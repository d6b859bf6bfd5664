/** The data of a link that a figure of its result shows: images as sent and as received, or received symbols. */
import type { Artifact } from "./documents.ts";

/** Images of the source and of the last step that gave some; null where a run has no pair. */
export function imagePair(artifacts: readonly Artifact[]): { sent: Artifact; received: Artifact } | null {
  const images = artifacts.filter(({ kind }) => kind === "image.batch.numpy");
  return images.length > 1 ? { sent: images[0], received: images.at(-1)! } : null;
}

/** Ids of the images of a batch. */
export function imageIdsOf({ metadata, shape }: Artifact): string[] {
  if (Array.isArray(metadata.image_ids)) return metadata.image_ids.map(String);
  return Array.from({ length: shape?.length === 4 ? shape[0] : 1 }, (_, at) => `image ${at}`);
}

/** Complex symbols as received, else the last ones of the link. */
export function receivedSymbols(artifacts: readonly Artifact[]): Artifact | undefined {
  const symbols = artifacts.filter(({ dtype, kind }) => dtype?.startsWith("complex") && /symbols/.test(kind));
  return symbols.find(({ kind }) => kind.includes("rx_symbols")) ?? symbols.at(-1);
}
