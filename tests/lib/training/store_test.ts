import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { isResolved, resolveTrainedArtifact, storeFolder } from "../../../lib/training/resolve.ts";
import {
  type ArtifactStore,
  importTrainedArtifact,
  listTrainedArtifacts,
  removeTrainedArtifact,
  showTrainedArtifact,
  verifyTrainedArtifact,
} from "../../../lib/training/store.ts";
import { stage, TRANSIT } from "../../../lib/training/transit.ts";
import { contractOf, inFolder, packageFiles, writeFolder, zipOf } from "./_package.ts";

const storeIn = (folder: string): ArtifactStore => ({ stateDir: join(folder, "state"), contractOf });
const coded = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;
const named = (name: string) => packageFiles(({ manifest }) => manifest.id = name);
const names = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name).sort();
/** What the store holds besides its staging folder, which must be empty. */
function held(store: ArtifactStore): string[] {
  const root = storeFolder(store.stateDir);
  assert.deepEqual(names(join(root, TRANSIT)), [], "nothing is left in the staging folder");
  return names(root).filter((name) => name !== TRANSIT);
}

Deno.test(
  "an import puts the package under its digest, and nothing else",
  inFolder(async (folder) => {
    const store = storeIn(folder);
    const bytes = zipOf(new Map([...packageFiles(), ["notes.txt", new Uint8Array(5)]]));
    const { outcome, artifact, unlisted } = await importTrainedArtifact(bytes, store, {
      label: "try",
      filename: "C/toy.zip",
    });
    assert.deepEqual([outcome, unlisted], ["imported", ["notes.txt"]]);
    assert.deepEqual(held(store), [artifact.package_sha256]);
    assert.deepEqual([artifact.status, artifact.label, artifact.source_class], ["ready", "try", "imported"]);
    assert.deepEqual(artifact.operations, ["toy.receiver"]);
    assert.deepEqual(names(artifact.path), [
      ".svc_import.json",
      "models",
      "slot_contract.json",
      "trained_artifact.yaml",
      "training",
    ]);
    const record = JSON.parse(Deno.readTextFileSync(join(artifact.path, ".svc_import.json")));
    assert.deepEqual([record.kind, record.source_name], ["svc.trained_artifact_import", "toy.zip"]);
    const found = resolveTrainedArtifact(
      {
        manifestPath: "",
        packageSha256: artifact.package_sha256!,
        entrypoint: "",
        contract: contractOf("toy.receiver")!,
      },
      { projectRoot: folder, stateDir: store.stateDir },
    );
    assert.ok(isResolved(found));
  }),
);

Deno.test(
  "the same package is imported once, whatever it came in",
  inFolder(async (folder) => {
    const store = storeIn(folder), files = packageFiles();
    const root = writeFolder(join(folder, "toy"), files);
    const outcomes = [];
    for (const from of [zipOf(files), root, join(root, "trained_artifact.yaml")]) {
      outcomes.push(await importTrainedArtifact(from, store));
    }
    assert.deepEqual(outcomes.map(({ outcome }) => outcome), ["imported", "present", "present"]);
    assert.equal(held(store).length, 1);
    // A copy of the store is a package too.
    const copy = await importTrainedArtifact(outcomes[0].artifact.path, storeIn(join(folder, "other")));
    assert.equal(copy.artifact.package_sha256, outcomes[0].artifact.package_sha256);
  }),
);

Deno.test(
  "a manifest under a name of its own gets the usual one",
  inFolder(async (folder) => {
    const files = packageFiles();
    files.set("mine.yaml", files.get("trained_artifact.yaml")!);
    files.delete("trained_artifact.yaml");
    const root = writeFolder(join(folder, "toy"), files);
    const { artifact } = await importTrainedArtifact(join(root, "mine.yaml"), storeIn(folder));
    assert.equal(artifact.status, "ready");
    assert.ok(names(artifact.path).includes("trained_artifact.yaml"));
  }),
);

Deno.test(
  "what is refused leaves no trace",
  inFolder(async (folder) => {
    const store = storeIn(folder);
    const files = packageFiles();
    files.set("models/receiver.onnx", new Uint8Array(7));
    await assert.rejects(() => importTrainedArtifact(zipOf(files), store), (error: unknown) => {
      assert.ok(error instanceof SvcError && error.code === "artifact_invalid");
      assert.deepEqual(error.diagnostics.map(({ code }) => code), ["artifact_hash_mismatch", "artifact_onnx_unsafe"]);
      return true;
    });
    await assert.rejects(
      () => importTrainedArtifact(zipOf(packageFiles()), store, { operation: "toy.encode" }),
      (error: unknown) => {
        assert.ok(error instanceof SvcError);
        assert.deepEqual(error.diagnostics.map(({ code }) => code), ["artifact_operation_incompatible"]);
        return true;
      },
    );
    assert.throws(() => Deno.statSync(store.stateDir), Deno.errors.NotFound);
  }),
);

