import assert from "node:assert/strict";
import { colourName } from "../../../lib/numeric/image/colour_name.ts";
import { readPlainScene } from "../../../lib/numeric/image/plain_scene.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { COLOURS, drawScene, GROUND_NAMES, GROUNDS, paintScene } from "../../../lib/numeric/image/scenes.ts";

const raster = (size: number, pixels: Uint8Array) => ({ width: size, height: size, data: pixels });

Deno.test("every colour and ground of the synthetic scenes has its name, and keeps it 12 steps off", () => {
  for (const [name, rgb] of Object.entries({ ...COLOURS, ...GROUNDS })) {
    for (const offset of [[0, 0, 0], [12, 0, 0], [0, -12, 0], [0, 0, 12], [-12, 12, 0]]) {
      const [red, green, blue] = rgb.map((value, channel) => Math.max(0, Math.min(255, value + offset[channel])));
      assert.equal(colourName(red, green, blue), name, `${red} ${green} ${blue}`);
    }
  }
});

Deno.test("all objects of 200 drawn scenes are found: shape, colour and box to the pixel", () => {
  const generator = Generator.seeded(5n);
  for (let index = 0; index < 200; index++) {
    const ground = GROUND_NAMES[index % GROUND_NAMES.length];
    const scene = drawScene(generator, { size: 64 + index % 40, least: 1, most: 8, ground });
    const found = readPlainScene(raster(scene.size, paintScene(scene).pixels));
    assert.equal(found.ground, ground);
    const row = (shape: string, colour: string, box: readonly number[]) => `${colour} ${shape} ${box.join(" ")}`;
    assert.deepEqual(
      found.objects.map(({ shape, colour, box }) => row(shape, colour, box)).sort(),
      scene.objects.map(({ shape, colour, x, y, side }) => row(shape, colour, [x, y, x + side, y + side])).sort(),
    );
  }
});

Deno.test("turned squares and triangles keep their shape", () => {
  const size = 60;
  for (const angle of [0, 20, 45, 70]) {
    for (const corners of [3, 4]) {
      const pixels = new Uint8Array(3 * size * size).fill(245);
      for (let y = 0; y < size; y++) {
        for (let x = 0; x < size; x++) {
          // Inside a regular polygon: the projection on every normal of an edge stays below the inner radius.
          const inside = Array.from({ length: corners }, (_, k) => (angle + 360 * k / corners) * Math.PI / 180)
            .every((normal) => (x - 30) * Math.cos(normal) + (y - 30) * Math.sin(normal) <= 12);
          if (inside) pixels.set([220, 40, 40], 3 * (y * size + x));
        }
      }
      const { objects } = readPlainScene(raster(size, pixels));
      assert.deepEqual(objects.map(({ shape }) => shape), [corners === 3 ? "triangle" : "square"], `${angle} degrees`);
    }
  }
});

Deno.test("touching objects of two colours are two, and a picture without a plain ground has none", () => {
  const size = 48, pixels = new Uint8Array(3 * size * size).fill(20);
  for (let y = 10; y < 30; y++) {
    for (let x = 6; x < 46; x++) pixels.set(x < 26 ? COLOURS.red : COLOURS.blue, 3 * (y * size + x));
  }
  const { objects } = readPlainScene(raster(size, pixels));
  assert.deepEqual(objects.map(({ colour, shape }) => `${colour} ${shape}`), ["red square", "blue square"]);

  const noise = Uint8Array.from(Generator.seeded(1n).integers(0, 256, 3 * size * size), Number);
  assert.deepEqual(readPlainScene(raster(size, noise)).objects, []);
});
