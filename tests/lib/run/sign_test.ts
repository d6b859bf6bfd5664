/** Signatures of runs: made by a key, checked against allowed signers, by this program and by ssh-keygen alone. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { signRun } from "../../../lib/run/sign.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { needs } from "../../support/needs.ts";
import { runSmall, withWorkspace } from "./fixture.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const keygen = await new Deno.Command("ssh-keygen", { args: ["-?"], stdout: "null", stderr: "null" }).output()
  .then(() => true, () => false);

async function key(folder: string, name: string): Promise<{ file: string; line: string }> {
  const file = join(folder, name);
  const args = ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file];
  const { success } = await new Deno.Command("ssh-keygen", { args }).output();
  assert.ok(success);
  const [type, text] = Deno.readTextFileSync(`${file}.pub`).split(" ");
  return { file, line: `${name}@example.org ${type} ${text}\n` };
}

const coded = (code: string) => (error: { code?: string }) => error.code === code;

Deno.test({
  name: "a signature is that of one allowed signer, and of every byte of the bundle",
  ...needs("ssh-keygen", keygen),
  async fn() {
    await withWorkspace(async (workspace) => {
      const { directory, run_id } = await runSmall(workspace, { pairs: 1 });
      const keys = temporaryFolder("svc-keys-");
      const alice = await key(keys, "alice"), bob = await key(keys, "bob");
      const allowed = join(keys, "allowed"), others = join(keys, "others");
      Deno.writeTextFileSync(allowed, alice.line);
      Deno.writeTextFileSync(others, bob.line);
      const codes = async (signedBy: string) =>
        (await verifyRun(workspace, run_id, { signedBy })).errors.map(({ code }) => code);

      assert.deepEqual(await codes(allowed), ["bundle_signature_missing"]);
      assert.equal((await verifyRun(workspace, run_id)).signed, false);

      const signed = await signRun(workspace, run_id, alice.file);
      assert.equal(signed.path, join(directory, "SHA256SUMS.sig"));
      const report = await verifyRun(workspace, run_id, { signedBy: allowed });
      assert.deepEqual([report.status, report.signed_by, report.sha256sums], [
        "valid",
        "alice@example.org",
        signed.sha256sums,
      ]);
      // The signature is outside the list, so an unasked check is as before.
      assert.deepEqual(
        (({ status, signed, signed_by }) => [status, signed, signed_by])(
          await verifyRun(workspace, run_id),
        ),
        ["valid", true, null],
      );
      assert.deepEqual(await codes(others), ["bundle_signature_invalid"]);

      // ssh-keygen alone accepts it.
      const child = new Deno.Command("ssh-keygen", {
        args: ["-Y", "verify", "-f", allowed, "-I", "alice@example.org", "-n", "svc-run", "-s", signed.path],
        stdin: "piped",
        stdout: "null",
        stderr: "null",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(Deno.readFileSync(join(directory, "SHA256SUMS")));
      await writer.close();
      assert.ok((await child.status).success);

      // A second signature replaces the first.
      await signRun(workspace, run_id, bob.file);
      assert.deepEqual(await codes(allowed), ["bundle_signature_invalid"]);
      assert.deepEqual(await codes(others), []);

      // Of another namespace, damaged, or of another list.
      Deno.writeTextFileSync(signed.path, "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n");
      assert.deepEqual(await codes(others), ["bundle_signature_invalid"]);
      await signRun(workspace, run_id, bob.file);
      const summary = join(directory, "summary.json");
      Deno.writeTextFileSync(summary, Deno.readTextFileSync(summary).replace("small", "smell"));
      await assert.rejects(signRun(workspace, run_id, bob.file), coded("run_signing_failed"));
    });
  },
});

Deno.test({
  name: "a key, a file of signers or a run that cannot be used is refused with a code, and nothing is written",
  ...needs("ssh-keygen", keygen),
  async fn() {
    await withWorkspace(async (workspace) => {
      const { directory, run_id } = await runSmall(workspace, { pairs: 1 });
      const before = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
      await assert.rejects(signRun(workspace, run_id, join(directory, "no_key")), coded("run_signing_failed"));
      await assert.rejects(signRun(workspace, "no_run", "key"), coded("run_not_found"));
      await assert.rejects(
        verifyRun(workspace, run_id, { signedBy: join(directory, "no_file") }),
        coded("allowed_signers_invalid"),
      );
      assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), before);
    });
  },
});
