import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject, Value } from "../../../lib/contract/value.ts";
import { canonicalMatrix, matrixDocument } from "../../../lib/recipe/matrix.ts";
import { compileText, findings } from "./_registry.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const STEPS = ["data", "sender", "wireless_channel", "tx_power"].map((id) => ({ id }));

function read(metadata: JsonObject, steps = STEPS, strictLegacy = false) {
  const { source, matrix, diagnostics } = canonicalMatrix({ metadata, steps }, { strictLegacy });
  return {
    source,
    matrix: matrix && canonicalJson(matrixDocument(matrix)),
    found: diagnostics.map(({ severity, code, path }) => `${severity} ${code} ${path}`),
    diagnostics,
  };
}

/** The values of one sweep as canonical JSON; null where it is ignored. */
function values(given: Value): string | null {
  const { matrix } = canonicalMatrix({ metadata: { sweeps: { "data.x": given } }, steps: STEPS });
  return matrix && canonicalJson(matrix.dimensions[0].values);
}

Deno.test("a sweep is a list, a text with commas or a range, types kept", () => {
  const cases: [Value, string | null][] = DATA.VALUES;
  for (const [given, expected] of cases) strictEqual(values(given), expected, canonicalJson(given));
});

Deno.test("paths of old recipes mean steps of today", () => {
  const cases: [string, string[], string | null][] = DATA.PATHS;
  for (const [path, more, name] of cases) {
    const steps = [...STEPS, ...more.map((id) => ({ id }))];
    const { matrix } = canonicalMatrix({ metadata: { sweeps: { [path]: [1] } }, steps });
    strictEqual(matrix?.dimensions[0].name ?? null, name, path);
  }
  // A step that is really called channel is meant where the alias has none.
  const { matrix } = canonicalMatrix({ metadata: { sweeps: { "channel.snr_db": [1] } }, steps: [{ id: "channel" }] });
  deepStrictEqual(matrix && matrixDocument(matrix).step_params, { channel: { snr_db: { matrix: "channel.snr_db" } } });
});

Deno.test("legacy sweeps become a matrix, with a warning that shows it", () => {
  const { source, matrix, found, diagnostics } = read({
    sweeps: { "channel.snr_db": "0:2", "data.grid.size": [8, 4] },
  });
  strictEqual(source, "sweeps");
  strictEqual(
    matrix,
    '{"dimensions":{"data.grid.size":[8,4],"wireless_channel.snr_db":[0,1,2]},"step_params":{"data":{"grid":' +
      '{"size":{"matrix":"data.grid.size"}}},"wireless_channel":{"snr_db":{"matrix":"wireless_channel.snr_db"}}}}',
  );
  deepStrictEqual(found, ["warning legacy_sweep_normalized $.metadata.sweeps"]);
  strictEqual(diagnostics[0].hint, `Write metadata.matrix: ${matrix}`);
});

Deno.test("what cannot be read is ignored with a warning, the rest is kept", () => {
  const { matrix, found, diagnostics } = read({
    ui_sweeps: {
      "dta.x": [1],
      "data.x": [1, 2, 1],
      "data.y": 3,
      "channel.snr_db": "1,1",
      "wireless_channel.snr_db": [4],
      "data.x.z": [1],
    },
  });
  deepStrictEqual(found, [
    'warning legacy_sweep_ignored $.metadata.ui_sweeps["dta.x"]',
    'warning legacy_sweep_ignored $.metadata.ui_sweeps["data.x"][2]',
    'warning legacy_sweep_ignored $.metadata.ui_sweeps["data.y"]',
    'warning legacy_sweep_ignored $.metadata.ui_sweeps["channel.snr_db"]',
    'warning legacy_sweep_ignored $.metadata.ui_sweeps["wireless_channel.snr_db"]',
    'warning legacy_sweep_ignored $.metadata.ui_sweeps["data.x.z"]',
    "warning legacy_sweep_normalized $.metadata.ui_sweeps",
  ]);
  strictEqual(diagnostics[0].hint, "Did you mean data?");
  strictEqual(
    matrix,
    '{"dimensions":{"data.x":[1,2],"wireless_channel.snr_db":[1]},"step_params":{"data":{"x":{"matrix":"data.x"}},' +
      '"wireless_channel":{"snr_db":{"matrix":"wireless_channel.snr_db"}}}}',
  );
  deepStrictEqual(read({ sweeps: "0:10" }).found, ["warning legacy_sweep_ignored $.metadata.sweeps"]);
});

