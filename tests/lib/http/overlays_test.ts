/** Overlays of a run: lines where the boxes are, colours where the classes are, and refusals that say what is missing. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { run } from "../../../mod.ts";
import { openTestServer, type TestServer } from "./support.ts";

/** Candidates that are the truth of other scenes: boxes and classes differ, ids do not. */
const SCENES = {
  name: "scenes",
  steps: [
    { id: "data", op: "source.synthetic_scenes", params: { example_count: 2, image_size: 64, seed: 1 } },
    { id: "other", op: "source.synthetic_scenes", params: { example_count: 2, image_size: 64, seed: 2 } },
    {
      id: "boxes",
      op: "metrics.detection",
      inputs: { candidate: "other.detections", reference: "data.detections" },
    },
    {
      id: "classes",
      op: "metrics.segmentation",
      inputs: { candidate: "other.segmentation", reference: "data.segmentation" },
    },
  ],
};
/** Runs a recipe into the folder of a server, however long that takes. */
async function bundleOf({ folder }: TestServer, recipe: Parameters<typeof run>[0]): Promise<string> {
  const { run_id, status } = await run(recipe, { projectRoot: folder, stateDir: join(folder, ".svc") });
  assert.equal(status, "completed");
  return run_id;
}

/** 64 pixels are enlarged seven times. */
const SCALE = 7;

Deno.test("boxes and classes are drawn where they are, by side", async (t) => {
  await using server = await openTestServer();
  const run_id = await bundleOf(server, SCENES);
  const picture = async (path: string) => {
    const reply = await server.request(`/api/runs/${run_id}/${path}`);
    assert.equal(reply.status, 200, path);
    assert.equal(reply.headers.get("content-type"), "image/png");
    const image = decodeImage(await reply.bytes());
    assert.equal(image.width, 64 * SCALE);
    assert.ok(image.height >= 64 * SCALE && image.height < 64 * SCALE + 60);
    return (x: number, y: number) => {
      const at = (Math.round(y * SCALE) * image.width + Math.round(x * SCALE)) * image.channels;
      return [...image.data.subarray(at, at + 3)].join();
    };
  };
  const truth = async (step: string, index: number): Promise<JsonObject[]> => {
    const path = `runs/${run_id}/artifacts/${step}/detections.json`;
    const { preview } = (await server.get(`/api/artifact?path=${path}`)).json;
    return JSON.parse(preview.text).items[index].detections;
  };

  await t.step("a box has its line on every edge", async () => {
    for (const [side, step] of [["candidate", "other"], ["reference", "data"]]) {
      const drawn = await picture(`detection-overlay?kind=${side}&index=1`);
      const plain = await picture(`segmentation-overlay?kind=reference&index=1`);
      for (const { box } of await truth(step, 1)) {
        const [left, top, right, bottom] = box as number[], x = (left + right) / 2, y = (top + bottom) / 2;
        // The middle of the right edge is never under a tag of the same box.
        for (const [px, py] of [[right, y], [x, bottom]]) {
          assert.notEqual(drawn(px, py), plain(px + 1.2, py + 1.2), `${side} ${px} ${py}`);
        }
      }
    }
  });

  await t.step("the two sides differ, and both hold both", async () => {
    const bytes = async (kind: string) =>
      (await (await server.request(`/api/runs/${run_id}/detection-overlay?kind=${kind}&index=1`)).bytes()).toHex();
    const all = await Promise.all(["candidate", "reference", "both", "both"].map(bytes));
    assert.equal(new Set(all).size, 3);
    assert.equal(all[2], all[3], "the same layers give the same bytes");
  });

  await t.step("ground stays as it is, an object takes the colour of its class", async () => {
    const drawn = await picture("segmentation-overlay?kind=reference&index=0");
    const [{ label_id, box }] = await truth("data", 0);
    const [left, top, right, bottom] = box as number[];
    // Scene 0 has a white ground; its corner is never covered.
    assert.equal(drawn(0.5, 0.5), "245,245,245");
    assert.notEqual(drawn((left + right) / 2, (top + 3 * bottom) / 4), "245,245,245", String(label_id));
  });

  await t.step("what differs is red, the rest is dimmed", async () => {
    const drawn = await picture("segmentation-overlay?kind=difference&index=0");
    const [ours, theirs] = [await truth("data", 0), await truth("other", 0)];
    const covers = (boxes: JsonObject[], x: number, y: number) =>
      boxes.some(({ box }) => {
        const [left, top, right, bottom] = box as number[];
        return x >= left && x < right && y >= top && y < bottom;
      });
    const lower = ({ box }: JsonObject) => {
      const [left, , right, bottom] = box as number[];
      return [(left + right) / 2, bottom - (bottom - (box as number[])[1]) / 3];
    };
    const alone = ours.map(lower).find(([x, y]) => !covers(theirs, x, y))!;
    const [red, green] = drawn(...(alone as [number, number])).split(",").map(Number);
    assert.ok(red > 180 && green < 80, `${red} ${green}`);
    const [corner] = drawn(0.5, 0.5).split(",").map(Number);
    assert.ok(corner >= 245);
  });
});

Deno.test("what cannot be drawn is refused with a reason", async () => {
  await using server = await openTestServer();
  const run_id = await bundleOf(server, SCENES);
  const ask = async (path: string) => {
    const { status, json } = await server.get(`/api/runs/${path}`);
    return [status, json.code];
  };
  assert.deepEqual(await ask(`${run_id}/detection-overlay?index=2`), [400, "query_invalid"]);
  assert.deepEqual(await ask(`${run_id}/detection-overlay?kind=mine`), [400, "query_invalid"]);
  assert.deepEqual(await ask(`${run_id}/detection-overlay?step=classes`), [404, "artifact_not_found"]);
  assert.deepEqual(await ask("nothing/detection-overlay"), [404, "run_not_found"]);
  const bits = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
  const other = await bundleOf(server, bits);
  assert.deepEqual(await ask(`${other}/segmentation-overlay`), [404, "artifact_not_found"]);
});