Deno.test(
  "an import that cannot be finished leaves nothing half",
  inFolder(async (folder) => {
    const store = storeIn(folder);
    const root = writeFolder(join(folder, "toy"), packageFiles());
    // A file that changes between the check and the copy.
    const model = join(root, "models/receiver.onnx");
    let reads = 0;
    const bent: ArtifactStore = {
      ...store,
      contractOf(operation) {
        // The contract is asked for after the model was read and before anything is written.
        if (reads++ === 0) Deno.writeTextFileSync(model, "changed");
        return contractOf(operation);
      },
    };
    await assert.rejects(() => importTrainedArtifact(root, bent), coded("artifact_hash_mismatch"));
    assert.deepEqual(names(folder), ["toy"]);
  }),
);

Deno.test(
  "what a crash left is cleared, what is in use is not",
  inFolder(async (folder) => {
    const store = storeIn(folder), transit = join(storeFolder(store.stateDir), TRANSIT);
    const inUse = stage(storeFolder(store.stateDir));
    inUse.write("package/file", new Uint8Array(1));
    Deno.mkdirSync(join(transit, "dead/package"), { recursive: true });
    Deno.writeTextFileSync(join(transit, "dead/package/trained_artifact.yaml"), "half");
    Deno.writeTextFileSync(join(transit, "dead.lock"), "");
    Deno.mkdirSync(join(transit, "older"));
    assert.deepEqual(listTrainedArtifacts(store), []);
    await importTrainedArtifact(zipOf(packageFiles()), store);
    const left = names(transit);
    assert.equal(left.length, 2);
    assert.ok(left.every((name) => join(transit, name).startsWith(inUse.folder)));
    inUse.release();
    assert.equal(held(store).length, 1);
  }),
);

Deno.test(
  "a damaged package is noticed everywhere, and repaired by importing it again",
  inFolder(async (folder) => {
    const store = storeIn(folder), bytes = zipOf(packageFiles());
    const { artifact } = await importTrainedArtifact(bytes, store);
    const digest = artifact.package_sha256!;
    const damages: [string, (path: string) => void][] = [
      ["artifact_hash_mismatch", (path) => Deno.writeTextFileSync(join(path, "training/loss.csv"), "")],
      ["artifact_file_missing", (path) => Deno.removeSync(join(path, "training/loss.csv"))],
      ["artifact_package_mismatch", (path) => {
        const manifest = join(path, "trained_artifact.yaml");
        Deno.writeTextFileSync(manifest, Deno.readTextFileSync(manifest) + "\n");
      }],
      ["artifact_manifest_missing", (path) => Deno.removeSync(join(path, "trained_artifact.yaml"))],
      ["artifact_member_unsafe", (path) => {
        Deno.removeSync(join(path, "models/receiver.onnx"));
        Deno.symlinkSync("/etc/hostname", join(path, "models/receiver.onnx"));
      }],
    ];
    for (const [code, bend] of damages) {
      bend(artifact.path);
      const report = verifyTrainedArtifact(digest, store);
      assert.equal(report.status, "invalid", code);
      assert.ok(report.diagnostics.some((item) => item.code === code), code);
      assert.notEqual(listTrainedArtifacts(store)[0].status, "ready", code);
      assert.equal((await importTrainedArtifact(bytes, store)).outcome, "repaired", code);
      assert.equal(verifyTrainedArtifact(digest, store).status, "valid", code);
      assert.deepEqual(held(store), [digest]);
    }
  }),
);

Deno.test(
  "a package under another's digest is not trusted",
  inFolder(async (folder) => {
    const store = storeIn(folder);
    const { artifact } = await importTrainedArtifact(zipOf(named("one")), store);
    const false_ = join(storeFolder(store.stateDir), "f".repeat(64));
    Deno.renameSync(artifact.path, false_);
    const [row] = listTrainedArtifacts(store);
    assert.deepEqual([row.status, row.diagnostics.map(({ code }) => code)], ["invalid", ["artifact_package_mismatch"]]);
  }),
);

Deno.test(
  "artifacts of project and program are listed beside those of the store",
  inFolder(async (folder) => {
    const project = join(folder, "project"), program = join(folder, "program");
    writeFolder(join(project, "recipes/models/mine"), named("mine"));
    writeFolder(
      join(program, "recipes/models/theirs"),
      packageFiles(({ manifest }) => {
        manifest.id = "theirs";
        manifest.source.origin = "reference_baseline";
      }),
    );
    Deno.mkdirSync(join(project, "recipes/models/no_package"));
    const store: ArtifactStore = { ...storeIn(folder), projectRoot: project, programRoot: program };
    await importTrainedArtifact(zipOf(packageFiles(() => {}, "toy.encode", "toy.decode")), store);
    const rows = listTrainedArtifacts(store);
    assert.deepEqual(rows.map(({ id, place, source_class }) => [id, place, source_class]), [
      ["toy-artifact", "store", "imported"],
      ["mine", "project", "project_trained"],
      ["theirs", "program", "reference_baseline"],
    ]);
    assert.deepEqual(listTrainedArtifacts(store, { operation: "toy.decode" }).map(({ id }) => id), ["toy-artifact"]);
    assert.equal(listTrainedArtifacts({ ...store, programRoot: project + "/" }).length, 2);
    assert.throws(() => removeTrainedArtifact("mine", store), coded("artifact_not_found"));
  }),
);

