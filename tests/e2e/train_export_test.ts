/** From a recipe to a network that the exported script trains, and back; skipped, with a note, without PyTorch. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { decodePng, parsePng } from "../../lib/artifact/png_decode.ts";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { needsTorch, torchPrograms, torchPython } from "../support/torch.ts";

const RECIPE = join(ROOT_PATH, "recipes/recipe_starters/neural_receiver_qpsk_iq_calibration.yaml");
const python = await torchPython();
const programs = torchPrograms(python ?? "");
Deno.test.afterAll(() => programs.end());

async function run(folder: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await programs.run(folder, args);
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

/** The example of interfaces.py runs as printed, and names of steps and components both export. */
async function exampleRuns(project: string): Promise<void> {
  const text = Deno.readTextFileSync(join(project, "interfaces.py"));
  const example = [...text.slice(0, text.indexOf("import json")).matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line);
  assert.ok(example.length > 5, example.join("\n"));
  await run(project, "-c", example.join("\n"));
  const written = example.join("\n").match(/writes (\S+\.onnx)/)![1];
  assert.ok(Deno.statSync(join(project, written)).size > 1000);
  const byName = (name: string) =>
    run(
      project,
      "-c",
      `
from interfaces import BLOCKS, export_onnx
from networks import build, open_sizes
step = next(iter(BLOCKS))
try:
    print(export_onnx(build(step), ${JSON.stringify(name)}, open_sizes=open_sizes(step)).name)
except ValueError as error:
    print(error)
`,
    );
  assert.equal((await byName(written.replace(".onnx", ""))).trim(), written);
  assert.match(await byName("reciever"), /no block is named reciever: there are \w+ \(component receiver\)/);
  for (const name of [written, written.replace(".onnx", ".parity.npz")]) Deno.removeSync(join(project, name));
}

Deno.test({
  name: "the exported script trains a receiver through the link, and its package beats the reference in the recipe",
  ...needsTorch(python),
  fn: inFolder(async (cwd) => {
    const project = join(cwd, "rx");
    const args = ["differentiable", "export", RECIPE, "--framework", "torch", "--samples", "20", "--out", "rx"];
    assert.equal((await svc(args, { cwd })).code, 0);
    assert.match(await run(project, "tests/test_twins.py"), /passed +wireless\.channel +step wireless_channel/);

    const first = await run(project, "train.py", "--epochs", "2");
    assert.match(first, /epoch 2 /);
    // Captured records feed the same script.
    assert.equal((await svc(["dataset-capture", "run", "rx"], { cwd })).code, 0);
    await run(project, "validate_contract.py");
    await exampleRuns(project);
    const resumed = await run(project, "train.py", "--resume", "--epochs", "3", "--data", "shards", "--batch", "8");
    assert.match(resumed, /epoch 3 /);
    assert.doesNotMatch(resumed, /epoch 1 /);
    assert.equal(Deno.readTextFileSync(join(project, "curve.csv")).trim().split("\n").length, 4);
    const curve = decodePng(parsePng(Deno.readFileSync(join(project, "curve.png"))));
    const inked = (y: number, colour: number) =>
      Array.from({ length: curve.width }, (_, x) => curve.data[(y * curve.width + x) * 3]).includes(colour);
    const [rows, text, line] = [Array.from({ length: curve.height }, (_, y) => y), 60, 20];
    assert.ok(rows.slice(-44).some((y) => inked(y, text)), "the axis of epochs has numbers");
    assert.ok(rows.slice(44, -44).some((y) => inked(y, text)), "the axis of losses has numbers");
    assert.ok(rows.slice(44, -44).some((y) => inked(y, line)), "there is a curve");
    const refusals = JSON.parse(await run(project, "-c", REFUSED)) as string[];
    for (
      const [index, message] of [
        /--epochs, .* are at least 1/,
        /no loss mse of any evaluation; .*bit_cross_entropy/,
        /--vary .*: write the range as LOW:HIGH/,
        /--images replaces an image source, and this link draws its data/,
        /--device none: /,
      ].entries()
    ) assert.match(refusals[index], message);

    const packaged = await svc(["artifact", "package", "rx/package", "--out", "rx.zip", "--json"], { cwd });
    assert.equal(packaged.code, 0, packaged.stderr);
    const { package_sha256, parity } = packaged.json;
    assert.ok(parity[0].largest_relative_difference < 1e-5);
    assert.equal((await svc(["artifact", "import", "rx.zip"], { cwd })).code, 0);
    const ber = async (...settings: string[]) => {
      const set = settings.flatMap((setting) => ["--set", `demodulator.${setting}`]);
      const command = ["recipe", "run-matrix", "rx/svc_recipe.yaml", "--points", "snr_db=10.0", "--json", ...set];
      const { metrics } = (await svc(command, { cwd })).json.rows[0];
      return metrics.ber["channel.ber"] ?? metrics.ber.ber;
    };
    const learned = await ber("mode=learned_artifact", "modulation=qpsk", `artifact_package_sha256=${package_sha256}`);
    const reference = await ber("mode=reference_qpsk");
    assert.ok(learned < reference / 3, `${learned} against ${reference}`);

    // A network that is not the one of the stored outputs is refused.
    const npz = join(project, "package/receiver.parity.npz");
    await run(project, "-c", changed(npz));
    const refused = await svc(["artifact", "package", "rx/package", "--out", "other.zip"], { cwd });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /artifact_output_invalid[\s\S]*bit_llr differs by/);
  }),
});

const changed = (path: string) =>
  `import numpy as np
a = dict(np.load(${JSON.stringify(path)}))
a["output__bit_llr"] = a["output__bit_llr"] * 1.001
np.savez(${JSON.stringify(path)}, **a)`;

/** Starts the script with options that it refuses, in one process, and prints the message of each refusal. */
const REFUSED = `import contextlib, io, json, runpy, sys
sys.path.insert(0, ".")
messages = []
for args in [["--epochs", "0"], ["--loss", "mse"], ["--vary", "wireless_channel.snr_db=5"], ["--images", "."], ["--device", "none"]]:
    sys.argv = ["train.py", *args]
    with contextlib.redirect_stderr(io.StringIO()) as stderr:
        try:
            runpy.run_path("train.py", run_name="__main__")
            messages.append("accepted")
        except SystemExit as error:
            assert error.code not in (0, None)
            messages.append(f"{stderr.getvalue()}{error.code}")
print(json.dumps(messages))`;
