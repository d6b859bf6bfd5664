import assert from "node:assert/strict";
import { join } from "node:path";
import { hostileZip } from "../lib/training/_hostile_zip.ts";
import { inFolder, svc } from "../support/cli.ts";
import { scalingModel } from "../support/onnx_writer.ts";

const OPERATION = "demodulation.neural_receiver_adapter";

Deno.test(
  "package, import, list, show, verify and remove: the life of a trained artifact",
  inFolder(async (cwd) => {
    await Deno.mkdir(join(cwd, "rx"));
    await Deno.writeFile(
      join(cwd, "rx/receiver.onnx"),
      scalingModel(["symbol", 2], 2, { input: "rx_symbols_ri", output: "bit_llr" }),
    );
    const packaged = (await svc(["artifact", "package", "rx", "--operation", OPERATION, "--json"], { cwd })).json;
    const digest: string = packaged.package_sha256;

    const imported = await svc(["artifact", "import", "rx.zip", "--label", "first try"], { cwd });
    assert.equal(imported.code, 0, imported.stderr);
    assert.ok(imported.stdout.includes(`artifact_package_sha256: ${digest}`));
    assert.equal((await svc(["artifact", "import", "rx", "--json"], { cwd })).json.outcome, "present");

    const { artifacts } = (await svc(["artifact", "list", "--operation", OPERATION, "--json"], { cwd })).json;
    const stored = artifacts.filter(({ place }: { place: string }) => place === "store");
    assert.deepEqual(
      stored.map((row: { package_sha256: string; status: string }) => [row.package_sha256, row.status]),
      [
        [digest, "ready"],
      ],
    );
    const shown = await svc(["artifact", "show", digest.slice(0, 12)], { cwd });
    assert.ok(shown.stdout.includes("artifact_entrypoint: neural_receiver"), shown.stdout);
    const detail = (await svc(["artifact", "show", "rx.zip", "--json"], { cwd })).json;
    assert.deepEqual(detail.models.receiver.operators, { Mul: 1 });
    assert.equal(detail.publication_readiness.status, "blocked");

    assert.equal((await svc(["artifact", "verify", digest], { cwd })).code, 0);
    await Deno.writeTextFile(join(cwd, ".svc/trained_artifacts", digest, "receiver.onnx"), "tampered");
    const tampered = await svc(["artifact", "verify", digest], { cwd });
    assert.equal(tampered.code, 6);
    assert.ok(tampered.stdout.includes("artifact_hash_mismatch"));

    assert.equal((await svc(["artifact", "remove", digest], { cwd })).code, 2);
    assert.equal((await svc(["artifact", "remove", digest, "--yes"], { cwd })).code, 0);
    assert.equal((await svc(["artifact", "show", digest], { cwd })).code, 4);
  }),
);

Deno.test(
  "what is refused has an exit code, a code and a place",
  inFolder(async (cwd) => {
    await Deno.writeFile(join(cwd, "evil.zip"), hostileZip([{ name: "../evil" }, { name: "trained_artifact.yaml" }]));
    const evil = await svc(["artifact", "import", "evil.zip", "--json"], { cwd });
    assert.deepEqual([evil.code, evil.json.code], [3, "artifact_member_unsafe"]);
    await Deno.writeTextFile(join(cwd, "old.yaml"), "schema_version: 1\n");
    const old = await svc(["artifact", "import", "old.yaml"], { cwd });
    assert.equal(old.code, 3);
    assert.match(old.stderr, /artifact_version_unsupported[\s\S]*old\.yaml:1:17/);
    assert.equal((await svc(["artifact", "import", "absent.zip"], { cwd })).code, 4);
    assert.equal((await svc(["artifact", "list", "--operation", "model.absent"], { cwd })).code, 4);
    assert.equal((await svc(["artifact", "package", "."], { cwd })).code, 4);
    const schema = (await svc(["schema", "trained-artifact", "--json"], { cwd })).json;
    assert.equal(schema.properties.schema_version.const, 2);
    const help = await svc(["artifact", "import", "--help"], { cwd });
    assert.ok(help.stdout.includes("svc artifact import my_receiver.zip"));
  }),
);
