import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { compileText, findings } from "./_registry.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const broken = DATA.BROKEN;

Deno.test("everything that is wrong is said at once, with its place in the text", () => {
  deepStrictEqual(findings(compileText(broken)), DATA.PLACES);
});

Deno.test("messages name the attempt, hints the next action, and steps their id", () => {
  const said = compileText(broken).diagnostics.map(({ path, message, hint, step_id }) =>
    `${path}: ${message} (${hint})${step_id === undefined ? "" : ` [${step_id}]`}`
  );
  for (
    const expected of DATA.HINTS
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
