import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { compileText, findings } from "./_registry.ts";

const broken = `nam: demo
schema_version: 1.0
description: [no]
metadata: {seed: -1}
suite: {id: 4, colour: red}
dataset_capture: 7
steps:
  - op: source.random_bit
  - id: wireless_channel
    op: wireless.channel
    pram: 3
    params: {snr_db: 12 dB, noise_variance: 2.0, snr: 3}
    inputs: {a: dat.bits, b: wireless_channel.y, c: late.report, d: nope, e: step_1.bits.x, f: 3}
  - id: n.
    op: test.nested
  - id: wireless_channel
    op: ''
    params: []
  - id: late
    op: test.nested
    params: {label: 3, grid: {rows: [{gain: x}], size: 1.0}}
  - just a text
`;

Deno.test("everything that is wrong is said at once, with its place in the text", () => {
  deepStrictEqual(findings(compileText(broken)), [
    "unknown_recipe_field $.nam 1:1",
    "recipe_schema_version_unsupported $.schema_version 2:17",
    "recipe_validation_error $.name 1:1",
    "recipe_validation_error $.description 3:14",
    "unknown_recipe_field $.suite.colour 5:16",
    "recipe_validation_error $.suite.id 5:13",
    "recipe_validation_error $.dataset_capture 6:18",
    "implicit_recipe_step_id $.steps[0].id 8:5",
    "recipe_step_id_invalid $.steps[2].id 14:9",
    "recipe_step_id_duplicate $.steps[3].id 16:9",
    "unknown_recipe_step_field $.steps[1].pram 11:5",
    "recipe_validation_error $.steps[1].inputs.a 13:17",
    "recipe_validation_error $.steps[1].inputs.b 13:30",
    "recipe_validation_error $.steps[1].inputs.c 13:53",
    "recipe_validation_error $.steps[1].inputs.d 13:69",
    "recipe_validation_error $.steps[1].inputs.e 13:78",
    "recipe_validation_error $.steps[1].inputs.f 13:96",
    "recipe_validation_error $.steps[3].op 17:9",
    "recipe_validation_error $.steps[3].params 18:13",
    "recipe_validation_error $.steps[5] 22:5",
    "seed_invalid $.metadata.seed 4:18",
    "operation_defaults_unavailable $.steps[0].op 8:9",
    "operation_param_inactive $.steps[1].params.noise_variance 12:29",
    "operation_params_schema_invalid $.steps[1].params.snr_db 12:22",
    "operation_params_schema_invalid $.steps[1].params.snr 12:50",
    "operation_params_schema_invalid $.steps[2].params.label 14:5",
    "operation_params_schema_invalid $.steps[4].params.label 21:21",
    "operation_params_schema_invalid $.steps[4].params.grid.size 21:56",
    "operation_params_schema_invalid $.steps[4].params.grid.rows[0].gain 21:45",
  ]);
});

Deno.test("messages name the attempt, hints the next action, and steps their id", () => {
  const said = compileText(broken).diagnostics.map(({ path, message, hint, step_id }) =>
    `${path}: ${message} (${hint})${step_id === undefined ? "" : ` [${step_id}]`}`
  );
  for (
    const expected of [
      "$.nam: Cannot find a recipe field named nam (Did you mean name?)",
      "$.schema_version: Cannot read a recipe with the float 1.0 as its schema_version (Write the integer 1)",
      "$.name: Cannot find the recipe's name (Write a text)",
      "$.steps[0].op: Cannot find an operation named source.random_bit (Did you mean source.random_bits?) [step_1]",
      "$.steps[1].pram: Cannot find a step field named pram (Did you mean params?) [wireless_channel]",
      "$.steps[1].inputs.c: Cannot read from late: it is a later step (Move $.steps[4] before this step) [wireless_channel]",
      '$.steps[1].inputs.d: Cannot read the text "nope" as a reference (Write <earlier step>.<output>) [wireless_channel]',
      '$.steps[1].params.snr_db: Cannot use the text "12 dB" as a number (Write 12.0) [wireless_channel]',
      "$.steps[1].params.snr: Cannot find a parameter named snr (Did you mean snr_db?) [wireless_channel]",
    ]
  ) {
    strictEqual(said.includes(expected), true, `${expected}\n${said.join("\n")}`);
  }
  for (const { message } of compileText(broken).diagnostics) {
    strictEqual(/^(Cannot|Missing required) [^]*[^.]$/.test(message), true, message);
  }
});

Deno.test("steps that read from each other are reported as a cycle", () => {
  const step = (id: string, from: string) =>
    `  - {id: ${id}, op: channel.repetition_encoder, inputs: {bits: ${from}.bits}}`;
  const { diagnostics } = compileText(["name: x", "steps:", step("a", "c"), step("b", "a"), step("c", "b")].join("\n"));
  const cycles = diagnostics.filter(({ code }) => code === "recipe_validation_error");
  deepStrictEqual(cycles.map(({ path, message, hint }) => [path, message, hint]), [[
    "$.steps[0].inputs.bits",
    "Cannot read from c: the steps form a cycle, a reads from c reads from b reads from a",
    "Remove one of these inputs",
  ]]);
});

Deno.test("step ids are letters, digits, - and _, up to 128, and unique with the implicit ones", () => {
  const codes = (id: string) =>
    compileText(`name: x\nsteps: [{id: ${id}, op: source.random_bits}]`).diagnostics.map(({ code }) => code);
  for (const id of ["a", "0", "A-b_9", "x".repeat(128)]) deepStrictEqual(codes(`'${id}'`), [], id);
  for (const id of ["'a.b'", "'-a'", "_a", "'a b'", "é", "x".repeat(129), "5", "[a]"]) {
    deepStrictEqual(codes(id), ["recipe_step_id_invalid"], id);
  }
  const clash = compileText(
    "name: x\nsteps: [{id: step_2, op: source.random_bits}, {op: source.random_bits}]",
    "compat",
  );
  deepStrictEqual(clash.diagnostics.map(({ code }) => code), ["implicit_recipe_step_id", "recipe_step_id_duplicate"]);
});

Deno.test("hints stop where a document is not a recipe at all", () => {
  const keys = Array.from({ length: 300 }, (_, index) => `step${index}: 1`).join("\n");
  const { diagnostics } = compileText(`${keys}\nname: x\nsteps: [{id: a, op: source.random_bits}]`);
  strictEqual(diagnostics.length, 300);
  strictEqual(diagnostics[0].hint, "Did you mean steps?");
  strictEqual(diagnostics[299].hint, null);
});
