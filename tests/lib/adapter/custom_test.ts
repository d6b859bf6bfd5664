/** Operations of a manifest with ports of their own: arguments, results, findings, the suite, sweeps and figures. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { readAdapter } from "../../../lib/adapter/read_manifest.ts";
import { bitsArtifact, symbolsArtifact, textsArtifact } from "../../../lib/artifact/values.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { open } from "../../../mod.ts";
import { runOperation } from "../../ops/harness.ts";
import { operationsOf, withFolder, writeFolder } from "./support.ts";

const SYMBOLS = "channel.symbols.complex_numpy", RX = "channel.rx_symbols.complex_numpy";

/** A manifest whose every function of `code.ts` is an operation with the given ports. */
const manifest = (functions: readonly string[], ports: string, call = "") =>
  `schema_version: 1\nname: own-ops\nversion: "1"\noperations:${
    functions.map((id) => `
  - id: own_ops.${id.toLowerCase()}
    name: ${id}
    wraps: custom
    ${ports}
    adapter: { path: code.ts, callable: ${id}${call} }`).join("")
  }\n`;

const LINK = `inputs: { symbols: [${SYMBOLS}, ${RX}] }
    outputs: { symbols: ${SYMBOLS} }`;

Deno.test("inputs arrive by port, outputs and metrics return, metadata and companions travel", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "own"), {
      "svc_adapter.yaml": manifest(
        ["double"],
        `inputs: { symbols: [${RX}], bits: channel.bits.numpy }
    outputs: { symbols: ${RX}, weights: channel.llr.numpy, report: metrics.report }
    params: { type: object, properties: { gain: { type: number, default: 2.0 } } }
    fixed_params: { table: [1, 2] }
    equivalence: { type: numerical, tolerance: { atol: 1.0e-6, rtol: 1.0e-6 } }`,
        ", call_style: dict",
      ),
      "code.ts": `export function double({ inputs, metadata, companions, params }: any, context: any) {
  if (Object.keys(inputs).join() !== "symbols,bits") throw new Error(Object.keys(inputs).join());
  const { symbols, bits } = inputs, { gains } = companions.symbols;
  return {
    outputs: {
      symbols: { array: { ...symbols, data: symbols.data.map((x: number) => params.gain * x) }, metadata: { own: 1 } },
      weights: { dtype: "float64", shape: [2], data: Float64Array.of(gains.data[0], bits.data.length) },
    },
    metrics: { gain: params.gain, table: params.table.length, seed_given: context.seed === null ? 0 : 1, packet: metadata.symbols.packet },
    per_example: [{ id: "a" }],
  };
}`,
    });
    const operation = operationsOf(folder).get("own_ops.double")!;
    const { contract } = operation;
    assert.deepEqual(contract.input_kinds, { symbols: [RX], bits: ["channel.bits.numpy"] });
    assert.deepEqual(contract.output_kinds, { symbols: RX, weights: "channel.llr.numpy", report: "metrics.report" });
    assert.equal((contract.equivalence as { type: string }).type, "numerical");
    const gains = ndarray("float32", Float32Array.of(0.5, 0.25));
    const { outputs, metrics } = await runOperation(operation, {
      inputs: {
        symbols: {
          kind: RX,
          ...symbolsArtifact(Float32Array.of(1, 2, 3, 4), { packet: 7, source_item_counts: [2] }, { gains }),
        },
        bits: { kind: "channel.bits.numpy", ...bitsArtifact(Uint8Array.of(1, 0, 1)) },
      },
    });
    assert.deepEqual([...outputs.symbols.array().data], [2, 4, 6, 8]);
    assert.deepEqual([...outputs.symbols.array("gains").data], [0.5, 0.25]);
    const { packet, source_item_counts, adapter_metadata, symbol_count } = outputs.symbols.metadata;
    assert.deepEqual([packet, source_item_counts, adapter_metadata, symbol_count], [7, [2], { own: 1 }, 2]);
    assert.deepEqual([outputs.weights.array().dtype, [...outputs.weights.array().data]], ["float32", [0.5, 3]]);
    const prefix = "external.own_ops.";
    assert.deepEqual(metrics, {
      [`${prefix}gain`]: 2,
      [`${prefix}packet`]: 7,
      [`${prefix}seed_given`]: 0,
      [`${prefix}table`]: 2,
    });
    const report = outputs.report.json() as { metrics: Record<string, unknown>; items: unknown[] };
    assert.deepEqual([Object.keys(report.metrics).length, report.items], [4, [{ id: "a" }]]);
  }));