Deno.test("the matrix wins over sweeps, and sweeps over ui_sweeps", () => {
  const matrix = { dimensions: { n: [1] }, step_params: { data: { x: { matrix: "n" } } } };
  const sweeps = { "data.x": [1, 2] }, ui_sweeps = { "data.x": [3] };
  const all = read({ matrix, sweeps, ui_sweeps });
  strictEqual(all.source, "matrix");
  deepStrictEqual(all.found, [
    "warning legacy_sweep_precedence $.metadata.sweeps",
    "warning legacy_sweep_precedence $.metadata.ui_sweeps",
  ]);
  const both = read({ sweeps, ui_sweeps });
  strictEqual(both.source, "sweeps");
  deepStrictEqual(both.found, [
    "warning legacy_sweep_normalized $.metadata.sweeps",
    "warning legacy_sweep_precedence $.metadata.ui_sweeps",
  ]);
  // A malformed matrix is an error, and no reason to take something else.
  const broken = read({ matrix: 3, sweeps });
  deepStrictEqual([broken.source, broken.matrix, broken.found], ["matrix", null, [
    "error matrix_definition_invalid $.metadata.matrix",
    "warning legacy_sweep_precedence $.metadata.sweeps",
  ]]);
  deepStrictEqual(read({ matrix: null, sweeps: {}, ui_sweeps: null }).found, []);
});

Deno.test("the strict check refuses both legacy forms", () => {
  for (const metadata of [{ sweeps: { "data.x": [1] } }, { ui_sweeps: { "data.x": [1] } }] as JsonObject[]) {
    const { matrix, found } = read(metadata, STEPS, true);
    const [key] = Object.keys(metadata);
    deepStrictEqual([matrix, found], [null, [`error legacy_sweep_normalized $.metadata.${key}`]]);
  }
  const matrix = { dimensions: { n: [1] }, step_params: { data: { x: { matrix: "n" } } } };
  deepStrictEqual(read({ matrix, ui_sweeps: { "data.x": [1] } }, STEPS, true).found, [
    "error legacy_sweep_precedence $.metadata.ui_sweeps",
  ]);
  deepStrictEqual(read({ sweeps: [1] }, STEPS, true).found, ["error legacy_sweep_ignored $.metadata.sweeps"]);
});

Deno.test("sweeps that span too much are refused, however far a range goes", () => {
  for (const range of ["1:257", "0:1e-9:1e300"]) {
    const { matrix, found } = read({ sweeps: { "data.x": range } });
    deepStrictEqual([matrix, found], [null, ["error matrix_too_large $.metadata.sweeps"]], range);
  }
  strictEqual(read({ sweeps: { "data.x": "1:256" } }).found.length, 1);
});

Deno.test("the compiler tells where a legacy sweep stands", () => {
  const text =
    "name: x\nmetadata:\n  sweeps: {a.bit_count: '1:3', b.y: [1]}\nsteps: [{id: a, op: source.random_bits}]\n";
  const compilation = compileText(text);
  strictEqual(compilation.status, "valid");
  deepStrictEqual(findings(compilation), [
    'legacy_sweep_ignored $.metadata.sweeps["b.y"] 3:37',
    "legacy_sweep_normalized $.metadata.sweeps 3:3",
  ]);
});
