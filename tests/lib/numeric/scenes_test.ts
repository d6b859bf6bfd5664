import assert from "node:assert/strict";
import { Generator } from "../../../lib/numeric/random/random.ts";
import {
  covers,
  describeScene,
  drawScene,
  GAP,
  MAXIMUM_OBJECTS,
  MINIMUM_SIZE,
  paintScene,
  placeOf,
  type Scene,
  SHAPES,
  sideLimits,
} from "../../../lib/numeric/image/scenes.ts";

Deno.test("a shape touches every edge of its box, stays inside, and has its area", () => {
  for (let side = 8; side <= 32; side++) {
    for (const shape of SHAPES) {
      const cells = Array.from({ length: side * side }, (_, at) => [at % side, Math.floor(at / side)] as const)
        .filter(([column, row]) => covers(shape, side, column, row));
      const columns = cells.map(([column]) => column), rows = cells.map(([, row]) => row);
      assert.deepEqual([Math.min(...columns), Math.max(...columns)], [0, side - 1], `${shape} ${side}`);
      assert.deepEqual([Math.min(...rows), Math.max(...rows)], [0, side - 1], `${shape} ${side}`);
      const area = { circle: Math.PI / 4, square: 1, triangle: 1 / 2 }[shape] * side * side;
      // At most one pixel is won or lost per pixel of a row's ends.
      assert.ok(Math.abs(cells.length - area) <= side, `${shape} ${side}: ${cells.length} for ${area}`);
    }
  }
  assert.equal(covers("triangle", 9, 0, 0), false);
  assert.equal(covers("triangle", 9, 4, 0), true);
});

Deno.test("the smallest object finds a place beside all others, at every size and count", () => {
  for (let size = MINIMUM_SIZE; size <= 1024; size++) {
    for (let count = 1; count <= MAXIMUM_OBJECTS; count++) {
      const { least, most } = sideLimits(size, count);
      const corners = size - 2 * GAP - least + 1, refused = most + least - 1 + 2 * GAP;
      assert.ok((count - 1) * refused ** 2 < corners ** 2, `${count} objects of up to ${most} in ${size} pixels`);
    }
  }
});

Deno.test("objects keep their distance from each other and from the edge", () => {
  const generator = Generator.seeded(23);
  for (let i = 0; i < 60; i++) {
    const { size, objects } = drawScene(generator, { size: 64, least: 1, most: MAXIMUM_OBJECTS, ground: "white" });
    objects.forEach((a, index) => {
      assert.ok(a.x >= GAP && a.y >= GAP && a.x + a.side <= size - GAP && a.y + a.side <= size - GAP);
      for (const b of objects.slice(index + 1)) {
        const apart = (u: "x" | "y") => Math.max(a[u] - b[u] - b.side, b[u] - a[u] - a.side);
        assert.ok(Math.max(apart("x"), apart("y")) >= GAP, "two boxes are too near");
      }
    });
  }
});

Deno.test("the order of draws is count, then shape, colour, side, x and y of each object", () => {
  const scene = drawScene(Generator.seeded(23), { size: 96, least: 1, most: 3, ground: "black" });
  const generator = Generator.seeded(23), below = (high: number) => Number(generator.integers(0, high, 1)[0]);
  assert.equal(scene.objects.length, 1 + below(3));
  const [first] = scene.objects;
  assert.equal(first.shape, SHAPES[below(3)]);
  below(6);
  const { least, most } = sideLimits(96, scene.objects.length);
  assert.equal(first.side, least + below(most - least + 1));
  assert.equal(first.x, GAP + below(96 - 2 * GAP - first.side + 1));
  assert.equal(first.y, GAP + below(96 - 2 * GAP - first.side + 1));
});

Deno.test("a scene is painted in exact colours, clipped at the edge, later objects on top", () => {
  const scene: Scene = {
    size: 64,
    ground: "silver",
    objects: [
      { shape: "square", colour: "red", x: -4, y: 10, side: 12 },
      { shape: "circle", colour: "cyan", x: 0, y: 10, side: 12 },
    ],
  };
  const { pixels, classes } = paintScene(scene);
  const at = (
    x: number,
    y: number,
  ) => [classes[y * 64 + x], ...pixels.subarray(3 * (y * 64 + x), 3 * (y * 64 + x) + 3)];
  assert.deepEqual(at(30, 30), [0, 185, 185, 185]);
  assert.deepEqual(at(0, 10), [2, 220, 40, 40]);
  assert.deepEqual(at(6, 16), [1, 50, 195, 210]);
  assert.deepEqual(at(63, 10), [0, 185, 185, 185], "nothing wraps around");
});

Deno.test("places are the nine fields, and a scene reads as a sentence", () => {
  const object = { shape: "circle", colour: "red", side: 10 } as const;
  const places = [10, 43, 80].flatMap((y) => [10, 43, 80].map((x) => placeOf({ ...object, x, y }, 96)));
  assert.deepEqual(places, [
    "top left",
    "top",
    "top right",
    "left",
    "centre",
    "right",
    "bottom left",
    "bottom",
    "bottom right",
  ]);
  const scene: Scene = { size: 96, ground: "white", objects: [{ ...object, x: 5, y: 5 }] };
  assert.equal(describeScene(scene), "A red circle at the top left on a white ground.");
  const more = { ...scene, objects: [...scene.objects, { ...object, shape: "square" as const, x: 43, y: 43 }] };
  assert.equal(describeScene(more), "A red circle at the top left and a red square at the centre on a white ground.");
});

Deno.test("clutter lies behind the objects in dull colours, and leaves their truth as it is", () => {
  const options = { size: 96, least: 3, most: 3, ground: "black" } as const;
  const plain = drawScene(Generator.seeded(23), options);
  const scene = drawScene(Generator.seeded(23), { ...options, cluttered: true });
  assert.deepEqual(scene.objects, plain.objects);
  const { pixels, classes } = paintScene(scene), painted = paintScene(plain);
  assert.deepEqual(classes, painted.classes);
  let changed = 0;
  for (let at = 0; at < classes.length; at++) {
    const pixel = pixels.subarray(3 * at, 3 * at + 3), before = painted.pixels.subarray(3 * at, 3 * at + 3);
    if (classes[at] > 0) assert.deepEqual(pixel, before);
    else assert.ok(Math.max(...pixel) - Math.min(...pixel) < 60);
    if (pixel.some((value, channel) => value !== before[channel])) changed++;
  }
  assert.ok(changed > classes.length / 4, `${changed}`);
  assert.match(describeScene(scene), / on a cluttered ground\.$/);
});
