import assert from "node:assert/strict";
import { join } from "node:path";
import type { Diagnostic } from "../../../lib/contract/error.ts";
import { inspectPackage } from "../../../lib/training/inspect.ts";
import {
  type ArtifactBinding,
  checkBindingGroups,
  isResolved,
  type ResolvedArtifact,
  resolveTrainedArtifact,
  storeFolder,
} from "../../../lib/training/resolve.ts";
import { openPackage } from "../../../lib/training/source.ts";
import { contractOf, type Files, inFolder, packageFiles, type Parts, writeFolder, zipOf } from "./_package.ts";

const digestOf = (files: Files) => inspectPackage(openPackage(zipOf(files))).identity!.package_sha256;

/** A project with a package in `models/toy`, and how it resolves. */
function project(folder: string, files: Files) {
  const places = { projectRoot: folder, stateDir: join(folder, ".svc") };
  writeFolder(join(folder, "models/toy"), files);
  const packageSha256 = digestOf(files);
  const resolve = (binding: Partial<ArtifactBinding> = {}) =>
    resolveTrainedArtifact({
      manifestPath: "models/toy/trained_artifact.yaml",
      packageSha256,
      entrypoint: "receiver",
      contract: contractOf("toy.receiver")!,
      ...binding,
    }, places);
  return { places, packageSha256, resolve };
}

function resolved(found: ResolvedArtifact | Diagnostic[]): ResolvedArtifact {
  assert.ok(isResolved(found), JSON.stringify(found));
  return found;
}

function refused(found: ResolvedArtifact | Diagnostic[]): string[] {
  assert.ok(!isResolved(found), "it was resolved");
  return found.map(({ code, path }) => `${code} ${path}`);
}

Deno.test(
  "a binding resolves to its component, by manifest, by folder and by digest",
  inFolder((folder) => {
    const { places, packageSha256, resolve } = project(folder, packageFiles());
    const { record, component, entrypoint } = resolved(resolve());
    assert.equal(component.path, join(folder, "models/toy/models/receiver.onnx"));
    assert.equal(entrypoint.inputs[0].name, "symbols_ri");
    assert.deepEqual([record.package_sha256, record.artifact_id], [packageSha256, "toy-artifact"]);
    assert.ok(!JSON.stringify(record).includes(folder), "no path of this machine is in the record");
    assert.deepEqual(resolved(resolve({ manifestPath: "models/toy" })).record, record);
    assert.deepEqual(resolved(resolve({ entrypoint: "" })).record, record);

    writeFolder(join(storeFolder(places.stateDir), packageSha256), packageFiles());
    const stored = resolved(resolve({ manifestPath: "" }));
    assert.deepEqual(stored.record, record);
    assert.equal(stored.component.path, join(folder, ".svc/trained_artifacts", packageSha256, "models/receiver.onnx"));
    assert.deepEqual(resolved(resolve({ manifestPath: `.svc/trained_artifacts/${packageSha256}` })).record, record);
    // A path that is not here does no harm: the digest says what is meant.
    assert.deepEqual(resolved(resolve({ manifestPath: "elsewhere/toy" })).record, record);
  }),
);

Deno.test(
  "the record holds the limits of a session, which the manifest may raise",
  inFolder((folder) => {
    const limitsOf = (asked?: Record<string, number>) => {
      const files = packageFiles(({ manifest }) => {
        if (asked !== undefined) manifest.runtime.limits = asked;
      });
      return resolved(project(folder, files).resolve()).record.limits;
    };
    assert.deepEqual(limitsOf(), { call_timeout_s: 120, memory_mb: 2048 });
    assert.deepEqual(limitsOf({ memory_mb: 4096 }), { call_timeout_s: 120, memory_mb: 4096 });
    const greedy = packageFiles(({ manifest }) => manifest.runtime.limits = { memory_mb: 4097 });
    writeFolder(join(folder, "models/toy"), greedy);
    const binding = { manifestPath: "models/toy", packageSha256: "", entrypoint: "receiver" };
    const found = resolveTrainedArtifact({ ...binding, contract: contractOf("toy.receiver")! }, {
      projectRoot: folder,
      stateDir: join(folder, ".svc"),
    });
    assert.ok(refused(found).includes("artifact_schema_invalid $.params.artifact_manifest_path"));
  }),
);

Deno.test(
  "a package of the program is found from any project",
  inFolder((folder) => {
    const files = packageFiles();
    writeFolder(join(folder, "program/recipes/models/toy"), files);
    const binding = {
      manifestPath: "recipes/models/toy",
      packageSha256: digestOf(files),
      entrypoint: "",
      contract: contractOf("toy.receiver")!,
    };
    const places = { projectRoot: join(folder, "project"), stateDir: join(folder, "state") };
    assert.deepEqual(refused(resolveTrainedArtifact(binding, places)), [
      "artifact_manifest_missing $.params.artifact_manifest_path",
    ]);
    resolved(resolveTrainedArtifact(binding, { ...places, programRoot: join(folder, "program") }));
  }),
);

Deno.test(
  "a digest that is missing, malformed or another's is refused",
  inFolder((folder) => {
    const { resolve, packageSha256 } = project(folder, packageFiles());
    const at = "artifact_package_mismatch $.params.artifact_package_sha256";
    for (const wrong of ["", "0".repeat(64), packageSha256.toUpperCase(), "abc"]) {
      assert.deepEqual(refused(resolve({ packageSha256: wrong })), [at], wrong);
    }
    const [{ hint }] = resolve({ packageSha256: "" }) as Diagnostic[];
    assert.equal(hint, `Set artifact_package_sha256 to ${packageSha256}`);
  }),
);

