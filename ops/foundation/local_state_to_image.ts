/**
 * Draws the shapes and colours of a semantic state without a model: uint8 [state, image_size, image_size, RGB].
 *
 * Objects are at the centre of their field of three by three, side by side if they share one; those without a position
 * take free fields, the centre first. Their sides are the mean of the range for scenes with as many objects
 * (lib/numeric/ scenes.ts). Only the six colours of scenes can be drawn; without a background colour the image is grey.
 * A state without drawable content, such as a lost one, gives the grey substitute of value 128 and counts as failed.
 */
import { IMAGES, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { imagesArtifact, travel } from "../../lib/artifact/values.ts";
import {
  type Colour,
  COLOUR_NAMES,
  GAP,
  type Ground,
  GROUND_NAMES,
  MAXIMUM_OBJECTS,
  MINIMUM_SIZE,
  paintScene,
  type PlaceName,
  PLACES,
  type SceneObject,
  sideLimits,
} from "../../lib/numeric/image/scenes.ts";
import { statesOf } from "../_semantic_state.ts";
import { type DescribedObject, type DescribedScene, readSceneState } from "./_scene_facts.ts";

const GREY_SUBSTITUTE = 128;
/** Fields for objects without a position, from the middle outwards. */
const FREE_ORDER: readonly PlaceName[] = [
  "centre",
  "left",
  "right",
  "top",
  "bottom",
  "top left",
  "top right",
  "bottom left",
  "bottom right",
];

export default defineOperation({
  id: "foundation.local_state_to_image",
  name: "Draw a semantic state",
  description: "Draws the shapes and colours of a semantic state",
  inputs: { state: [SEMANTIC_STATE] },
  outputs: { images: IMAGES },
  params: z.strictObject({
    image_size: z.int().min(MINIMUM_SIZE).max(1024).default(96).describe("width and height in pixels"),
  }),
  outputMetadataGuarantees: {
    images: { from: "state", keys: ["boundary_contract", "image_ids", "failed_item_indices"] },
  },
  timingMetric: "decoder.inference",
  run({ inputs, params: { image_size: size } }) {
    const states = statesOf(inputs.state);
    const data = new Uint8Array(states.length * size * size * 3).fill(GREY_SUBSTITUTE);
    const failed: number[] = [];
    states.forEach((state, index) => {
      const scene = readSceneState(state);
      const objects = laidOut(scene, size);
      if (objects.length === 0) failed.push(index);
      else data.set(paintScene({ size, ground: groundOf(scene), objects }).pixels, index * size * size * 3);
    });
    const metadata = travel(inputs.state.metadata, {
      image_ids: states.map(({ id }) => id),
      failed_item_indices: failed,
      delivered: states.map((_, index) => !failed.includes(index)),
    });
    const batch = { count: states.length, height: size, width: size, channels: 3, dtype: "uint8" as const, data };
    return { outputs: { images: imagesArtifact(batch, metadata) } };
  },
});

const groundOf = ({ ground }: DescribedScene): Ground => GROUND_NAMES.find((name) => name === ground) ?? "grey";

type Drawable = DescribedObject & { colour: Colour };
const isDrawable = (object: DescribedObject): object is Drawable =>
  (COLOUR_NAMES as readonly string[]).includes(object.colour);

/** Objects with their boxes. */
function laidOut(scene: DescribedScene, size: number): SceneObject[] {
  const drawable = scene.objects.filter(isDrawable).slice(0, MAXIMUM_OBJECTS);
  if (drawable.length === 0) return [];
  const { least, most } = sideLimits(size, drawable.length), usual = Math.round((least + most) / 2);
  const free = FREE_ORDER.filter((place) => drawable.every((object) => object.place !== place));
  const placed = drawable.map((object) => ({ ...object, place: object.place ?? free.shift() ?? "centre" }));
  return [...Map.groupBy(placed, ({ place }) => place)].flatMap(([place, objects]) => {
    const field = size / 3, at = PLACES.indexOf(place);
    const step = field / objects.length, side = Math.min(usual, Math.floor(step) - GAP);
    return objects.map(({ shape, colour }, k): SceneObject => ({
      shape,
      colour,
      side,
      x: Math.round((at % 3) * field + (k + 0.5) * step - side / 2),
      y: Math.round((Math.floor(at / 3) + 0.5) * field - side / 2),
    }));
  });
}
