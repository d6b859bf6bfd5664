/** A new user's Python, from an empty folder to figures: the tutorial, then every kind of scaffold in a sweep of its own. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { codeBlocks } from "../docs/blocks.ts";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { needsPython, pythonWith } from "../support/python.ts";

const python = await pythonWith("numpy");

/** Commands of a block of a document, without a shell: `svc …`, and Python in a folder. */
async function perform(block: string, cwd: string): Promise<string> {
  let text = "";
  for (const line of block.trim().split("\n")) {
    const own = /^\(cd (\S+) && python3 (.+)\)$/.exec(line);
    if (own !== null) {
      const args = ["-B", ...own[2].split(" ")];
      const { success, stderr } = await new Deno.Command(python!, { args, cwd: join(cwd, own[1]) }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      continue;
    }
    assert.match(line, /^svc /);
    const { code, stdout, stderr } = await svc(["--python", python!, ...line.split(" ").slice(1)], { cwd });
    assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
    text += stdout;
  }
  return text;
}

Deno.test({
  name: "the tutorial: a receiver in Python that finds the phase, from an empty folder to its figure",
  ...needsPython(python),
  fn: inFolder(async (cwd) => {
    const tutorial = await Deno.readTextFile(join(ROOT_PATH, "docs/tutorials/python_receiver.md"));
    const [begin, first, sweep] = codeBlocks(tutorial, "sh");
    await perform(begin, cwd);
    const run = await perform(first, cwd);
    const [own, baseline] = ["own", "baseline"].map((name) =>
      new RegExp(`channel\\.${name} +(0\\.\\d+)`).exec(run)![1]
    );
    assert.equal(own, baseline);
    await Deno.writeTextFile(join(cwd, "my-receiver/receiver.py"), codeBlocks(tutorial, "python")[0]);
    await Deno.writeTextFile(join(cwd, "phase_sweep.yaml"), codeBlocks(tutorial, "yaml")[0]);
    const table = await perform(sweep, cwd);
    assert.match(table, /^conforms {2}my_receiver\.receive$/m);
    const { json } = await svc(["runs", "table", "--recipe", "phase_sweep", "--json"], { cwd });
    const rows = json.rows as { metrics?: Record<string, number> }[];
    assert.equal(rows.length, 5);
    const [last] = /^ +8\.0 .*$/m.exec(table)!;
    const rates = [...last.matchAll(/(0\.\d+) \[/g)].map(([, rate]) => Number(rate));
    assert.ok(Math.abs(rates[0] / rates[2] - 1) < 0.03 && rates[1] > 4 * rates[0], last);
    // Q(sqrt(Es/N0)) at 8 dB, 1,200 errors: within 10 %.
    assert.ok(Math.abs(rates[2] / 0.006004 - 1) < 0.1, last);
    assert.match(await Deno.readTextFile(join(cwd, "figures/phase_sweep_channel.own.ber.svg")), /<svg/);
  }),
});

/** Kinds of scaffolds with a sweep and the metric of its figure: three adapters and two operations. */
const SWEEPS: Record<string, { steps: string; dimension: string; values: string; y: string }> = {
  "python-codec": { steps: "sender: {bits_per_sample", dimension: "depth", values: "[2, 4, 6]", y: "quality.psnr_db" },
  "python-metric": {
    steps: "noise: {sigma",
    dimension: "sigma",
    values: "[0.02, 0.1, 0.3]",
    y: "external.my_python_metric.gmsd",
  },
  "python-receiver": {
    steps: "wireless_channel: {snr_db",
    dimension: "snr_db",
    values: "[2.0, 6.0]",
    y: "channel.own",
  },
  "python-operation": {
    steps: "amplifier: {backoff_db",
    dimension: "backoff_db",
    values: "[0.5, 6.0]",
    y: "channel.ber",
  },
  operation: { steps: "amplifier: {backoff_db", dimension: "backoff_db", values: "[0.5, 6.0]", y: "channel.ber" },
};

Deno.test({
  name: "every kind in Python, from its scaffold through a sweep to a figure, and the same bits again",
  ...needsPython(python),
  fn: inFolder(async (cwd) => {
    for (const [kind, { steps, dimension, values, y }] of Object.entries(SWEEPS)) {
      const folder = `my-${kind}`, recipe = join(cwd, folder, "recipe.yaml");
      await perform(`svc adapter scaffold ${kind} ${folder}`, cwd);
      const matrix =
        `  matrix:\n    dimensions: {${dimension}: ${values}}\n    step_params:\n      ${steps}: {matrix: ${dimension}}}\n`;
      const text = (await Deno.readTextFile(recipe)).replace(/^metadata:\n/m, (line) => line + matrix);
      await Deno.writeTextFile(join(cwd, `${kind}.yaml`), text);
      const name = /^name: (\S+)$/m.exec(text)![1];
      await perform(`svc --adapter ${folder} recipe run-matrix ${kind}.yaml`, cwd);
      await perform(`svc runs plot --recipe ${name} --x ${dimension} --y ${y}`, cwd);
      assert.match(await Deno.readTextFile(join(cwd, `figures/${name}_${y}.svg`)), /<svg/, kind);
      const { json } = await svc(["runs", "list", "--recipe", name, "--json"], { cwd });
      const [{ run_id }] = json.runs as { run_id: string }[];
      await perform(`svc runs verify ${run_id}`, cwd);
      await perform(`svc --adapter ${folder} runs reproduce ${run_id}`, cwd);
    }
  }),
});
