import assert from "node:assert/strict";
import { join } from "node:path";
import { runBenchmark } from "../../support/session.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { validateSubmission } from "../../../lib/study/engine/submission.ts";
import { verifyBenchmark } from "../../support/session.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import { twoLinks, withPack } from "./packs.ts";

/** A whole submission in a folder, and what is found after files of it were changed. */
async function submitted(check: (submission: Submission) => Promise<void>): Promise<void> {
  await withPack(twoLinks({ replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    const { result, directory } = await runBenchmark(pack, { projectRoot });
    const folder = join(projectRoot, "submission");
    await Deno.mkdir(folder);
    for (const name of ["result.json", "benchmark.json"]) {
      await Deno.copyFile(join(directory, name), join(folder, name));
    }
    const report = await verifyBenchmark(openWorkspace({ projectRoot }), result.result_id);
    await Deno.writeTextFile(join(folder, "verification.json"), prettyJson(report));
    await check({
      folder,
      found: () => {
        const { status, errors } = validateSubmission(folder);
        return [status, ...errors.map(({ file, path }) => `${file} ${path}`)];
      },
      change: async (name, from, to) => {
        const path = join(folder, name), text = await Deno.readTextFile(path);
        assert.ok(text.includes(from), `${name} holds ${from}`);
        await Deno.writeTextFile(path, text.replace(from, to));
        return { [Symbol.asyncDispose]: () => Deno.writeTextFile(path, text) };
      },
    });
  });
}

interface Submission {
  folder: string;
  /** Status, and the place of every error. */
  found(): string[];
  /** Replaces a text until the end of the block. */
  change(name: string, from: string, to: string): Promise<AsyncDisposable>;
}

Deno.test("pack, result and verification report are held against each other", () =>
  submitted(async ({ folder, found, change }) => {
    // The pack is a smoke test: nothing is wrong, and nothing is publication evidence.
    assert.deepEqual(found(), ["warning"]);
    {
      await using _ = await change("benchmark.json", '"version": "1"', '"version": "2"');
      assert.deepEqual(found(), ["invalid", "result.json $.benchmark.sha256"]);
    }
    {
      await using _ = await change("result.json", '"mean": 0.', '"mean": 1.');
      assert.deepEqual(found(), ["invalid", "result.json $.aggregates", "verification.json $.result_sha256"]);
    }
    {
      await using _ = await change("result.json", '"status": "completed",\n', '"status": "failed",\n');
      assert.ok(found().includes("verification.json $.result_sha256"));
    }
    {
      await using _ = await change("verification.json", '"target_id": "', '"target_id": "x');
      assert.deepEqual(found(), ["invalid", "verification.json $.target_id"]);
    }
    {
      await using _ = await change("verification.json", "evidence_pass", "evidence_fail");
      assert.deepEqual(found(), ["invalid", "verification.json $.certification.verdict"]);
    }
    {
      await using _ = await change("verification.json", "{", "[");
      assert.deepEqual(found(), ["invalid", "verification.json $"]);
    }
    await Deno.remove(join(folder, "result.json"));
    assert.deepEqual(found(), ["invalid", "result.json $"]);
  }));

Deno.test("a pack of its own stands before the record, and a folder must be there", () =>
  submitted(async ({ folder, found }) => {
    await Deno.writeTextFile(join(folder, "pack.yaml"), "id: other\n");
    assert.equal(found()[0], "invalid");
    assert.throws(() => validateSubmission(join(folder, "none")), { code: "file_not_found" });
  }));
