/** The native extension from the command line: asked for it runs, and never silently does anything else. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { NATIVE_LIBRARY, needsNative } from "../support/native.ts";

const RECIPE = `name: native
metadata:
  seed: 23
steps:
  - id: data
    op: source.random_bits
    params: { bit_count: 20001 }
  - id: checkpoint
    op: channel.bit_boundary
    inputs: { bits: data.bits }
  - id: modulator
    op: modulation.digital_modulate
    inputs: { bits: checkpoint.bits }
  - id: wireless_channel
    op: wireless.channel
    inputs: { symbols: modulator.symbols }
    params: { snr_db: 4.0 }
  - id: demodulator
    op: demodulation.digital_demodulate
    inputs: { rx_symbols: wireless_channel.rx_symbols }
    params: { modulation: qpsk }
  - id: evaluation
    op: metrics.bit_error_rate
    inputs: { candidate: demodulator.bits, reference: data.bits }
`;
const NATIVE_STEPS = ["checkpoint", "modulator", "demodulator"];
const ASKED = NATIVE_STEPS.flatMap((step) => ["--set", `${step}.data_plane_backend=cpp_native`]);

const withRecipe = (body: (cwd: string) => Promise<void>) =>
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "native.yaml"), RECIPE);
    await body(cwd);
  });

interface Row {
  step_id: string;
  backend: string;
  implementation: string;
  implementation_metadata: { runtime_availability?: unknown; notes?: string };
}

Deno.test({
  name: "a run on the native extension has the arrays of the portable run, and says what ran",
  ...needsNative(),
  fn: withRecipe(async (cwd) => {
    const portable = await svc(["recipe", "run", "native.yaml", "--json"], { cwd });
    assert.equal(portable.code, 0, portable.stdout);
    for (const asked of [ASKED, ["--backend", "cpp"]]) {
      const native = await svc(["recipe", "run", "native.yaml", ...asked, "--json"], { cwd });
      assert.equal(native.code, 0, native.stdout);
      const plan = JSON.parse(await Deno.readTextFile(join(native.json.directory, "execution-plan.json")));
      const rows = (plan.steps as Row[]).filter(({ backend }) => backend === "cpp");
      assert.deepEqual(rows.map((row) => [row.step_id, row.implementation]), [
        ["checkpoint", "default"],
        ["modulator", "cpp_qpsk_modulator"],
        ["demodulator", "cpp_qpsk_demodulator"],
      ]);
      for (const { implementation_metadata } of rows) {
        assert.deepEqual(implementation_metadata.runtime_availability, {
          requirements: [{ kind: "native", id: "cpp_native" }],
        });
      }
      for (
        const [step, port] of [["checkpoint", "bits"], ["modulator", "symbols"], ["demodulator", "llr"], [
          "demodulator",
          "bits",
        ]]
      ) {
        const read = async (directory: string) => {
          const bytes = await Deno.readFile(join(directory, "artifacts", step, `${port}.npz`));
          const artifact = decodeArtifact("channel.bits.numpy", bytes);
          return artifact.arrayNames.map((name) => [name, artifact.array(name)]);
        };
        assert.deepEqual(await read(native.json.directory), await read(portable.json.directory), `${step}.${port}`);
      }
      const manifest = JSON.parse(await Deno.readTextFile(join(native.json.directory, "manifest.json")));
      const { available, path, sha256, reason } = manifest.environment.native;
      assert.deepEqual([available, path, reason], [true, NATIVE_LIBRARY, null]);
      assert.match(sha256, /^[0-9a-f]{64}$/);
      const again = await svc(["runs", "reproduce", native.json.run_id, "--json"], { cwd });
      assert.equal(again.json.status, "identical", again.stdout);
    }
  }),
});

Deno.test({
  name: "without the permission nothing runs, nothing is written, and the hint grants it",
  ...needsNative(),
  fn: withRecipe(async (cwd) => {
    const granted = ["--allow-read", "--allow-write", "--allow-env", "--allow-sys", "--no-prompt"];
    const run = async (extra: string[], args: string[]) => {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", ...granted, ...extra, ...CLI_ARGS.slice(2), "recipe", "run", "native.yaml", "--json", ...args],
        cwd,
        env: { NO_COLOR: "1" },
      }).output();
      return { code, json: JSON.parse(new TextDecoder().decode(stdout)), stderr: new TextDecoder().decode(stderr) };
    };
    const refused = await run([], ASKED);
    assert.equal(refused.code, 5);
    assert.deepEqual(
      refused.json.diagnostics.map((item: { code: string; step_id: string }) => [item.code, item.step_id]),
      NATIVE_STEPS.map((step) => ["materialization_unavailable", step]),
    );
    const [{ message, hint }] = refused.json.diagnostics;
    assert.equal(message, "Cannot run checkpoint on cpp: the permission to load the native extension is not granted");
    assert.equal(hint, `Add --allow-ffi=${NATIVE_LIBRARY}`);
    await assert.rejects(Deno.stat(join(cwd, ".svc/runs")), Deno.errors.NotFound);
    // The portable run needs no such permission, and the hint is all that the native one lacks.
    assert.equal((await run([], [])).code, 0);
    const allowed = await run([hint.replace("Add ", "")], ASKED);
    assert.equal(allowed.code, 0, JSON.stringify(allowed.json));
  }),
});

Deno.test(
  "what the extension has no kernels for is refused, built or not",
  withRecipe(async (cwd) => {
    for (
      const [settings, message] of [
        [
          ["wireless_channel.channel=flat_rayleigh", "wireless_channel.data_plane_backend=cpp_native"],
          /wireless\.channel on cpp: .*no kernels for it/,
        ],
        [
          ["demodulator.modulation=qam16", "demodulator.llr_method=exact", "demodulator.data_plane_backend=cpp_native"],
          /exact log-likelihood ratios above QPSK on cpp/,
        ],
      ] as const
    ) {
      const set = settings.flatMap((setting) => ["--set", setting]);
      const { code, json } = await svc(["recipe", "plan", "native.yaml", ...set, "--json"], { cwd });
      assert.equal(code, 5);
      assert.deepEqual(json.diagnostics.map((item: { code: string }) => item.code), ["materialization_unavailable"]);
      assert.match(json.diagnostics[0].message, message);
    }
  }),
);
