/** What recipes are filtered by, as the list of recipes has it. */
import assert from "node:assert/strict";
import { open } from "../../../mod.ts";

Deno.test("channels of a matrix, codes without the identity, and trained networks are properties of a recipe", async () => {
  const folder = await Deno.makeTempDir();
  await using svc = await open({ projectRoot: folder, stateDir: folder });
  const rows = new Map((await svc.recipes.list()).map((row) => [row.id, row]));
  const facets = (id: string) => {
    const { operations: _, ...found } = rows.get(id)!.facets!;
    return found;
  };
  const none = { channels: ["awgn"], codes: [], learned: false };
  assert.deepEqual(facets("bit_transport_awgn"), none);
  assert.deepEqual(facets("bit_transport_turbo"), { ...none, codes: ["turbo"] });
  assert.deepEqual(facets("bit_transport_concatenated"), { ...none, codes: ["reed_solomon", "convolutional"] });
  assert.deepEqual(facets("recipe_starters/image_codec_default"), { ...none, channels: [] });
  assert.deepEqual(facets("bit_transport_convolutional").channels, ["flat_rayleigh"]);
  assert.ok([...rows.values()].some((row) => row.facets!.channels.length === 2), "no channel of a matrix");
  // One of three values of its matrix is the trained estimator.
  assert.equal(facets("ofdm_channel_estimation_learned").learned, true);
  assert.equal(facets("image_codeclib_tiny").learned, true);
  assert.equal(rows.get("recipe_starters/image_codec_default")!.template, "semantic_comm.image_reconstruction.default");
  assert.equal(rows.get("qam_awgn")!.template, null);
  assert.match(rows.get("qam_awgn")!.recipe_sha256!, /^[0-9a-f]{64}$/);
  assert.equal(rows.get("qam_awgn")!.facets!.operations.length, 5);
});