Deno.test("documents go in and out, one output may stand for itself, and other lengths end the items", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "own"), {
      "svc_adapter.yaml":
        manifest(["upper"], "inputs: { texts: text.batch.json }\n    outputs: { texts: text.batch.json }") +
        manifest(["half"], LINK).split("operations:")[1].slice(1),
      "code.ts": `export const upper = ({ texts }: any, params: object) =>
  texts.items.map(({ id, text }: any) => ({ id, text: text.toUpperCase() }));
export const half = ({ symbols }: any) => ({ ...symbols, shape: [symbols.shape[0] / 2], data: symbols.data.subarray(0, symbols.data.length / 2) });
`,
    });
    const operations = operationsOf(folder);
    const texts = textsArtifact([{ id: "t1", text: "a dog" }], { text_ids: ["t1"] });
    const upper = await runOperation(operations.get("own_ops.upper")!, { inputs: { texts } });
    assert.deepEqual((upper.outputs.texts.json() as { items: unknown }).items, [{ id: "t1", text: "A DOG" }]);
    const inputs = { symbols: symbolsArtifact(Float32Array.of(1, 2, 3, 4), { source_item_counts: [1, 1], kept: 1 }) };
    const { outputs } = await runOperation(operations.get("own_ops.half")!, { inputs });
    assert.deepEqual([outputs.symbols.metadata.source_item_counts, outputs.symbols.metadata.kept], [undefined, 1]);
  }));

Deno.test("a result that does not fit the ports is refused with the form that fits", () =>
  withFolder(async (project) => {
    const cases: [string, string, RegExp, RegExp | null][] = [
      ["missing", "({ outputs: {} })", /does not have the output symbols/, /outputs: \{symbols\}/],
      ["extra", "({ outputs: { symbols: one, more: one } })", /undeclared output "more"/, null],
      ["nothing", "null", /the output symbols is null/, null],
      [
        "kind",
        '({ ...one, dtype: "uint8", data: new Uint8Array(1) })',
        /output symbols is uint8 \[1\]/,
        /complex64 \[n\]/,
      ],
      ["count", "({ ...one, shape: [2] })", /has 1 elements, but its shape is \[2\]/, null],
      ["nan", "({ ...one, data: Float32Array.of(NaN, 0) })", /non-finite|not finite|NaN/i, null],
      ["metric", "({ outputs: { symbols: one }, metrics: { Bad: 1 } })", /"Bad" is not a metric name/, null],
      ["notnumber", "({ outputs: { symbols: one }, metrics: { m: 'x' } })", /the metric m is not a number/, null],
      ["field", "({ outputs: { symbols: one }, metric: {} })", /unknown field "metric"/, null],
      ["rows", "({ outputs: { symbols: one }, per_example: [1] })", /per_example is not a list of mappings/, null],
    ];
    const folder = writeFolder(join(project, "own"), {
      "svc_adapter.yaml": manifest(cases.map(([name]) => name), LINK),
      "code.ts": `const one = { dtype: "complex64", shape: [1], data: Float32Array.of(1, 0) };\n${
        cases.map(([name, value]) => `export const ${name} = () => ${value};`).join("\n")
      }`,
    });
    const operations = operationsOf(folder);
    const inputs = { symbols: symbolsArtifact(Float32Array.of(1, 2), {}) };
    for (const [name, , message, hint] of cases) {
      await assert.rejects(
        runOperation(operations.get(`own_ops.${name}`)!, { inputs }),
        (error: Error & { code: string; hint: string | null }) => {
          assert.equal(error.code, "adapter_result_invalid", name);
          assert.match(error.message, message, name);
          if (hint !== null) assert.match(String(error.hint), hint, name);
          return true;
        },
      );
    }
  }));

