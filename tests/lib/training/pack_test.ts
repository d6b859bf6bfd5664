import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { parseJson, prettyJson } from "../../../lib/contract/json.ts";
import { inspectPackage } from "../../../lib/training/inspect.ts";
import { packageTrainedArtifact } from "../../../lib/training/pack.ts";
import { openPackage } from "../../../lib/training/source.ts";
import { scalingModel } from "../../support/onnx_writer.ts";
import { type Bendable, contractOf, inFolder, parts, writeFolder } from "./_package.ts";

const coded = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;
const names = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name).sort();
const shape = ["batch", "antenna", 2];
const receiver = (sizes: (number | string)[] = shape) => scalingModel(sizes, 2, { input: "symbols_ri", output: "llr" });
const inspect = (path: string) => inspectPackage(openPackage(path), { contractOf });

Deno.test(
  "a model and the name of an operation are enough",
  inFolder(async (folder) => {
    const root = writeFolder(join(folder, "my receiver"), new Map([["receiver.onnx", receiver(["batch", 4, 2])]]));
    const made = await packageTrainedArtifact(root, { contractOf, operations: ["toy.receiver"] });
    assert.deepEqual([made.id, made.written], ["my-receiver", ["slot_contract.json", "trained_artifact.yaml"]]);
    assert.equal(made.archive, join(folder, "my-receiver.zip"));
    assert.equal(made.package_file_sha256, sha256Hex(Deno.readFileSync(made.archive)));
    const [zip, dir] = [inspect(made.archive), inspect(root)];
    assert.deepEqual([zip.status, zip.identity], ["ready", dir.identity]);
    assert.equal(zip.identity!.package_sha256, made.package_sha256);
    // The model has fixed what the operation leaves open.
    assert.deepEqual(zip.manifest!.runtime.entrypoints[0].inputs[0].shape, ["batch", 4, 2]);
  }),
);

Deno.test(
  "the only model of a folder is taken whatever its name",
  inFolder(async (folder) => {
    const root = writeFolder(join(folder, "toy"), new Map([["epoch_40.onnx", receiver()]]));
    await packageTrainedArtifact(root, { contractOf, operations: ["toy.receiver"] });
    assert.deepEqual(inspect(root).manifest!.components.map(({ id, path }) => [id, path]), [
      ["receiver", "epoch_40.onnx"],
    ]);
  }),
);

Deno.test(
  "both halves of a joint codec are found by the names of their files",
  inFolder(async (folder) => {
    const root = writeFolder(
      join(folder, "codec"),
      new Map([
        ["models/encoder.onnx", scalingModel(shape, 2, { input: "images", output: "symbols" })],
        ["models/decoder.onnx", scalingModel(shape, 2, { input: "symbols", output: "images" })],
      ]),
    );
    await packageTrainedArtifact(root, { contractOf, operations: ["toy.encode", "toy.decode"] });
    const { manifest, status } = inspect(root);
    assert.equal(status, "ready");
    assert.equal(manifest!.application.mode, "all_group_bindings");
    assert.deepEqual(manifest!.compatible_operations.map(({ binding_group }) => binding_group), ["joint", "joint"]);
  }),
);

Deno.test(
  "packaging again changes no byte, and a changed model changes only digests",
  inFolder(async (folder) => {
    const root = writeFolder(join(folder, "toy"), new Map([["receiver.onnx", receiver()]]));
    const text = `# My receiver.
name: "Receiver"   # for people
id: toy
components:
  - {path: receiver.onnx}  # trained yesterday
compatible_operations:
  - operation: toy.receiver
evaluation: {loss: 1e-3}
`;
    Deno.writeTextFileSync(join(root, "trained_artifact.yaml"), text);
    const first = await packageTrainedArtifact(root, { contractOf });
    const manifest = Deno.readTextFileSync(join(root, "trained_artifact.yaml"));
    for (const kept of ["# My receiver.", 'name: "Receiver"   # for people', "evaluation: {loss: 1e-3}"]) {
      assert.ok(manifest.includes(kept), kept);
    }
    const second = await packageTrainedArtifact(root, { contractOf });
    assert.deepEqual(second, { ...first, written: [] });

    Deno.writeFileSync(join(root, "receiver.onnx"), scalingModel(shape, 3, { input: "symbols_ri", output: "llr" }));
    await assert.rejects(() => packageTrainedArtifact(root, { contractOf }), coded("artifact_conflict"));
    assert.equal(Deno.readTextFileSync(join(root, "trained_artifact.yaml")), manifest, "a refusal writes nothing");
    const third = await packageTrainedArtifact(root, { contractOf, force: true });
    assert.deepEqual(third.written, ["trained_artifact.yaml"]);
    assert.notEqual(third.package_sha256, first.package_sha256);
    const changed = Deno.readTextFileSync(join(root, "trained_artifact.yaml")).split("\n")
      .filter((line, index) => line !== manifest.split("\n")[index]);
    assert.equal(changed.length, 1, changed.join("\n"));
  }),
);

