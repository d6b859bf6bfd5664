/** Importance maps over their images: the more important a pixel, the stronger its tint. */
import { STYLES } from "../../../lib/figure/style.ts";
import { readPixels } from "../../charts/read_pixels.ts";
import { useEffect, useRef, useState } from "../../preact.ts";
import type { Artifact } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { imageAddress } from "../../state/files.ts";
import { MOST_VALUES, readBlock } from "../fetch_array.ts";
import { Wait } from "../../parts.tsx";
import { IndexChoice, nameOf, ViewPanel } from "./parts.tsx";
import { importancePixels } from "./scene.ts";

export interface Importance {
  map: Artifact & { shape: number[] };
  /** Images of the size of the map, the earliest of them: those of the sender. */
  images: Artifact | null;
}

export function importanceOf(artifacts: readonly Artifact[]): Importance | null {
  const map = artifacts.find(({ kind, shape }) => kind === "semantic.importance_map.numpy" && shape?.length === 3);
  if (map === undefined || map.shape![1] * map.shape![2] > MOST_VALUES) return null;
  const images = artifacts.find(({ kind, shape }) =>
    kind === "image.batch.numpy" && map.shape!.every((size, axis) => size === shape?.[axis])
  );
  return { map: { ...map, shape: map.shape! }, images: images ?? null };
}

const TINT = [1, 3, 5].map((at) => parseInt(STYLES.svc.series[1].slice(at, at + 2), 16)) as [number, number, number];

export function ImportanceView({ importance: { map, images } }: { importance: Importance }) {
  const [index, setIndex] = useState(0), canvas = useRef<HTMLCanvasElement>(null);
  const [count, height, width] = map.shape;
  const { value, ...wait } = useLoaded(async (signal) => {
    const [block, pixels] = await Promise.all([
      readBlock(map, [index], signal),
      images === null ? null : readPixels(imageAddress(images.path, index), signal),
    ]);
    return { values: block.real, sizes: block.sizes, pixels };
  }, `${map.path} ${images?.path} ${index}`);
  useEffect(() => {
    if (value === null || canvas.current === null) return;
    const [rows, columns] = value.sizes, own = canvas.current;
    own.width = width;
    own.height = height;
    const context = own.getContext("2d")!, layer = new OffscreenCanvas(columns, rows);
    if (value.pixels !== null) context.putImageData(value.pixels, 0, 0);
    layer.getContext("2d")!.putImageData(new ImageData(importancePixels(value.values, TINT), columns, rows), 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(layer, 0, 0, width, height);
  }, [value]);
  const ids = Array.isArray(map.metadata.image_ids) ? map.metadata.image_ids.map(String) : [];
  const id = ids[index] ?? `image ${index}`;
  return (
    <ViewPanel
      title="Importance of pixels"
      controls={<IndexChoice label="Image" count={count} value={index} onChoose={setIndex} />}
    >
      {value === null ? <Wait of={wait} what="the importance map" /> : (
        <div class="scene">
          <div class="scene-picture">
            <canvas
              ref={canvas}
              class={width < 256 ? "pixelated" : undefined}
              role="img"
              aria-label={`Importance map of ${id}${images === null ? "" : ` over ${nameOf(images)}`}`}
            />
          </div>
          <div class="scene-facts">
            <p>
              <code>{id}</code>: {nameOf(map)}
              {images === null ? "" : ` over ${nameOf(images)}`}
            </p>
            <p class="muted small">The strongest tint marks the most important pixels of the image.</p>
          </div>
        </div>
      )}
    </ViewPanel>
  );
}