Deno.test("ports of a manifest are checked, each finding with its place", () =>
  withFolder((project) => {
    const found = (ports: string, wraps = "custom") => {
      const text = manifest(["double"], ports).replace("wraps: custom", `wraps: ${wraps}`);
      const folder = writeFolder(join(project, "own"), {
        "svc_adapter.yaml": text,
        "code.ts": "export const double = 1;\n",
      });
      return readAdapter(folder).diagnostics.map(({ code, path, hint, location }) => {
        assert.equal(code, "adapter_manifest_invalid");
        assert.ok(location !== undefined);
        return [path.replace("$.operations[0]", ""), hint ?? ""].join(" ");
      });
    };
    assert.deepEqual(found(LINK), []);
    assert.match(found("inputs: {}")[0], /^\.outputs outputs: \{/);
    assert.match(
      found(`outputs: { symbols: channel.symbol.complex_numpy }`)[0],
      /^\.outputs\.symbols .*channel\.symbols/,
    );
    assert.match(found(`inputs: { x: 3 }\n    outputs: { symbols: ${SYMBOLS} }`)[0], /^\.inputs\.x A kind ends in/);
    assert.match(found(`inputs: { x: [] }\n    outputs: { symbols: ${SYMBOLS} }`)[0], /^\.inputs\.x/);
    assert.match(
      found(`inputs: { x: [${SYMBOLS}, text.batch.json] }\n    outputs: { y: ${SYMBOLS} }`)[0],
      /^\.inputs\.x/,
    );
    assert.match(found(`outputs: { BAD: ${SYMBOLS} }`)[0], /^\.outputs\.BAD A port has/);
    assert.match(
      found(LINK, "metrics.external_text").join("\n"),
      /^\.inputs Ports of your own need wraps: custom\n\.outputs/,
    );
    assert.deepEqual(found(`outputs: { own: ai_phy.aoa_estimate.numpy }`), [], "kinds of a field");
    assert.match(
      found(`${LINK}\n    params: { type: object }\n    params_schema: { type: object }`)[0],
      /^\.params Keep one/,
    );
  }));

Deno.test("the suite runs on the folder: it conforms, or names the check and the place in the code", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "own"), {
      "svc_adapter.yaml": manifest(["same", "noise", "fails"], LINK),
      "code.ts":
        `export const same = ({ symbols }: any) => ({ outputs: { symbols }, metrics: { count: symbols.shape[0] } });
let calls = 0;
export const noise = ({ symbols }: any) => ({ ...symbols, data: symbols.data.map((x: number) => x + Math.random()) });
export const fails = ({ symbols }: any) =>
  symbols.none.data;
`,
    });
    await using svc = await open({ projectRoot: project });
    const { status, id, checks } = await svc.system.checkOperation(folder);
    assert.deepEqual([status, id], ["fails", "own-ops"]);
    const failed = checks.filter(({ status }) => status === "failed");
    assert.deepEqual(failed.map(({ name }) => name), [
      "own_ops.noise: case 1 item",
      "own_ops.noise: case 2 items",
      "own_ops.fails: case 1 item",
      "own_ops.fails: case 2 items",
    ]);
    assert.match(failed[0].message!, /the same seed gives other bytes/);
    assert.match(failed[2].message!, /\(own\/code\.ts:5:16\)$/);
    const wrapped = writeFolder(join(project, "codec"), {
      "svc_adapter.yaml": manifest(["same"], "").replace("wraps: custom\n    ", "wraps: model.external_encode_bits\n"),
      "code.ts": "export const same = 1;\n",
    });
    await assert.rejects(svc.system.checkOperation(wrapped), {
      code: "adapter_manifest_invalid",
    });
  }));

Deno.test("an own operation is in the catalogue with its form, runs in a sweep, and its metric is drawn", () =>
  withFolder(async (project) => {
    await using session = await open({ projectRoot: project });
    const folder = join(project, "my-amp");
    await session.adapters.scaffold("operation", folder);
    await using svc = await open({ projectRoot: project, adapters: [{ folder }] });
    const contract = await svc.system.operation("my_amp.clip");
    const properties = contract.params_schema.properties as Record<string, { minimum: unknown; description: string }>;
    assert.match(properties.backoff_db.description, /in dB/);
    const text = await Deno.readTextFile(join(folder, "recipe.yaml"));
    const matrix = "  matrix:\n    dimensions: {backoff_db: [-3.0, 0.0]}\n" +
      "    step_params: {amplifier: {backoff_db: {matrix: backoff_db}}}\n";
    const sweep = text.replace("steps:\n", `${matrix}steps:\n`).replace("params: {backoff_db: 1.0}", "params: {}");
    const { status, rows } = await svc.recipes.runMatrix(sweep);
    assert.equal(status, "completed");
    const shares = rows.map(({ metrics }) => metrics.amplifier["external.my_amp.clipped_share"]);
    assert.ok(Number(shares[0]) > Number(shares[1]) && Number(shares[1]) > 0, String(shares));
    const figure = await svc.runs.figure({ x: "backoff_db", y: "external.my_amp.clipped_share" });
    assert.ok(JSON.stringify(figure).includes("clipped_share"));
  }));
