/** The blocks of the guide about Python. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { needs } from "../support/needs.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { needsPython, pythonWith, withModules } from "../support/python.ts";
import { performer } from "../support/shell.ts";
import { codeBlocks } from "./blocks.ts";

const PYTHON = "/usr/bin/python3";

async function output(command: string, args: string[], options: Deno.CommandOptions = {}) {
  try {
    const { success, stdout, stderr } = await new Deno.Command(command, { args, ...options }).output();
    return { success, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { success: false, text: `no ${command}` };
    throw error;
  }
}

/** A folder with the program `svc` for the search path, whose commands share a process. */
async function programs(cwd: string, python?: string): Promise<{ env: { PATH: string } } & AsyncDisposable> {
  await Deno.mkdir(join(cwd, "bin"));
  const shared = performer(svc, [Deno.execPath(), ...CLI_ARGS]), scripts = { svc: shared.command };
  const all = python === undefined ? scripts : { ...scripts, python3: `exec ${python} "$@"` };
  for (const [name, script] of Object.entries(all)) {
    await Deno.writeTextFile(join(cwd, "bin", name), `#!/usr/bin/env bash\n${script}\n`, { mode: 0o755 });
  }
  return { ...shared, env: { PATH: `${join(cwd, "bin")}:${Deno.env.get("PATH")}` } };
}

const numpy = await withModules(PYTHON, "numpy", "pandas");

Deno.test({
  name: "the blocks of the Python guide run in a new project",
  ...needs(`numpy and pandas for ${PYTHON}`, numpy),
  fn: inFolder(async (cwd) => {
    const guide = await Deno.readTextFile(join(ROOT_PATH, "docs/guides/python.md"));
    await using shell = await programs(cwd);
    const { env } = shell;
    const made = await output("bash", ["-ec", codeBlocks(guide, "sh")[0]], { cwd, env });
    assert.ok(made.success, made.text);
    const run = await output(PYTHON, ["-c", codeBlocks(guide, "python").join("\n")], { cwd, env });
    assert.ok(run.success, run.text);
    assert.match(run.text, /^0\.02\d+$/m);
    assert.match(run.text, /repetition\s+snr_db\s+channel\.ber/);
  }),
});

const interpreter = await pythonWith("numpy");

Deno.test({
  name: "the blocks of the Python guide about adapters run in an empty folder",
  ...needsPython(interpreter),
  fn: inFolder(async (cwd) => {
    const guide = await Deno.readTextFile(join(ROOT_PATH, "docs/guides/python.md"));
    await using shell = await programs(cwd, interpreter!);
    const { env } = shell, block = codeBlocks(guide, "sh")[1];
    const run = await output("bash", ["-ec", block], { cwd, env });
    assert.ok(run.success, run.text);
    assert.match(run.text, /^valid {2}my-receiver 0\.1\.0: my_receiver\.receive$/m);
    assert.match(run.text, /channel\.own +0\.0\d+/);
    assert.match(run.text, /my_receiver\.receive/);
  }),
});

Deno.test({
  name: "the tutorial of measured channels writes a file with NumPy and meets the error rate of Rayleigh fading",
  ...needsPython(interpreter),
  fn: inFolder(async (cwd) => {
    const tutorial = await Deno.readTextFile(join(ROOT_PATH, "docs/tutorials/measured_channels.md"));
    await using shell = await programs(cwd, interpreter!);
    const { env } = shell;
    const bash = async (block: string) => {
      const run = await output("bash", ["-ec", block], { cwd, env });
      assert.ok(run.success, run.text);
      return run.text;
    };
    const [start, make, perform] = codeBlocks(tutorial, "sh");
    await bash(start);
    await Deno.writeTextFile(join(cwd, "make_channels.py"), codeBlocks(tutorial, "python")[0]);
    const [digest] = /\b[0-9a-f]{64}\b/.exec(await bash(make))!;
    await Deno.writeTextFile(join(cwd, "measured.yaml"), codeBlocks(tutorial, "yaml")[0].replace("<digest>", digest));
    const [, low, high] = /channel\.ber +\S+ \[([\d.]+), ([\d.]+)\]/.exec(await bash(perform))!;
    const theory = (1 - Math.sqrt(5 / 6)) / 2;
    assert.ok(Number(low) <= theory && theory <= Number(high), `${theory} is not within ${low} … ${high}`);
  }),
});

/** Gains and delays of the axes that Sionna RT documents, their files, and the responses of receiver 1 by their definition. */
const TRACED = `
import numpy as np
from save_paths import save_paths

rng = np.random.default_rng(3)
shape = (2, 2, 1, 4, 5, 3)  # receiver, receive antenna, transmitter, transmit antenna, path, time
a = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("c8")
forms = {"complex": a, "parts": (a.real, a.imag)}
for array, delays in {"synthetic": (2, 1, 5), "antennas": shape[:5]}.items():
    tau = (1e-6 * rng.random(delays)).astype("f4")
    tau[..., 4] = -1
    for form, gains in forms.items():
        save_paths(f"{array}_{form}.npz", gains, tau, phi_r=tau)
    each = tau[1] if tau.ndim == 5 else np.broadcast_to(tau[1][None, :, None], (2, 1, 4, 5))
    k = np.arange(8) - 4
    phases = np.exp(-2j * np.pi * 15e3 * k * each[:, 0, :, :4, None].astype("f8"))
    h = np.einsum("rtpn,rtpk->nkrt", a[1, :, 0, :, :4], phases)
    np.save(f"{array}.npy", h)
`;
const COMPARE_TRACED = `
import glob, numpy as np
for array in ("synthetic", "antennas"):
    h = np.load(f"{array}.npy")
    for form in ("complex", "parts"):
        [path] = glob.glob(f".svc/runs/*_{array}_{form}/**/*state*.npz", recursive=True)
        with np.load(path) as file:
            states = [file[name] for name in file.files if file[name].dtype == np.complex64]
        assert len(states) == 1 and states[0].shape == (1, *h.shape), states[0].shape
        assert np.abs(states[0][0] - h).max() < 1e-5, np.abs(states[0][0] - h).max()
print("equal")
`;

Deno.test({
  name: "the script of the tutorial writes paths of both forms of arrays and gains, whose responses are those of NumPy",
  ...needsPython(interpreter),
  fn: inFolder(async (cwd) => {
    const tutorial = await Deno.readTextFile(join(ROOT_PATH, "docs/tutorials/measured_channels.md"));
    await Deno.writeTextFile(join(cwd, "save_paths.py"), codeBlocks(tutorial, "python")[1]);
    const made = await output(interpreter!, ["-c", TRACED], { cwd });
    assert.ok(made.success, made.text);
    for (const name of ["synthetic_complex", "synthetic_parts", "antennas_complex", "antennas_parts"]) {
      const params = { dataset_path: `${name}.npz`, receiver: 1, antennas: "all", ofdm_fft_size: 8, normalize: "none" };
      const recipe = { schema_version: 1, name, metadata: { seed: 1 } };
      const steps = [{ id: "channel", op: "source.channel_dataset", params }];
      await Deno.writeTextFile(join(cwd, `${name}.json`), JSON.stringify({ ...recipe, steps }));
      const run = await svc(["recipe", "run", `${name}.json`], { cwd });
      assert.equal(run.code, 0, run.stdout + run.stderr);
    }
    const compared = await output(interpreter!, ["-c", COMPARE_TRACED], { cwd });
    assert.equal(compared.text.trim(), "equal");
  }),
});