Deno.test(
  "a listed artifact is kept while its folder and its contracts are as they were, and no longer",
  inFolder(async (folder) => {
    const store = storeIn(folder), now = Date.now;
    const { artifact: { path } } = await importTrainedArtifact(zipOf(packageFiles()), store);
    let asked = 0;
    const counted: ArtifactStore = { ...store, contractOf: (id) => (asked++, contractOf(id)) };
    const statuses = (of = store) => listTrainedArtifacts(of).map(({ status }) => status);
    const file = join(path, "training/loss.csv"), text = Deno.readTextFileSync(file);
    // The time of a file does not tell what has just changed: it is read again.
    const { mtime } = Deno.statSync(file);
    assert.deepEqual(statuses(), ["ready"]);
    Deno.writeTextFileSync(file, text.replace("1", "2"));
    Deno.utimeSync(file, mtime!, mtime!);
    assert.deepEqual(statuses(), ["invalid"]);
    Deno.writeTextFileSync(file, text);
    try {
      Date.now = () => now() + 60_000;
      const [row] = listTrainedArtifacts(counted);
      assert.equal(row.status, "ready");
      const once = asked;
      row.name = "changed by its reader";
      assert.notEqual(listTrainedArtifacts(counted)[0].name, row.name);
      assert.equal(asked, once + 1, "only to see that the contract is the same");
      assert.deepEqual(statuses({ ...store, contractOf: () => undefined }), ["unavailable"]);
      assert.deepEqual(statuses(), ["ready"]);
      Deno.writeTextFileSync(file, text.replace("1", "2"));
      Deno.utimeSync(file, 1, 1);
      assert.deepEqual(statuses(), ["invalid"]);
      Deno.writeTextFileSync(file, text);
      Deno.utimeSync(file, 2, 2);
      assert.deepEqual(statuses(), ["ready"]);
      Deno.writeTextFileSync(join(path, ".svc_import.json"), '{"label": "another"}');
      assert.equal(listTrainedArtifacts(store)[0].label, "another");
    } finally {
      Date.now = now;
    }
  }),
);

Deno.test(
  "an artifact is found by digest, its beginning, id and path",
  inFolder(async (folder) => {
    const store = storeIn(folder);
    const [one, two] = [
      (await importTrainedArtifact(zipOf(named("one")), store)).artifact,
      (await importTrainedArtifact(zipOf(named("two")), store)).artifact,
    ];
    const digest = one.package_sha256!;
    for (const reference of [digest, digest.slice(0, 12), "one", one.path]) {
      assert.equal(showTrainedArtifact(reference, store).row.package_sha256, digest, reference);
    }
    for (const reference of ["three", digest.slice(0, 3), "f".repeat(64), join(folder, "absent")]) {
      assert.throws(() => showTrainedArtifact(reference, store), coded("artifact_not_found"), reference);
    }
    const { artifact: again } = await importTrainedArtifact(
      zipOf(packageFiles(({ manifest }) => {
        manifest.id = "one";
        manifest.name = "Another";
      })),
      store,
    );
    assert.throws(() => showTrainedArtifact("one", store), coded("artifact_ambiguous"));
    assert.equal(removeTrainedArtifact(again.package_sha256!, store).name, "Another");
    assert.equal(removeTrainedArtifact("one", store).package_sha256, digest);
    assert.deepEqual(held(store), [two.package_sha256]);
  }),
);

Deno.test(
  "a link in place of the store or of a package leads nothing outside",
  inFolder(async (folder) => {
    const store = storeIn(folder), bytes = zipOf(packageFiles()), outside = join(folder, "outside");
    const { artifact } = await importTrainedArtifact(bytes, store);
    Deno.renameSync(artifact.path, outside);
    Deno.symlinkSync(outside, artifact.path);
    const files = names(outside);
    assert.equal((await importTrainedArtifact(bytes, store)).outcome, "repaired");
    assert.deepEqual(names(outside), files);
    assert.ok(Deno.lstatSync(artifact.path).isDirectory);
    const root = storeFolder(store.stateDir), moved = join(folder, "moved");
    Deno.renameSync(root, moved);
    Deno.symlinkSync(moved, root);
    const held = names(moved);
    await assert.rejects(() => importTrainedArtifact(zipOf(named("other")), store), coded("path_refused"));
    assert.throws(() => removeTrainedArtifact(artifact.id, store), coded("path_refused"));
    assert.deepEqual(names(moved), held);
  }),
);
