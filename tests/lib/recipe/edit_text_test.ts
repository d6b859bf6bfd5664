import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { cloneValue, float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { editRecipeText } from "../../../lib/recipe/edit_text.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { dice, edited, SHIPPED, UNUSUAL } from "./_edits.ts";
import { isSampled, sizeOf } from "../../support/sample.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const read = (text: string, file = "a.yaml") => readRecipeText(text, { file, emptyValues: "null" }).value;

/** The text after a change of what it holds. */
function change(text: string, alter: (value: JsonObject) => void, file = "a.yaml"): string {
  const value = cloneValue(read(text, file)) as JsonObject;
  alter(value);
  const result = editRecipeText(text, value, { file });
  assert.equal(canonicalJson(read(result, file)), canonicalJson(value));
  return result;
}

const stepsOf = (value: JsonObject) => value.steps as (JsonObject & { params: JsonObject })[];

const LINK = DATA.LINK;

Deno.test("a changed value is put in its place, and nothing else changes", () => {
  const edits: [(value: JsonObject) => void, [string, string]][] = [
    [(value) => (value.metadata as JsonObject).seed = 24, ["seed: 23", "seed: 24"]],
    [(value) => (value.metadata as JsonObject).gain = 1000, ["gain: 1e3", "gain: 1000"]],
    [(value) => value.name = "no: plain", ["name: link #", 'name: "no: plain" #']],
    [(value) => stepsOf(value)[1].params.snr_db = float(7), ["6.0   # a", "7.0 # a"]],
    [(value) => stepsOf(value)[1].params.snr_db = 6, ["6.0   # a", "6 # a"]],
    [(value) => stepsOf(value)[2].op = "y", ['"x"', '"y"']],
    [(value) => stepsOf(value)[0].params.seed = 1, ["0x40}", "0x40, seed: 1}"]],
    [(value) => delete (value.metadata as JsonObject).gain, ["{gain: 1e3, ", "{"]],
    [(value) => (value.metadata as JsonObject).ratio = [1, float(2)], ["ratio: 1.0", "ratio: [1, 2.0]"]],
    [(value) => stepsOf(value)[1].params.doppler = 3, ["good one\n", "good one\n      doppler: 3\n"]],
    [(value) => stepsOf(value)[1].params.snr_db = { a: 1 }, ["6.0   # a", "{a: 1} # a"]],
    [(value) => stepsOf(value)[2].params = { deep: { er: { x: 1 } } }, [
      '"x"\n',
      '"x"\n    params:\n      deep:\n        er: {x: 1}\n',
    ]],
    [(value) => stepsOf(value)[2].description = "two\nlines", [
      '"x"\n',
      '"x"\n    description: |-\n      two\n      lines\n',
    ]],
    [(value) => stepsOf(value).splice(1, 1), [
      LINK.slice(LINK.indexOf("\n  # The channel"), LINK.indexOf("  - id: last")),
      "",
    ]],
    [(value) => stepsOf(value)[1].params = {} as never, [
      "params:\n      snr_db: 6.0   # a good one\n      # doppler: 3\n",
      "params: {}\n",
    ]],
  ];
  for (const [alter, [from, to]] of edits) {
    assert.ok(LINK.includes(from), from);
    // What followed the emptied mapping as its comment goes with it.
    assert.equal(change(LINK, alter).replace(/\{\}\n {6}# doppler: 3\n/, "{}\n"), LINK.replace(from, to));
  }
  assert.equal(change(LINK, () => {}), LINK);
});

Deno.test("a moved step takes its comments along; a new one stands where it was put", () => {
  const moved = change(LINK, ({ steps }) => (steps as Value[]).unshift(...(steps as Value[]).splice(1, 1)));
  assert.match(moved, /steps:\n {2}# The channel\n {2}- id: channel\n {4}# an operation\n/);
  assert.match(moved, /inputs: \{symbols: data\.bits\}\n {2}# Sender: bits\n {2}- id: data\n/);
  const added = change(
    LINK,
    ({ steps }) => (steps as Value[]).splice(1, 0, { id: "mod", op: "m", params: { a: 1.5 } }),
  );
  assert.match(added, /# in bits\n {2}- id: mod\n {4}op: m\n {4}params: \{a: 1\.5\}\n\n {2}# The channel\n/);
});

Deno.test("a comment above a blank line stays when the step below it is removed", () => {
  const text = "steps:\n  - {id: a}\n\n  # Part two.\n\n  # own\n  - {id: b}\n  - {id: c}\n";
  const removed = (at: number) => (value: JsonObject) => stepsOf(value).splice(at, 1);
  assert.equal(change(text, removed(1)), text.replace("  # own\n  - {id: b}\n", ""));
});

Deno.test("an edit changes its own lines only, whatever the layout of the others", () => {
  const text = DATA.CASES;
  const edits: [(value: JsonObject) => void, [string, string]][] = [
    [(value) => (value.metadata as JsonObject).seed = 24, ["seed:    0x17      #", "seed: 24 #"]],
    [(value) => stepsOf(value)[0].op = "it's", ["op: 'a.b'   #", "op: 'it''s' #"]],
    [(value) => (value.metadata as JsonObject).more = 1, ["again\n", "again\n    more: 1\n"]],
    [(value) => stepsOf(value).splice(0, 1), [text.slice(text.indexOf("-   id:  data"), text.indexOf("# above")), ""]],
  ];
  for (const [alter, [from, to]] of edits) {
    assert.ok(text.includes(from), from);
    assert.equal(change(text, alter), text.replace(from, to));
  }
});

Deno.test("JSON keeps its layout, minified or indented, and numbers as they are spelled", () => {
  const tall = '{\n    "name": "x",\n    "gain": 1E3,\n    "steps": [\n        {"id": "a"}\n    ]\n}\n';
  const step = (value: JsonObject) => stepsOf(value).push({ id: "b", op: "y" } as never);
  assert.equal(
    change(tall, step, "a.json"),
    tall.replace(
      '{"id": "a"}\n',
      '{"id": "a"},\n        {\n            "id": "b",\n            "op": "y"\n        }\n',
    ),
  );
  assert.equal(change('{"a":1E3,"b":[1,2.0]}', (value) => value.b = [1, 2], "a.json"), '{"a":1E3,"b":[1,2]}');
  assert.equal(change('{"a":1}', (value) => delete value.a, "a.json"), "{}");
});

Deno.test("line breaks, byte order mark and a missing last line break stay as they are", () => {
  const dos = LINK.replaceAll("\n", "\r\n");
  assert.equal(change(dos, (value) => value.name = "b"), dos.replace("name: link", "name: b"));
  assert.equal(change("\ufeffname: a", (value) => value.name = "b"), "\ufeffname: b");
  assert.equal(change("name: a", (value) => value.seed = 1), "name: a\nseed: 1");
});

Deno.test("an alias stays while it means what it is to mean, and is written out when it does not", () => {
  const text = "a: &x {k: 1} # anchor\nb: *x # alias\n";
  assert.equal(
    change(text, (value) => {
      value.a = { k: 2 };
      value.b = { k: 2 };
    }),
    "a: &x {k: 2} # anchor\nb: *x # alias\n",
  );
  assert.equal(change(text, (value) => value.a = { k: 2 }), "a: &x {k: 2} # anchor\nb: {k: 1} # alias\n");
  assert.equal(change(text, (value) => delete value.a), "b: {k: 1} # alias\n");
});

Deno.test("what no text can hold is refused with a code", () => {
  let deep: Value = 1;
  for (let level = 0; level < 70; level++) deep = [deep];
  for (const file of ["a.yaml", "a.json"]) {
    const text = file === "a.json" ? '{"name": "x"}' : "name: x\n";
    assert.throws(() => editRecipeText(text, { name: "x", deep }, { file }), { code: "recipe_edit_failed" });
  }
  assert.throws(() => editRecipeText("a: [", {}, { file: "a.yaml" }), { code: "recipe_syntax_invalid" });
});

Deno.test("after any changes the text reads as exactly the new value", () => {
  const roll = dice(20), texts = [...SHIPPED, ...UNUSUAL];
  for (let round = 0; round < sizeOf(60, 500); round++) {
    const [file, text] = texts[roll(texts.length)];
    const original = roll(5) === 0 ? text.replaceAll("\n", "\r\n") : text;
    let current = original, value = read(original, file);
    for (let changes = roll(3); changes >= 0; changes--) {
      value = edited(value, roll);
      current = editRecipeText(current, value, { file });
      assert.equal(canonicalJson(read(current, file)), canonicalJson(value));
    }
  }
});

Deno.test("comments on what was not touched survive: values of the shipped recipes, each changed on its own", () => {
  // A step whose parameters stand in an earlier recipe word for word has been changed there.
  const seen = new Set<string>();
  for (const [number, [file, text]] of SHIPPED.entries()) {
    if (!isSampled(number, 8)) continue;
    // Every line speaks for itself.
    const marked = text.split("\n").map((line, index) => /^\s*(#.*)?$/.test(line) ? line : `${line} # line ${index}`)
      .join("\n");
    const value = read(marked, file) as JsonObject;
    for (const [index, step] of stepsOf(value).entries()) {
      const words = JSON.stringify([step.op, step.params]);
      const names = seen.has(words) ? [] : Object.keys(step.params ?? {});
      seen.add(words);
      for (const name of names) {
        const changed = cloneValue(value) as JsonObject;
        stepsOf(changed)[index].params[name] = "changed";
        const lines = editRecipeText(marked, changed, { file }).split("\n");
        const different = marked.split("\n").filter((line, at) => line !== lines[at]);
        assert.equal(different.length, 1, `${file} ${step.id}.${name}`);
        assert.ok(lines.length === marked.split("\n").length);
        const at = marked.split("\n").indexOf(different[0]);
        assert.equal(lines[at].split(" # line")[1], different[0].split(" # line")[1]);
      }
      const removed = cloneValue(value) as JsonObject;
      const [gone] = stepsOf(removed).splice(index, 1);
      const left = editRecipeText(marked, removed, { file });
      // The line of the list gets brackets when it becomes empty, and keeps its comment.
      const kept = (line: string) =>
        left.includes(line.trim()) || left.includes(line.trim().replace(/^steps: /, "steps: [] "));
      const lost = marked.split("\n").filter((line) => line.includes("# line") && !kept(line));
      const own = marked.slice(marked.indexOf(`- id: ${gone.id} #`)).split("\n");
      const size = own.findIndex((line, at) => at > 0 && /^ {2}- id:|^\S/.test(line));
      // The line of the list itself gets brackets when it becomes empty.
      const list = stepsOf(removed).length === 0 ? 1 : 0;
      assert.ok(
        lost.length <= list + (size < 0 ? own.length : size),
        `${file} without ${gone.id} lost ${lost.length} lines`,
      );
    }
  }
});
