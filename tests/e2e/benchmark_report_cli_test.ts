/** A benchmark from its pack to tables, figures and a page, as its user makes them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { svc } from "../support/cli.ts";

const RECIPE = `schema_version: 1
name: link
metadata:
  research: {task: {id: bit_transport}}
  matrix:
    dimensions: {snr_db: [0.0, 4.0, 12.0]}
    step_params: {channel: {snr_db: {matrix: snr_db}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 4000}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: channel, op: wireless.channel, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: channel.rx_symbols}}
  - {id: evaluation, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: demodulator.bits}}
`;
const entry = (snr: number) =>
  `  - {id: qpsk_${snr}db, path: link.yaml, params: {method_id: qpsk, matrix_selection: {snr_db: ${snr}.0}}}\n`;
const PACK = `schema_version: 1
id: links
version: "1"
dataset: {id: synthetic_random_bits, modality: bits, version: synthetic_random_bits-v1}
task: {id: bit_transport, kind: transport_integrity, modality: bits}
metrics: [channel.ber]
baselines: []
replication: {replicates: 2, base_seed: 5}
recipes:
${[0, 4, 12].map(entry).join("")}`;

Deno.test("a benchmark becomes tables, figures and a page", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-report-" });
  const read = (...parts: string[]) => Deno.readTextFileSync(join(folder, ...parts));
  try {
    Deno.writeTextFileSync(join(folder, "link.yaml"), RECIPE);
    Deno.writeTextFileSync(join(folder, "pack.yaml"), PACK);
    const ran = await svc(["benchmark", "run", "pack.yaml", "--json"], { cwd: folder });
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    const id = ran.json.result_id;
    const home = [".svc", "benchmarks", id];
    assert.deepEqual(ran.json.reports, [
      "aggregates.csv",
      "comparisons.csv",
      "metrics.csv",
      "recipes.csv",
      "summary.md",
      "summary.tex",
    ]);

    const exported = await svc(["benchmark", "export", id, "--out", "tables", "--json"], { cwd: folder });
    assert.equal(exported.code, 0, exported.stderr);
    for (const file of exported.json.files) assert.equal(read("tables", file), read(...home, file), file);

    const plotted = await svc(["benchmark", "plot", id, "--style", "compact", "--json"], { cwd: folder });
    assert.equal(plotted.code, 0, plotted.stderr + plotted.stdout);
    assert.deepEqual([plotted.json.plot, plotted.json.x, plotted.json.y], [
      "error-rate",
      "channel.snr_db",
      "channel.ber",
    ]);
    const svg = read(...home, "figures", "error-rate_channel.ber_compact.svg");
    assert.ok(svg.includes("Theory: QPSK, AWGN"), "the evidence of the rows says what the link is");
    assert.ok(svg.includes("No error seen"), "12 dB sees no error in 8000 bits");
    assert.ok(svg.includes(plotted.json.result_sha256));
    const verified = await svc(["benchmark", "verify", id, "--json"], { cwd: folder });
    assert.equal(verified.json.status, "valid", verified.stdout);

    const style = join(folder, "style.yaml");
    Deno.writeTextFileSync(style, "extends: paper\nwidth: 300\n");
    const own = await svc(["benchmark", "plot", id, "cdf", "--style", style, "--out", "out", "--name", "mine"], {
      cwd: folder,
    });
    assert.equal(own.code, 0, own.stderr);
    assert.equal(JSON.parse(read("out", "mine.plot.json")).style.width, 300);

    const published = await svc(["benchmark", "publish", id, "--slug", "links", "--out", "site"], { cwd: folder });
    assert.equal(published.code, 0, published.stderr);
    assert.ok(read("site", "links", "index.html").includes(id));
    assert.equal(read("site", "links", "result.json"), read(...home, "result.json"));

    // A result row names a manifest that exists after an export with evidence, with the digest that it records.
    const proof = await svc(["benchmark", "export", id, "--out", "proof", "--evidence", "--json"], { cwd: folder });
    assert.equal(proof.code, 0, proof.stderr);
    const { recipes } = JSON.parse(read(...home, "result.json"));
    assert.equal(recipes.length, 6);
    for (const { manifest, run_id } of recipes) {
      assert.equal(manifest.path, `runs/${run_id}/manifest.json`);
      assert.equal(sha256Hex(read("proof", manifest.path)), manifest.sha256);
      assert.ok(proof.json.files.includes(manifest.path));
    }

    // A plot that was changed by hand no longer is the one that the record names.
    Deno.writeTextFileSync(join(folder, ...home, "figures", "error-rate_channel.ber_compact.svg"), svg + "<!-- -->");
    const tampered = await svc(["benchmark", "verify", id, "--json"], { cwd: folder });
    assert.deepEqual([tampered.code, tampered.json.status], [0, "warning"]);

    for (
      const [args, code, message] of [
        [["export", id, "--evidence"], 2, /--out paper\/evidence/],
        [["plot", "nothing"], 4, /result_not_found/],
        [["plot", id, "pie"], 2, /Allowed choices/],
        [["plot", id, "--y", "channel.berr"], 2, /Did you mean channel\.ber\?/],
        [["plot", id, "--style", "nothing.yaml"], 4, /Styles: svc, paper, compact/],
        [["publish", id, "--slug", "../out"], 2, /Cannot name a page/],
      ] as const
    ) {
      const refused = await svc(["benchmark", ...args], { cwd: folder });
      assert.equal(refused.code, code, `${args.join(" ")}: ${refused.stderr}`);
      assert.match(refused.stderr, message);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
