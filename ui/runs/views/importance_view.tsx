/** Importance maps over their images: the more important a pixel, the stronger its tint. */
import { STYLES } from "../../../lib/figure/style.ts";
import { readPixels } from "../../charts/read_pixels.ts";
import { useEffect, useRef } from "../../preact.ts";
import type { Artifact } from "../documents.ts";
import { imageAddress } from "../../state/files.ts";
import { type Block, MOST_VALUES, readBlock } from "../fetch_array.ts";
import { nameOf, type Shaped } from "./parts.tsx";
import { importancePixels } from "./scene.ts";
import { view } from "./view.tsx";

const TINT = [1, 3, 5].map((at) => parseInt(STYLES.svc.series[1].slice(at, at + 2), 16)) as [number, number, number];

export const IMPORTANCE = view({
  title: "Importance of pixels",
  matches({ artifacts }) {
    const map = artifacts.find(({ kind, shape }) => kind === "semantic.importance_map.numpy" && shape?.length === 3);
    if (map === undefined || map.shape![1] * map.shape![2] > MOST_VALUES) return [];
    // Images of the size of the map, the earliest of them: those of the sender.
    const images = artifacts.find(({ kind, shape }) =>
      kind === "image.batch.numpy" && map.shape!.every((size, axis) => size === shape?.[axis])
    );
    return [{ map: map as Shaped, images }];
  },
  keyOf: ({ map, images }) => `${map.path} ${images?.path}`,
  indices: ({ map: { shape } }) => [["Image", shape[0]]],
  what: "the importance map",
  load: ({ map, images }, [index], signal) =>
    Promise.all([
      readBlock(map, [index], signal),
      images === undefined ? null : readPixels(imageAddress(images.path, index), signal),
    ]),
  figure: ([block, pixels], { item, indices: [index] }) => (
    <Tinted {...item} block={block} pixels={pixels} index={index} />
  ),
});

function Tinted({ map, images, block, pixels, index }: {
  map: Shaped;
  images: Artifact | undefined;
  block: Block;
  pixels: ImageData | null;
  index: number;
}) {
  const canvas = useRef<HTMLCanvasElement>(null), [, height, width] = map.shape;
  useEffect(() => {
    const [rows, columns] = block.sizes, own = canvas.current!;
    own.width = width;
    own.height = height;
    const context = own.getContext("2d")!, layer = new OffscreenCanvas(columns, rows);
    if (pixels !== null) context.putImageData(pixels, 0, 0);
    layer.getContext("2d")!.putImageData(new ImageData(importancePixels(block.real, TINT), columns, rows), 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(layer, 0, 0, width, height);
  }, [block, pixels]);
  const ids = Array.isArray(map.metadata.image_ids) ? map.metadata.image_ids.map(String) : [];
  const id = ids[index] ?? `image ${index}`, over = images === undefined ? "" : ` over ${nameOf(images)}`;
  return (
    <div class="scene">
      <div class="scene-picture">
        <canvas
          ref={canvas}
          class={width < 256 ? "pixelated" : undefined}
          role="img"
          aria-label={`Importance map of ${id}${over}`}
        />
      </div>
      <div class="scene-facts">
        <p>
          <code>{id}</code>: {nameOf(map)}
          {over}
        </p>
        <p class="muted small">The strongest tint marks the most important pixels of the image.</p>
      </div>
    </div>
  );
}
