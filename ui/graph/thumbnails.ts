/** Small images of what the steps of a run gave: an image, a constellation, a histogram or a line. */
import { get } from "../api.ts";
import { densityPixels } from "../charts/density.ts";
import { type Artifact, artifactsOf, type RunSummary } from "../runs/documents.ts";
import { blobUrl, imageAddress } from "../state/files.ts";

/** Cells of a constellation and pixels of a curve on one side. */
const CELLS = 40, SIDE = 96;
/** Longer series of soft values are drawn as a histogram. */
const LONGEST_LINE = 512;
const SHORTEST_LINE = 8;

/** Images of the steps of a run, one after another. Whoever stops revokes the addresses that came. */
export async function* thumbnailsOf(
  summary: RunSummary,
  signal: AbortSignal,
): AsyncGenerator<[step: string, url: string]> {
  const made = new Set<string>();
  for (const artifact of artifactsOf(summary)) {
    if (made.has(artifact.step)) continue;
    // An artifact that was pruned has no image.
    const url = await thumbnailOf(artifact, signal).catch(() => null);
    if (url === null) continue;
    made.add(artifact.step);
    yield [artifact.step, url];
  }
}

/** An image of an artifact, or null where its kind has none. @param index of an image in its batch @throws Problem */
export async function thumbnailOf(artifact: Artifact, signal: AbortSignal, index = 0): Promise<string | null> {
  const { kind, path, array, dtype, shape } = artifact;
  if (kind === "image.batch.numpy") return await blobUrl(imageAddress(path, index), signal);
  const series = async (kind: "histogram_2d" | "histogram" | "line", points: number) =>
    await get("/api/series", { query: { path, array, kind, points, range: "robust" }, signal });
  if (dtype?.startsWith("complex") && kind.includes("symbols")) {
    const { counts } = await series("histogram_2d", CELLS * CELLS);
    const rows = counts!.map((row) => row.map(Number));
    // Symbols without noise fill single cells: these grow, so that they are visible.
    const sparse = rows.flat().filter((count) => count > 0).length < CELLS * CELLS / 8;
    const canvas = new OffscreenCanvas(rows[0].length, rows.length);
    canvas.getContext("2d")!.putImageData(
      new ImageData(densityPixels(sparse ? grown(rows) : rows), canvas.width, canvas.height),
      0,
      0,
    );
    return await addressOf(canvas);
  }
  const length = shape?.length === 1 ? shape[0] : 0;
  if (!dtype?.startsWith("float") || length < SHORTEST_LINE) return null;
  const { y } = await series(length > LONGEST_LINE ? "histogram" : "line", length > LONGEST_LINE ? SIDE / 2 : SIDE);
  return await curve(y.map(Number));
}

/** The largest count of each cell and its neighbours. */
const grown = (rows: readonly (readonly number[])[]): number[][] =>
  rows.map((row, y) =>
    row.map((_, x) => Math.max(...[-1, 0, 1].flatMap((dy) => [-1, 0, 1].map((dx) => rows[y + dy]?.[x + dx] ?? 0))))
  );

const addressOf = async (canvas: OffscreenCanvas) =>
  URL.createObjectURL(await canvas.convertToBlob({ type: "image/png" }));

/** A line over the whole square, in the first colour of series. */
async function curve(values: readonly number[]): Promise<string | null> {
  const known = values.filter(Number.isFinite), low = Math.min(...known), high = Math.max(...known);
  if (!(high > low)) return null;
  const canvas = new OffscreenCanvas(SIDE, SIDE), context = canvas.getContext("2d")!;
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--series-1");
  context.lineWidth = 3;
  context.beginPath();
  for (const [at, value] of values.entries()) {
    if (Number.isFinite(value)) {
      context.lineTo(at / (values.length - 1) * SIDE, SIDE - 2 - (value - low) / (high - low) * (SIDE - 4));
    }
  }
  context.stroke();
  return await addressOf(canvas);
}
