/** Scenes in words, as states, and drawn again. */
import assert from "node:assert/strict";
import draw from "../../../ops/foundation/local_state_to_image.ts";
import grid from "../../../ops/foundation/sam_segment.ts";
import look from "../../../ops/foundation/vlm_image_to_state.ts";
import encode from "../../../ops/foundation/text_semantic_state_encode.ts";
import scenes from "../../../ops/source/synthetic_scenes.ts";
import { conceptsOfImage } from "../../../ops/foundation/_concepts.ts";
import { readSceneText, sceneFacts } from "../../../ops/foundation/_scene_facts.ts";
import { emptyState, type SemanticState, statesArtifact, statesOf } from "../../../ops/_semantic_state.ts";
import { imageAt, imagesArtifact } from "../../../lib/artifact/values.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { textsInput, uniformImagesOf } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const source = (await runOperation(scenes, { params: { example_count: 12 }, seed: 3 })).outputs;

const drawn = async (states: readonly SemanticState[], image_size = 96) =>
  (await runOperation(draw, { inputs: { state: statesArtifact(states, "text") }, params: { image_size } })).outputs
    .images;

function conceptsAt(images: InputArtifact, index: number) {
  const batch = uniformImagesOf(images);
  return conceptsOfImage({ width: batch.width, height: batch.height, data: imageAt(batch, index) });
}

/** A batch of one picture whose pixels are given by place. */
function picture(width: number, height: number, colourAt: (x: number, y: number) => number[]) {
  const data = Uint8Array.from(
    Array.from({ length: width * height }, (_, i) => colourAt(i % width, Math.floor(i / width))).flat(),
  );
  return {
    kind: "image.batch.numpy",
    ...imagesArtifact({ count: 1, height, width, channels: 3, dtype: "uint8", data }),
  };
}

Deno.test("descriptions are read word by word", () => {
  assert.deepEqual(readSceneText("A red circle at the top left and a blue square at the centre on a white ground."), {
    ground: "white",
    objects: [
      { colour: "red", shape: "circle", place: "top left" },
      { colour: "blue", shape: "square", place: "centre" },
    ],
  });
  assert.deepEqual(readSceneText("Two green circles, one yellow triangle in the lower right corner"), {
    objects: [
      { colour: "green", shape: "circle" },
      { colour: "green", shape: "circle" },
      { colour: "yellow", shape: "triangle", place: "bottom right" },
    ],
  });
  assert.deepEqual(readSceneText("The red toolbox is at the bottom of a square bay."), { objects: [] });
});

Deno.test("what is drawn from the description of a scene speaks of the same concepts as the scene", async () => {
  const { outputs: { state } } = await runOperation(encode, { inputs: { texts: source.texts } });
  const images = await drawn(statesOf(state));
  let same = 0;
  // What there is, exactly; where it is, but for objects near the border of a field, which are drawn in its middle.
  const things = (weights: ReadonlyMap<string, number>) =>
    [...weights].filter(([concept]) => !/layout|left|right|top|bottom|centre/.test(concept)).sort();
  statesOf(state).forEach((_, i) => {
    const wanted = conceptsAt(source.images, i), got = conceptsAt(images, i);
    assert.deepEqual(things(got), things(wanted), `scene ${i}`);
    same += Number(JSON.stringify([...got].sort()) === JSON.stringify([...wanted].sort()));
  });
  assert.ok(same >= 10, `${same} of 12 scenes are laid out as their sources`);
  assert.deepEqual(images.metadata.failed_item_indices, []);
  assert.deepEqual(images.metadata.image_ids, source.images.metadata.image_ids);
});

Deno.test("pictures say as states what their descriptions say", async () => {
  const { outputs: { state: seen } } = await runOperation(look, { inputs: { images: source.images } });
  const { outputs: { state: told } } = await runOperation(encode, { inputs: { texts: source.texts } });
  const facts = (state: InputArtifact) =>
    statesOf(state).map(({ id, facts }) => ({ id, facts: facts.map((fact) => JSON.stringify(fact)).sort() }));
  assert.deepEqual(facts(seen), facts(told));
  assert.equal(seen.json().modality, "image");
});

