/**
 * Research tasks from an empty folder to a paper or a colleague, with the number of commands that each takes. Files that the user
 * writes are no commands.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { exists } from "../../lib/artifact/path_kind.ts";
import { type CliResult, inFolder, svc } from "../support/cli.ts";

/** A folder with the commands that ran in it. */
class Desk {
  commands = 0;

  constructor(readonly folder: string) {}

  /** Runs a command; no word of it has a space. */
  async svc(command: string): Promise<CliResult> {
    this.commands++;
    const result = await svc(command.split(" "), { cwd: this.folder });
    assert.equal(result.code, 0, `svc ${command}\n${result.stderr}`);
    return result;
  }

  write(name: string, text: string): void {
    Deno.writeTextFileSync(join(this.folder, name), text);
  }

  read(name: string): string {
    return Deno.readTextFileSync(join(this.folder, name));
  }

  has(...names: string[]): void {
    for (const name of names) assert.ok(exists(join(this.folder, name)), name);
  }
}

/** Registers a task that takes at most so many commands. */
function task(title: string, most: number, body: (desk: Desk) => Promise<void>): void {
  Deno.test(
    `${title}: at most ${most} commands`,
    inFolder(async (folder) => {
      const desk = new Desk(folder);
      await body(desk);
      assert.ok(desk.commands <= most, `${desk.commands} commands`);
    }),
  );
}

/** Two modulations over AWGN at two points, by the name of a shipped recipe. */
const PACK = `
schema_version: 1
id: two_modulations
version: "1"
name: Two modulations
dataset: {id: synthetic_random_bits}
task: {id: bit_transport}
metrics: [channel.ber]
baselines: [bpsk]
replication: {base_seed: 3, min_replicates: 1}
recipes:
  - {id: bpsk, label: BPSK, role: baseline, path: qam_awgn, matrix: {dimensions: {modulation: [bpsk], snr_db: [0.0, 4.0]}}, params: {method_id: bpsk, step_params: {data: {bit_count: 2000}}}}
  - {id: qpsk, label: QPSK, path: qam_awgn, matrix: {dimensions: {modulation: [qpsk], snr_db: [0.0, 4.0]}}, params: {method_id: qpsk, step_params: {data: {bit_count: 2000}}}}
`;

const resultOf = ({ stdout, stderr }: CliResult) => /\/benchmarks\/(\S+)/.exec(stdout + stderr)![1];

/** A finished benchmark of {@link PACK}. */
async function measured(desk: Desk, replicates = "6"): Promise<string> {
  desk.write("pack.yaml", PACK);
  return resultOf(await desk.svc(`benchmark run pack.yaml --replicates ${replicates}`));
}

task("a curve whose points stop at enough errors, with intervals", 1, async (desk) => {
  desk.write("pack.yaml", PACK);
  const { stdout } = await desk.svc("benchmark run pack.yaml --until-errors 20 --max-bits 20000");
  assert.match(stdout, /channel\.ber +0\.\d+ \[0\.\d+, 0\.\d+\]/);
});

task("the curve as a figure for a column of a journal, in three formats, with a caption", 2, async (desk) => {
  const result = await measured(desk);
  await desk.svc(`benchmark plot ${result} error-rate --style ieee --format svg,pdf,pgf --out figures --name ber`);
  desk.has("figures/ber.svg", "figures/ber.pdf", "figures/ber.pgf");
  const caption = [...Deno.readDirSync(join(desk.folder, "figures"))].find(({ name }) => name.includes("caption"));
  assert.ok(caption !== undefined);
  const text = desk.read(`figures/${caption.name}`);
  assert.match(text, /95/);
  assert.match(text, /replicates/);
});

task("two methods with the difference of each point and names of one's own", 2, async (desk) => {
  const result = await measured(desk);
  await desk.svc(
    `benchmark plot ${result} difference --baseline bpsk --y channel.ber --label qpsk=Proposed --format ` +
      "svg --out figures --name gain",
  );
  assert.match(desk.read("figures/gain.svg"), /Proposed/);
});

task("a map of a metric over two swept parameters", 2, async (desk) => {
  desk.write(
    "pack.yaml",
    PACK.replace("[bpsk], snr_db", "[bpsk, qpsk, qam16], snr_db").replace(/\n.*id: qpsk, label.*\n/, "\n").replace(
      "baselines: [bpsk]\n",
      "",
    ),
  );
  const result = resultOf(await desk.svc("benchmark run pack.yaml --replicates 1"));
  await desk.svc(
    `benchmark plot ${result} heat-map --x snr_db --y modulation --value channel.ber --format svg,pgf ` +
      "--out figures --name map",
  );
  desk.has("figures/map.svg", "figures/map.pgf");
});

