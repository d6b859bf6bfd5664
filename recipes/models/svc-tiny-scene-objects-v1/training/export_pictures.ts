/**
 * Writes cluttered scenes of `source.synthetic_scenes` for train.py, as they are and as JPEG, as one NPZ file.
 *
 *     deno run -A recipes/models/svc-tiny-scene-objects-v1/training/export_pictures.ts <file.npz> <seed> <count>
 *
 * images and received uint8 [scene, 64, 64, 3]; boxes int32 [object, 6]: scene, label, then the box. JPEG has a quality of 1 to 60,
 * log-uniform, and half the width and height at every second scene.
 */
import { decodeJpegStream, halved } from "../../../../lib/artifact/jpeg/within_budget.ts";
import { JpegEncoder } from "../../../../lib/artifact/jpeg/encoder.ts";
import { writeNpz } from "../../../../lib/artifact/npz.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import { drawScene, GROUND_NAMES, paintScene, SHAPES } from "../../../../lib/numeric/image/scenes.ts";

const SIZE = 64, BYTES = SIZE * SIZE * 3;
const [file, ...numbers] = Deno.args;
const [seed, count] = numbers.map(Number);
const generator = Generator.seeded(seed), qualities = Generator.seeded(seed + 1).uniform(0, 1, count);
const images = new Uint8Array(count * BYTES), received = new Uint8Array(count * BYTES);
const boxes: number[] = [];
for (let i = 0; i < count; i++) {
  const ground = GROUND_NAMES[i % GROUND_NAMES.length];
  const scene = drawScene(generator, { size: SIZE, least: 1, most: 3, ground, cluttered: true });
  const image = { width: SIZE, height: SIZE, channels: 3 as const, data: paintScene(scene).pixels };
  const half = i % 2 === 1, quality = Math.round(60 ** Number(qualities[i]));
  const coder = new JpegEncoder(half ? halved(image) : image, "420");
  const stream = coder.encodeAbbreviated(quality, { half, limit: BYTES });
  images.set(image.data, i * BYTES);
  received.set(decodeJpegStream(stream!, image).data, i * BYTES);
  for (const { shape, x, y, side } of scene.objects) boxes.push(i, SHAPES.indexOf(shape), x, y, x + side, y + side);
}
const shape = [count, SIZE, SIZE, 3];
Deno.writeFileSync(
  file,
  writeNpz({
    images: { dtype: "uint8", shape, data: images },
    received: { dtype: "uint8", shape, data: received },
    boxes: { dtype: "int32", shape: [boxes.length / 6, 6], data: Int32Array.from(boxes) },
  }),
);
