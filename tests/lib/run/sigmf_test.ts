import assert from "node:assert/strict";
import { join } from "node:path";
import { run } from "../../../mod.ts";
import { decodeArtifact } from "../../../lib/artifact/codec.ts";
import { exportSigmf } from "../../../lib/run/sigmf.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";

const RECIPE = {
  name: "signals",
  metadata: { seed: 5 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 400 } },
    {
      id: "modulator",
      op: "modulation.digital_modulate",
      params: { modulation: "qpsk" },
      inputs: { bits: "data.bits" },
    },
    {
      id: "channel",
      op: "wireless.channel",
      params: { channel: "awgn", snr_db: 8.0 },
      inputs: { symbols: "modulator.symbols" },
    },
  ],
};

Deno.test("the signals of a run are recordings, which a source reads bit for bit", async () => {
  const projectRoot = Deno.makeTempDirSync();
  try {
    const { run_id, summary, directory } = await run(RECIPE, { projectRoot });
    const workspace = openWorkspace({ projectRoot }), out = join(projectRoot, "recordings");
    const { files } = exportSigmf(workspace, run_id, { out, licence: "CC0-1.0" });
    const names = ["channel.rx_symbols", "modulator.symbols"];
    assert.deepEqual(files, names.flatMap((name) => [`${name}.sigmf-data`, `${name}.sigmf-meta`]));
    const meta = JSON.parse(Deno.readTextFileSync(join(out, files[1])));
    assert.deepEqual([meta.global["core:datatype"], meta.global["core:license"]], ["cf32_le", "CC0-1.0"]);
    const again = await run({
      name: "again",
      metadata: { seed: 5 },
      steps: [{ id: "recording", op: "source.iq_recording", params: { recording_path: `recordings/${files[1]}` } }],
    }, { projectRoot });
    assert.equal(again.status, "completed", String(again.summary.error));
    const samples = (place: typeof again, step: string, port: string) => {
      const { kind, path } = place.summary.steps.find(({ id }) => id === step)!.outputs[port];
      return decodeArtifact(kind, Deno.readFileSync(join(place.directory, path))).array().data;
    };
    assert.deepEqual(
      samples(again, "recording", "waveform"),
      samples({ ...again, summary, directory }, "channel", "rx_symbols"),
    );
    assert.throws(() => exportSigmf(workspace, run_id, { out }), { code: "usage_invalid" });
    const bits = await run({ ...RECIPE, steps: RECIPE.steps.slice(0, 1) }, { projectRoot });
    assert.throws(() => exportSigmf(workspace, bits.run_id, { out: join(projectRoot, "none") }), {
      code: "signals_missing",
    });
  } finally {
    Deno.removeSync(projectRoot, { recursive: true });
  }
});