task("a table for LaTeX", 2, async (desk) => {
  const result = await measured(desk);
  await desk.svc(`benchmark export ${result} --out tables`);
  assert.match(desk.read("tables/summary.tex"), /\\toprule[\s\S]*\\midrule[\s\S]*\\bottomrule/);
});

task("a study of more points than a matrix holds, from a file", 2, async (desk) => {
  const points = Array.from({ length: 300 }, (_, i) => `${(i / 30).toFixed(2)},${100 + i}`);
  desk.write("points.csv", ["snr_db,bits", ...points, ""].join("\n"));
  desk.write(
    "study.yaml",
    PACK.slice(0, PACK.indexOf("baselines:")) + `replication: {replicates: 1}
recipes:
  - id: link
    path: link.yaml
    matrix: {points: points.csv, step_params: {link: {snr_db: {matrix: snr_db}}, data: {bit_count: {matrix: bits}}}}
`,
  );
  desk.write(
    "link.yaml",
    `name: link
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 100}}
  - {id: link, op: wireless.digital_link, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`,
  );
  const result = resultOf(await desk.svc("benchmark run study.yaml"));
  await desk.svc(`benchmark export ${result} --out tables`);
  assert.equal(desk.read("tables/recipes.csv").trimEnd().split("\n").length, 301);
});

task("the Es/N0 at which a link reaches a rate", 1, async (desk) => {
  const { stdout } = await desk.svc(
    "recipe run-matrix qam_awgn --set modulation=bpsk --set snr_db=0.0 --set data.bit_count=20000 --metric " +
      "channel.ber --until-bler 0.01 --over wireless_channel.snr_db --between 0:8 --resolution 1",
  );
  // Q(√(2·Es/N0)) = 0.01 at 4.3 dB.
  assert.match(stdout, /between 4(\.0)? and 5(\.0)?/);
});

task("an error rate of 1e-9", 1, async (desk) => {
  const { stdout } = await desk.svc(
    "recipe run qam_awgn --set modulation=qpsk --set snr_db=16 --set wireless_channel.importance_scale=4.0",
  );
  const [, mean, low, high] = /channel\.ber +([\d.]+) \[([\d.]+), ([\d.]+)\]×10⁻¹⁰/.exec(stdout)!.map(Number);
  // Q(√(10^1.6)) = 1.40e-10.
  assert.ok(low < 1.4 && 1.4 < high && mean > 1 && mean < 2, stdout);
});

task("numbers without gigabytes", 1, async (desk) => {
  const { json } = await desk.svc(
    "recipe run qam_awgn --set modulation=qpsk --set snr_db=4.0 --set data.bit_count=20000000 --keep " +
      "metrics --json",
  );
  const used = new Deno.Command("du", { args: ["-sb", json.directory] }).outputSync();
  assert.ok(Number(new TextDecoder().decode(used.stdout).split("\t")[0]) < 1e6);
});

task("a result to a colleague, who verifies it and runs it again", 5, async (desk) => {
  const run = await desk.svc(
    "recipe run qam_awgn --set modulation=qpsk --set snr_db=4.0 --set data.bit_count=2000 --json",
  );
  const id = run.json.run_id as string;
  await desk.svc(`runs export ${id} --format zip --out sent.zip`);
  Deno.mkdirSync(join(desk.folder, "colleague"));
  const colleague = new Desk(join(desk.folder, "colleague"));
  await colleague.svc("runs import ../sent.zip");
  await colleague.svc(`runs verify ${id}`);
  assert.match((await colleague.svc(`runs reproduce ${id}`)).stdout, /identical/);
  desk.commands += colleague.commands;
});

task("two versions of a recipe compared, and their runs", 4, async (desk) => {
  const at = async (snr: string) =>
    (await desk.svc(`recipe run qam_awgn --set modulation=qpsk --set snr_db=${snr} --set data.bit_count=2000 --json`))
      .json;
  const [a, b] = [await at("0.0"), await at("4.0")];
  const { stdout } = await desk.svc(`runs table ${a.run_id} ${b.run_id} --format md`);
  assert.match(stdout, /channel\.ber/);
  assert.match((await desk.svc(`runs table ${a.directory} ${b.directory} --format md`)).stdout, /channel\.ber/);
});