Deno.test("objects of one field stand side by side, those without a place in free fields", async () => {
  const object = (place?: "centre") => ({ colour: "red", shape: "square", place }) as const;
  const state = (objects: Parameters<typeof sceneFacts>[0]["objects"]) => ({
    ...emptyState("a"),
    facts: sceneFacts({ ground: "white", objects }),
  });
  const images = await drawn([state([object("centre"), object("centre")])]);
  assert.equal(conceptsAt(images, 0).get("count:2"), 0.5);
  const spread = await drawn([state([object(), object(), object("centre")])]);
  const concepts = conceptsAt(spread, 0);
  assert.deepEqual(["left", "right", "centre"].map((word) => concepts.has(`square ${word}`)), [true, true, true]);
});

Deno.test("a damaged state is drawn as far as it can be read, a lost one is grey", async () => {
  const red = sceneFacts({ ground: "black", objects: [{ colour: "red", shape: "circle", place: "top" }] });
  const damaged: SemanticState = {
    ...emptyState("b"),
    facts: [...red, { subject: "blqe square", predicate: "at", object: "left" }, {
      ...red[0],
      subject: "orange circle",
    }],
  };
  const concepts: SemanticState = { ...emptyState("c"), concepts: ["green", "triangle", "silver", "ground"] };
  const sentence: SemanticState = { ...emptyState("d"), concepts: ["rain"], source_text: "A cyan square" };
  const images = await drawn([emptyState("a"), damaged, concepts, sentence]);
  assert.deepEqual(images.metadata.failed_item_indices, [0]);
  assert.ok(imageAt(uniformImagesOf(images), 0).every((sample) => sample === 128));
  assert.deepEqual([...conceptsAt(images, 1).keys()].filter((concept) => concept.includes(" ")), [
    "red circle",
    "circle top",
  ]);
  assert.ok(conceptsAt(images, 2).has("green triangle") && conceptsAt(images, 2).has("ground:silver"));
  assert.ok(conceptsAt(images, 3).has("cyan square"));
});

Deno.test("a picture without a plain ground gives its colours, brightness and contrast", async () => {
  const stripes = picture(40, 20, (x) => x % 4 < 2 ? [10, 10, 10] : [120, 120, 120]);
  const [state] = statesOf((await runOperation(look, { inputs: { images: stripes } })).outputs.state);
  assert.equal(state.id, "image_0");
  assert.deepEqual(state.concepts, ["black", "grey", "dark"]);
  assert.deepEqual(state.facts.map(({ predicate, object }) => `${predicate} ${object}`), [
    "is mostly black",
    "has brightness dark",
    "has contrast medium",
  ]);
});

Deno.test("a grid covers the picture without a gap, and each region has its commonest colour", async () => {
  const halves = picture(5, 4, (x) => x < 2 ? [220, 40, 40] : [50, 80, 220]);
  const run = async (grid_size: number) =>
    statesOf((await runOperation(grid, { inputs: { images: halves }, params: { grid_size } })).outputs.state)[0];
  const { concepts, entities, facts } = await run(2);
  assert.deepEqual(concepts, ["red", "blue"]);
  assert.deepEqual(entities, ["region 1.1", "region 1.2", "region 2.1", "region 2.2"]);
  assert.deepEqual(facts.filter(({ predicate }) => predicate === "covers").map(({ object }) => object), [
    "[0,0,2,2]",
    "[2,0,5,2]",
    "[0,2,2,4]",
    "[2,2,5,4]",
  ]);
  const boxes = (await run(3)).facts.filter(({ predicate }) => predicate === "covers").map(({ object }) =>
    JSON.parse(object)
  );
  assert.equal(boxes.reduce((sum, [left, top, right, bottom]) => sum + (right - left) * (bottom - top), 0), 20);
  await refuses("boundary_shape_invalid", () => run(5));
});

Deno.test("sentences without shapes assert no facts", async () => {
  const { outputs } = await runOperation(encode, {
    inputs: { texts: textsInput({ a: "A red car in a white square." }) },
  });
  assert.deepEqual(statesOf(outputs.state)[0].facts.map(({ subject }) => subject), ["white square"]);
  const plain = await runOperation(encode, { inputs: { texts: textsInput({ a: "A red car in the town square." }) } });
  assert.deepEqual(statesOf(plain.outputs.state)[0].facts, []);
});
