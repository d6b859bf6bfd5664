/** Grids of powers on a canvas. */
import { PIXELS } from "./density.tsx";
import { type GridWindow, type PowerGrid, powerPixels } from "./range_doppler.ts";

/** Paints a window of powers over the whole canvas, without interpolation. */
export function paintPower(
  canvas: HTMLCanvasElement,
  grid: Pick<PowerGrid, "power" | "columns">,
  shown: GridWindow,
  deepest?: number,
) {
  const cells = new OffscreenCanvas(shown.columns, shown.rows);
  const pixels = new ImageData(powerPixels(grid, shown, deepest), shown.columns, shown.rows);
  cells.getContext("2d")!.putImageData(pixels, 0, 0);
  canvas.width = canvas.height = PIXELS;
  const context = canvas.getContext("2d")!;
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, 0, 0, PIXELS, PIXELS);
}
