import assert from "node:assert/strict";
import type { Value } from "../../../lib/contract/value.ts";
import { float } from "../../../lib/contract/value.ts";
import { inspectProfile } from "../../../lib/plan/profile_inspect.ts";
import { findProfile, profileCatalogue, PROFILES, type ProfileStage } from "../../../lib/plan/profiles.ts";
import type { StepDocument } from "../../../lib/recipe/types.ts";
import { tables } from "../../support/tables.ts";

const step = (id: string, op: string, params = {}): StepDocument => ({ id, op, params, inputs: {} });

const LAYERED: [string, string][] = [
  ["data", "source.random_bits"],
  ["payload_bit_boundary", "channel.bit_boundary"],
  ["channel_encoder", "channel.repetition_encoder"],
  ["tx_bit_boundary", "channel.bit_boundary"],
  ["modulator", "modulation.digital_modulate"],
  ["wireless_channel", "wireless.channel"],
  ["demodulator", "demodulation.digital_demodulate"],
  ["rx_bit_boundary", "channel.bit_boundary"],
  ["channel_bit_count_match", "channel.bit_count_match"],
  ["channel_decoder", "channel.repetition_decoder"],
  ["evaluation", "metrics.bit_error_rate"],
];

function layered(edit: (steps: [string, string][]) => [string, string][] = (steps) => steps) {
  return inspectProfile("layered_digital", edit([...LAYERED]).map(([id, op]) => step(id, op)));
}

const codes = (inspection: { issues: { code: string; path: string }[] }) =>
  inspection.issues.map(({ code, path }) => [code, path]);

Deno.test("a layered link conforms, and its stages are bound by step id", () => {
  const found = layered();
  assert.equal(found.status, "conformant");
  assert.deepEqual(found.issues, []);
  assert.deepEqual(found.reference, { id: "layered_digital", version: 1 });
  assert.equal(found.stage_bindings.source, "data");
  assert.equal(found.stage_bindings.wireless_channel, "wireless_channel");
  assert.equal(found.profile, findProfile("layered_digital", 1));
});

Deno.test("side branches, crc_check and any source stay outside the inspection", () => {
  const found = layered((steps) => [
    ["extra", "source.text_dataset"],
    ...steps.map(([id, op]): [string, string] => (id === "demodulator" ? [id, "model.anything"] : [id, op])),
    ["crc_check", "channel.crc32_check"],
  ]);
  assert.equal(found.status, "conformant");
});

Deno.test("a required stage without a step", () => {
  const found = layered((steps) => steps.filter(([id]) => id !== "channel_decoder"));
  assert.equal(found.status, "invalid");
  assert.deepEqual(codes(found), [["required_step_missing", "$.steps"]]);
  assert.match(found.issues[0].hint!, /id channel_decoder/);
});

Deno.test("a misspelt step id is offered", () => {
  const found = layered((steps) => steps.map(([id, op]) => [id === "channel_decoder" ? "channel_decodr" : id, op]));
  assert.match(found.issues[0].hint!, /is it channel_decodr\?/);
});

Deno.test("a required stage with another operation", () => {
  const found = layered((steps) =>
    steps.map(([id, op]) => [id, id === "channel_encoder" ? "model.text_utf8_encode" : op])
  );
  assert.deepEqual(codes(found), [["required_step_op_invalid", "$.steps[2].op"]]);
  assert.equal(found.issues[0].step_id, "channel_encoder");
  assert.match(
    found.issues[0].hint!,
    /channel\.identity_encoder, channel\.repetition_encoder or channel\.nr_ldpc_encoder/,
  );
});

Deno.test("required stages out of order", () => {
  const late = layered(([...steps]) => {
    const [boundary] = steps.splice(3, 1);
    return [...steps.slice(0, 7), boundary, ...steps.slice(7)];
  });
  assert.deepEqual(codes(late), [["execution_profile_stage_order_invalid", "$.steps[4]"]]);
  assert.match(late.issues[0].message, /wireless_channel before tx_bit_boundary/);
  const early = layered((steps) => [steps[9], ...steps.slice(0, 9), ...steps.slice(10)]);
  assert.deepEqual(codes(early), [["execution_profile_stage_order_invalid", "$.steps[0]"]]);
});

Deno.test("every problem is an issue of its own", () => {
  const found = layered((steps) =>
    steps.filter(([id]) => id !== "rx_bit_boundary").map(([id, op]) => [id, id === "channel_decoder" ? "x.y" : op])
  );
  assert.deepEqual(found.issues.map((issue) => issue.code), ["required_step_missing", "required_step_op_invalid"]);
});

interface Declaration {
  title: string;
  declaration?: Value;
  status: string;
  code?: string;
  path?: string;
}

for (const { title, declaration, status, code, path } of tables(import.meta.url).DECLARATIONS as Declaration[]) {
  Deno.test(`declaration, ${title}: ${status}`, () => {
    const found = inspectProfile(declaration, []);
    assert.equal(found.status, status);
    assert.deepEqual(codes(found), code === undefined ? [] : [[code, path]]);
    for (const issue of found.issues) assert.ok(issue.hint);
  });
}

/** A profile with what the standard ones do not have together: two ids, parameters, a fused role. */
function withProfile(stages: ProfileStage[], check: () => void): void {
  const list = PROFILES as unknown[];
  list.push({ id: "test_profile", version: 1, label: "", summary: "", required_ordered_spine: ["link"], stages });
  try {
    check();
  } finally {
    list.pop();
  }
}

const LINK: ProfileStage = {
  role: "link",
  label: "Link",
  presence: "required",
  step_ids: ["link", "wire"],
  allowed_ops: ["a.b"],
  required_params: { scope: 1 },
};
const FUSED: ProfileStage = { role: "modulator", label: "Modulator", presence: "fused", fused_into: "link" };

Deno.test("two steps for one stage, a parameter of another type, and a fused role", () => {
  withProfile([LINK, FUSED], () => {
    const inspect = (steps: StepDocument[]) => inspectProfile("test_profile", steps);
    assert.equal(inspect([step("wire", "a.b", { scope: 1 })]).status, "conformant");
    assert.deepEqual(inspect([step("wire", "a.b", { scope: 1 })]).stage_bindings, { link: "wire" });
    assert.deepEqual(codes(inspect([step("wire", "a.b"), step("link", "a.b")])), [[
      "execution_profile_stage_ambiguous",
      "$.steps",
    ]]);
    assert.deepEqual(codes(inspect([step("link", "a.b", { scope: float(1) })])), [[
      "required_step_param_invalid",
      "$.steps[0].params.scope",
    ]]);
    const exposed = inspect([step("link", "a.b", { scope: 1 }), step("modulator", "c.d")]);
    assert.deepEqual(codes(exposed), [["execution_profile_fused_stage_exposed", "$.steps[1].id"]]);
    assert.match(exposed.issues[0].message, /link includes it/);
  });
});

Deno.test("the catalogue lists every profile with its spine, and custom beside them", () => {
  const catalogue = profileCatalogue();
  assert.equal(catalogue.custom.id, "custom");
  const [first] = catalogue.profiles;
  assert.equal(first.id, "layered_digital");
  assert.deepEqual(first.required_ordered_spine, [
    "payload_bit_boundary",
    "channel_encoder",
    "tx_bit_boundary",
    "wireless_channel",
    "rx_bit_boundary",
    "channel_bit_count_match",
    "channel_decoder",
  ]);
});
