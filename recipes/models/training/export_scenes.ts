/**
 * Writes scenes of `source.synthetic_scenes` for the training scripts: pictures, boxes and rasters as one NPZ file.
 *
 *     deno run -A recipes/models/training/export_scenes.ts <file.npz> <seed> <count> <size> <most objects>
 *
 * images uint8 [scene, size, size, 3]; classes uint8 [scene, size, size]; boxes int32 [object, 6]: scene, label, then the box.
 */
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { drawScene, GROUND_NAMES, paintScene, SHAPES } from "../../../lib/numeric/image/scenes.ts";

const [file, ...numbers] = Deno.args;
const [seed, count, size, most] = numbers.map(Number);
const generator = Generator.seeded(seed);
const images = new Uint8Array(count * size * size * 3), classes = new Uint8Array(count * size * size);
const boxes: number[] = [];
for (let i = 0; i < count; i++) {
  const scene = drawScene(generator, { size, least: 1, most, ground: GROUND_NAMES[i % GROUND_NAMES.length] });
  const painted = paintScene(scene);
  images.set(painted.pixels, i * painted.pixels.length);
  classes.set(painted.classes, i * painted.classes.length);
  for (const { shape, x, y, side } of scene.objects) boxes.push(i, SHAPES.indexOf(shape), x, y, x + side, y + side);
}
Deno.writeFileSync(
  file,
  writeNpz({
    images: { dtype: "uint8", shape: [count, size, size, 3], data: images },
    classes: { dtype: "uint8", shape: [count, size, size], data: classes },
    boxes: { dtype: "int32", shape: [boxes.length / 6, 6], data: Int32Array.from(boxes) },
  }),
);
