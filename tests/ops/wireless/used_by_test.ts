/** A parameter of a channel that names its presets in `x-svc-ui.used_when` has no effect under the others. */
import assert from "node:assert/strict";
import { shownWhen } from "../../../lib/contract/schema.ts";
import { isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import channel from "../../../ops/wireless/channel.ts";
import { PRESETS } from "../../../ops/wireless/_params.ts";
import { runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

/** One grid of 64 subcarriers and 14 symbols. */
const SYMBOLS = 896;

/** Another value than the default of a parameter. */
function another({ default: given, enum: choices, minimum }: JsonObject): Value {
  if (Array.isArray(choices)) return choices.find((choice) => choice !== given)!;
  if (typeof given === "boolean") return !given;
  return typeof given === "number" || isObject(given) ? 2 * Number(given) + 2 : Number(minimum ?? 0) + 1;
}

Deno.test("parameters of other presets change no received symbol", async () => {
  const properties = channel.contract.params_schema.properties as { [name: string]: JsonObject };
  const conditional = Object.entries(properties).flatMap(([name, schema]) => {
    const presets = shownWhen(schema)?.channel;
    return presets === undefined ? [] : [{ name, schema, presets: [presets].flat() }];
  });
  assert.equal(conditional.length, 18);
  const received = async (preset: string, params: JsonObject = {}) => {
    const { outputs } = await runOperation(channel, {
      inputs: { symbols: symbolsInput(2 * SYMBOLS) },
      params: { channel: preset, ...params },
      seed: 7,
    });
    return outputs.rx_symbols.array().data;
  };
  for (const preset of PRESETS) {
    const reference = await received(preset);
    for (const { name, schema, presets } of conditional) {
      if (presets.includes(preset) || name.startsWith("importance_") || name === "channel_state_mode") continue;
      assert.deepEqual(await received(preset, { [name]: another(schema) }), reference, `${name} with ${preset}`);
    }
  }
});
