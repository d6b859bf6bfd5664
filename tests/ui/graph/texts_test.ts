/** The texts of a block do not touch each other, nor the state below them, at any scale; the main parameter is in words. */
import assert from "node:assert/strict";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { blockTexts, headlineOf, stateSize } from "../../../ui/graph/texts.ts";

const WIDTH = 216, HEIGHT = 92;
const NAMES = ["BER", "Hard bit-to-symbol mapper of complex constellations", "NR transport-block LDPC encode"];

Deno.test("no text over text, from the smallest scale to the largest", () => {
  for (const name of NAMES) {
    for (let scale = 0.2; scale <= 3; scale += 0.05) {
      for (const taken of [0, 26, 60]) {
        const texts = { name, id: "channel_encoder_of_the_link", headline: "snr_db swept" };
        const lines = blockTexts(texts, { width: WIDTH, height: HEIGHT, scale, taken, last: 96 });
        assert.equal(lines.filter(({ sub }) => !sub).length >= 1, true);
        for (const [at, { size, y, text }] of lines.entries()) {
          // Capitals and ascenders take 0.75 of the size above the baseline, descenders a quarter of it below.
          const above = at === 0 ? 0 : lines[at - 1].y + lines[at - 1].size / 4;
          assert.ok(y - 0.75 * size >= above, `${text} at ${scale} is over the line before`);
          const isLast = y === HEIGHT - 13, room = WIDTH - 18 - (isLast ? 96 : taken);
          assert.ok(isLast || y + size / 4 <= HEIGHT - 13 - stateSize(scale), `${text} at ${scale} is over the state`);
          assert.ok(text.length * 0.58 * size <= room, `${text} at ${scale} is too wide`);
        }
      }
    }
  }
});

Deno.test("from afar the main parameter comes before the id, which the outline has", () => {
  const at = (scale: number) =>
    blockTexts({ name: "BER", id: "ber", headline: "9 dB" }, { width: WIDTH, height: HEIGHT, scale, taken: 0, last: 0 })
      .map(({ text }) => text);
  assert.deepEqual(at(1), ["BER", "9 dB", "ber"]);
  assert.deepEqual(at(0.6), ["BER", "9 dB"]);
});

Deno.test("a name that fits into two lines of smaller type is whole, as on a laptop with 20 blocks", () => {
  const lines = (name: string, scale: number) =>
    blockTexts({ name, id: "x", headline: "9 dB" }, { width: WIDTH, height: HEIGHT, scale, taken: 0, last: 0 })
      .filter(({ sub }) => !sub).map(({ text, size }) => [text, Math.round(size * scale)]);
  assert.deepEqual(lines("NR transport-block LDPC encode", 0.48), [["NR transport-block", 9], ["LDPC encode", 9]]);
  assert.deepEqual(lines("Wireless channel on complex symbols", 0.48), [["Wireless channel", 9], [
    "on complex symbols",
    9,
  ]]);
  assert.deepEqual(lines("BER", 0.48), [["BER", 11]]);
  assert.deepEqual(
    lines("Hard digital demapper of soft symbols in blocks", 0.4).map(([text]) => text).at(-1)!.toString().at(-1),
    "…",
  );
});

Deno.test("the main parameter has its value with its unit, or its name, and the sweep", () => {
  const schema: JsonObject = {
    properties: {
      channel: { type: "string", default: "awgn" },
      snr_db: { type: "number", default: float(12), "x-svc-ui": { unit: "dB" } },
    },
  };
  const of = (params: JsonObject, swept: { [name: string]: Value[] } = {}) =>
    headlineOf("wireless.channel", schema, params, new Map(Object.entries(swept)));
  assert.equal(of({}), "awgn, 12.0 dB");
  assert.equal(of({ channel: "ofdm_tdl", snr_db: float(9.5) }), "ofdm_tdl, 9.5 dB");
  // A sweep stands in the place of the base value, which no run uses.
  assert.equal(of({ snr_db: float(9) }, { snr_db: [float(12), float(0), 3] }), "0 … 12 dB");
  assert.equal(of({}, { snr_db: [float(3)] }), "3 dB");
  assert.equal(of({}, { channel: ["awgn", "ofdm_tdl"] }), "awgn, ofdm_tdl");
  assert.equal(of({}, { channel: [] }), "channel swept");
  const codec = { properties: { quality: { type: "integer", default: 75 } } };
  assert.equal(headlineOf("model.jpeg_encode", codec, {}, new Map()), "quality 75");
  assert.equal(headlineOf("model.jpeg_encode", codec, {}, new Map([["quality", [20, 90]]])), "quality 20 … 90");
  assert.equal(
    headlineOf("metrics.bit_error_rate", { properties: { label: { default: "ber" } } }, {}, new Map()),
    null,
  );
});