Deno.test(
  "a change of any file after the digest was stated is refused",
  inFolder((folder) => {
    for (const path of packageFiles().keys()) {
      const { resolve } = project(folder, packageFiles());
      const file = join(folder, "models/toy", path);
      Deno.writeTextFileSync(file, Deno.readTextFileSync(file) + "\n");
      assert.ok(
        refused(resolve()).some((found) => /^artifact_(hash|package)_mismatch/.test(found)),
        path,
      );
    }
  }),
);

Deno.test(
  "places that hold no package, or are none, are refused",
  inFolder((folder) => {
    const { resolve, places } = project(folder, packageFiles());
    Deno.mkdirSync(join(folder, "empty"));
    Deno.writeFileSync(join(folder, "toy.zip"), zipOf(packageFiles()));
    Deno.symlinkSync(join(folder, "models/toy"), join(folder, "link"));
    const at = "$.params.artifact_manifest_path";
    const codes: [string, string][] = [
      ["empty", "artifact_manifest_missing"],
      ["absent", "artifact_manifest_missing"],
      ["toy.zip", "artifact_manifest_missing"],
      ["../outside", "artifact_member_unsafe"],
      ["link", "artifact_member_unsafe"],
      ["https://example.org/a.yaml", "artifact_member_unsafe"],
    ];
    for (const [manifestPath, code] of codes) assert.deepEqual(refused(resolve({ manifestPath })), [`${code} ${at}`]);
    const nothing = resolveTrainedArtifact(
      { manifestPath: "", packageSha256: "", entrypoint: "", contract: contractOf("toy.receiver")! },
      places,
    );
    assert.deepEqual(refused(nothing), ["artifact_manifest_missing $.params.artifact_package_sha256"]);
  }),
);

Deno.test(
  "a component that is a link is refused",
  inFolder((folder) => {
    const { resolve } = project(folder, packageFiles());
    const model = join(folder, "models/toy/models/receiver.onnx");
    Deno.renameSync(model, join(folder, "elsewhere.onnx"));
    Deno.symlinkSync(join(folder, "elsewhere.onnx"), model);
    // Named by its manifest, so that nothing walks the folder first.
    assert.deepEqual(refused(resolve()), ["artifact_member_unsafe $.params.artifact_manifest_path"]);
  }),
);

Deno.test(
  "a folder that is a link is refused",
  inFolder((folder) => {
    const { resolve } = project(folder, packageFiles());
    Deno.renameSync(join(folder, "models/toy/models"), join(folder, "elsewhere"));
    Deno.symlinkSync(join(folder, "elsewhere"), join(folder, "models/toy/models"));
    assert.deepEqual(refused(resolve()), ["artifact_member_unsafe $.params.artifact_manifest_path"]);
  }),
);

Deno.test(
  "an artifact fills the slot it was made for, with the parameters it was made with",
  inFolder((folder) => {
    const { resolve } = project(
      folder,
      packageFiles(({ manifest }: Parts) => {
        manifest.compatible_operations[0].params.antennas = 4;
      }),
    );
    assert.deepEqual(refused(resolve({ contract: contractOf("toy.plain")! })), [
      "artifact_operation_incompatible $.params.artifact_manifest_path",
    ]);
    assert.deepEqual(refused(resolve({ contract: contractOf("toy.encode")! })), [
      "artifact_operation_incompatible $.params.artifact_manifest_path",
    ]);
    assert.deepEqual(refused(resolve({ entrypoint: "other" })), [
      "artifact_operation_incompatible $.params.artifact_entrypoint",
    ]);
    const params = { mode: "learned_artifact", antennas: 2 };
    assert.deepEqual(refused(resolve({ params, place: ["steps", 3, "params"] })), [
      "artifact_operation_incompatible $.steps[3].params.antennas",
    ]);
    resolved(resolve({ params: { ...params, antennas: 4 } }));
  }),
);

Deno.test(
  "both halves of a joint codec come from one package",
  inFolder((folder) => {
    const { resolve } = project(folder, packageFiles(() => {}, "toy.encode", "toy.decode"));
    const slot = (operation: string, artifact: ResolvedArtifact) => ({
      operation,
      step_id: operation.slice(4),
      artifact,
      place: ["steps", 1, "params"],
    });
    const encode = resolved(resolve({ entrypoint: "encoder", contract: contractOf("toy.encode")! }));
    const decode = resolved(resolve({ entrypoint: "decoder", contract: contractOf("toy.decode")! }));
    assert.deepEqual(checkBindingGroups([slot("toy.encode", encode), slot("toy.decode", decode)]), []);
    const other = { ...decode, packageSha256: "0".repeat(64) };
    const found = checkBindingGroups([slot("toy.encode", encode), slot("toy.decode", other)]);
    assert.deepEqual(found.map(({ code, step_id }) => [code, step_id]), [
      ["artifact_component_missing", "encode"],
      ["artifact_component_missing", "decode"],
    ]);
    assert.equal(checkBindingGroups([slot("toy.encode", encode)]).length, 1);
  }),
);
