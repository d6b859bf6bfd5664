/** The colours of the style sheet: every text on every ground it stands on, every mark on its panel, in both themes. */
import assert from "node:assert/strict";

const CSS = await Deno.readTextFile(new URL("../../ui/styles/tokens.css", import.meta.url));

/** The colours of the block that a selector opens. */
function tokens(selector: string): Record<string, string> {
  const start = CSS.indexOf(selector);
  assert.ok(start >= 0, selector);
  const block = CSS.slice(start, CSS.indexOf("}", start));
  return Object.fromEntries(
    [...block.matchAll(/--([a-z0-9-]+):\s*(#[0-9a-f]{6})/gi)].map(([, name, value]) => [name, value]),
  );
}

/** Relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const LIGHT = tokens(":root {"), DARK = tokens(':root[data-theme="dark"] {');

Deno.test("the measure itself: black on white is 21 to 1, a known grey is what it is said to be", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.ok(Math.abs(contrast("#767676", "#ffffff") - 4.54) < 0.01);
});

for (const [theme, colours] of [["light", LIGHT], ["dark", DARK]] as const) {
  const atLeast = (least: number, pairs: [text: string, ground: string][]) => {
    const poor = pairs.map(([text, ground]) => ({ text, ground, ratio: contrast(colours[text], colours[ground]) }))
      .filter(({ ratio }) => !(ratio >= least));
    assert.deepEqual(poor, []);
  };

  Deno.test(`${theme}: every text has at least 4.5 to 1`, () => {
    const inks = ["ink", "ink-2", "accent", "ok", "warn", "error"];
    atLeast(4.5, [
      ...inks.flatMap((ink): [string, string][] => [[ink, "bg"], [ink, "panel"]]),
      // The faintest ink is for what is switched off, and for labels of wires.
      ["ink-3", "panel"],
      ["ink-3", "bg"],
      ["ink", "raised"],
      ["ink-2", "raised"],
      ["accent-ink", "accent"],
      ["accent", "accent-soft"],
      ["ink", "accent-soft"],
      ["ink-2", "accent-soft"],
      ...["ok", "warn", "error"].flatMap((
        tone,
      ): [string, string][] => [[tone, `${tone}-soft`], ["ink", `${tone}-soft`]]),
    ]);
  });

  Deno.test(`${theme}: every mark has at least 3 to 1`, () => {
    const marks = Object.keys(colours).filter((name) => /^(plane|series)-|^baseline$/.test(name));
    assert.equal(marks.length, 10);
    atLeast(3, marks.map((mark) => [mark, "panel"]));
    // A letter stands on each plane mark.
    atLeast(4.5, marks.filter((name) => name.startsWith("plane")).map((mark) => ["panel", mark]));
  });
}

Deno.test("dark is the same whether chosen or taken from the system", () => {
  assert.deepEqual(tokens(':root:not([data-theme="light"]) {'), DARK);
});

Deno.test("no component names a colour of its own", async () => {
  const wrong: string[] = [];
  const look = async (folder: URL) => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) await look(new URL(`${name}/`, folder));
      else if (/\.(tsx|ts)$/.test(name) || (name.endsWith(".css") && name !== "tokens.css")) {
        const text = await Deno.readTextFile(new URL(name, folder));
        for (const [found] of text.replaceAll(/\/\*[^]*?\*\//g, "").matchAll(/#[0-9a-f]{6}\b/gi)) {
          wrong.push(`${name}: ${found}`);
        }
      }
    }
  };
  await look(new URL("../../ui/", import.meta.url));
  assert.deepEqual(wrong, []);
});