Deno.test(
  "a template is completed beside itself",
  inFolder(async (folder) => {
    const root = writeFolder(join(folder, "toy"), new Map([["receiver.onnx", receiver()]]));
    const template = "compatible_operations: [{operation: toy.receiver}]\n";
    Deno.writeTextFileSync(join(root, "trained_artifact.template.yaml"), template);
    await packageTrainedArtifact(root, { contractOf, out: join(folder, "a.zip") });
    assert.equal(Deno.readTextFileSync(join(root, "trained_artifact.template.yaml")), template);
    assert.equal(inspect(root).status, "ready");
    await packageTrainedArtifact(root, { contractOf, out: join(folder, "b.zip") });
    await packageTrainedArtifact(join(root, "trained_artifact.template.yaml"), {
      contractOf,
      out: join(folder, "c.zip"),
    });
    const [a, b] = ["a.zip", "b.zip"].map((name) => Deno.readFileSync(join(folder, name)));
    assert.deepEqual(a, b);
  }),
);

Deno.test(
  "the digests of a selection history are filled in where they are missing",
  inFolder(async (folder) => {
    const made = parts();
    const population = sha256Hex("population");
    made.files.set("search.py", new TextEncoder().encode("search"));
    made.files.set("a.json", new TextEncoder().encode('{"width": 16}'));
    made.files.set(
      "history.json",
      new TextEncoder().encode(prettyJson({
        schema_version: 1,
        kind: "svc.model_selection_history",
        all_candidates_disclosed: true,
        publication_test_accessed: false,
        selection_population_role: "development_only",
        selection_population: {
          dataset_id: "t",
          version: "1",
          split: "v",
          role: "development_only",
          sha256: population,
        },
        objective: "loss",
        direction: "minimize",
        selection_rule: { method: "objective_extremum", tie_breaker: "lexicographic_candidate_id" },
        search_program: { path: "search.py", command: ["python3", "search.py"] },
        selected_candidate_id: "a",
        candidates: [{
          id: "a",
          configuration_path: "a.json",
          publication_test_accessed: false,
          status: "completed",
          objective_value: 1,
        }],
      })),
    );
    made.manifest.support_files = [
      { path: "search.py", role: "model_selection_search_program" },
      { path: "a.json", role: "model_selection_configuration" },
      { path: "history.json", role: "model_selection_history" },
    ];
    made.manifest.publication = { selection_history: { path: "history.json" } };
    const files = new Map(made.files);
    files.set("trained_artifact.json", new TextEncoder().encode(prettyJson(made.manifest)));
    const root = writeFolder(join(folder, "toy"), files);
    const { written } = await packageTrainedArtifact(root, { contractOf });
    assert.deepEqual([...written].sort(), ["history.json", "slot_contract.json", "trained_artifact.json"]);
    const { readiness } = inspect(root);
    assert.deepEqual([readiness!.status, readiness!.issues], ["ready", []]);
    assert.equal(
      (parseJson(Deno.readTextFileSync(join(root, "history.json"))) as Bendable).candidates[0]
        .selection_population_sha256,
      population,
    );
  }),
);

Deno.test(
  "what would not be imported is not packaged",
  inFolder(async (folder) => {
    const root = writeFolder(join(folder, "toy"), new Map([["receiver.onnx", receiver(["batch", 2])]]));
    const refused = async (code: string, operations?: string[]) =>
      await assert.rejects(() => packageTrainedArtifact(root, { contractOf, operations }), (error: unknown) => {
        assert.ok(error instanceof SvcError);
        assert.ok(error.code === code || error.diagnostics.some((item) => item.code === code), error.message);
        return true;
      });
    await refused("artifact_manifest_missing");
    await refused("artifact_abi_mismatch", ["toy.receiver"]);
    await refused("artifact_component_missing", ["toy.encode"]);
    await refused("artifact_file_missing", ["toy.encode", "toy.decode"]);
    await refused("artifact_operation_incompatible", ["toy.plain"]);
    assert.deepEqual([names(folder), names(root)], [["toy"], ["receiver.onnx"]]);
    const draft = (text: string) => Deno.writeTextFileSync(join(root, "trained_artifact.yaml"), text);
    for (const text of ["", "- a\n", "components: 3\n", "components: [{path: ../../secret.onnx}]\n", "a: [\n"]) {
      draft(text);
      await assert.rejects(() => packageTrainedArtifact(root, { contractOf }), (error: unknown) => {
        assert.ok(error instanceof SvcError && error.code.startsWith("artifact_"), String(error));
        return true;
      });
      assert.equal(Deno.readTextFileSync(join(root, "trained_artifact.yaml")), text);
    }
    Deno.writeTextFileSync(join(root, "trained_artifact.json"), "{}");
    await refused("artifact_manifest_ambiguous");
    await assert.rejects(
      () => packageTrainedArtifact(join(folder, "absent"), { contractOf }),
      coded("artifact_manifest_missing"),
    );
  }),
);
