import assert from "node:assert/strict";
import { join } from "node:path";
import { withoutPrivate } from "../../../lib/run/problem_report.ts";
import { open } from "../../../mod.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("a report names folders by their purpose, and no other path, user or host", () => {
  const workspace = { projectRoot: "/data/alice/thesis", stateDir: "/data/alice/thesis/.svc" };
  const shown = (text: string) => withoutPrivate(text, workspace);
  assert.equal(shown("cannot read /data/alice/thesis/.svc/runs/a"), "cannot read <state>/runs/a");
  assert.equal(shown("at /data/alice/thesis/recipes/x.yaml:3:1"), "at <project>/recipes/x.yaml:3:1");
  assert.equal(
    shown("read file:///mnt/lab/secret/name.npz, and (/srv/a/b.bin)"),
    "read <path>/name.npz, and (<path>/b.bin)",
  );
  assert.equal(shown("C:\\Users\\alice\\x.npz is missing"), "<path>/x.npz is missing");
  assert.equal(shown("/usr/lib/x.so, bit/s/Hz and 1/2 stay"), "/usr/lib/x.so, bit/s/Hz and 1/2 stay");
});

Deno.test("a report has the failed run's operations and error, without its parameters", async () => {
  const projectRoot = temporaryFolder("svc-report-");
  await using svc = await open({ projectRoot, stateDir: join(projectRoot, ".svc") });
  const bits = { id: "data", op: "source.random_bits", params: { bit_count: 61 } };
  const sent = {
    id: "sent",
    op: "modulation.digital_modulate",
    inputs: { bits: "data.bits" },
    params: { modulation: "bpsk" },
  };
  const air = {
    id: "air",
    op: "wireless.channel",
    inputs: { symbols: "sent.symbols" },
    params: { importance_scale: 2, importance_block_symbols: 2 },
  };
  const run = await svc.recipes.run({
    name: "secret_study",
    execution_profile: { id: "custom" },
    steps: [bits, sent, air],
  });
  assert.equal(run.status, "failed");
  const { text } = await svc.system.problemReport();
  assert.match(text, /^# Problem report of svc\n/);
  assert.match(text, /1 failed\n\nLast failed run:\n\n```text\nsource\.random_bits completed \d+ ms\n/);
  assert.match(
    text,
    /importance_block_mismatch in wireless\.channel: Cannot cut 61 symbols into blocks of 2 symbols/,
  );
  assert.doesNotMatch(text, /secret|svc-report-/);
});
