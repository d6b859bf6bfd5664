import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { isObject } from "../../../lib/contract/value.ts";
import kodakFiles from "../../../ops/source/kodak_files.ts";
import { refuses, runOperation } from "../harness.ts";

const FILES = { "kodak/kodim01.png": "one", "kodak/kodim02.png": "second" };

Deno.test("the first files are listed in order with their digests and sizes", async () => {
  const { outputs } = await runOperation(kodakFiles, { files: FILES, params: { dataset_dir: "kodak/", limit: 2 } });
  const list = outputs.images.json();
  assert.ok(isObject(list));
  assert.deepEqual(list.items, [
    { id: "kodim01", path: "kodak/kodim01.png", sha256: sha256Hex("one"), size_bytes: 3 },
    { id: "kodim02", path: "kodak/kodim02.png", sha256: sha256Hex("second"), size_bytes: 6 },
  ]);
});

Deno.test("a missing picture fails the step, and only the fetched folder asks for the data set", async () => {
  await refuses(
    "boundary_file_missing",
    () => runOperation(kodakFiles, { files: FILES, params: { dataset_dir: "kodak", limit: 3 } }),
  );
  const requires = (dataset_dir: string) => kodakFiles.definition.requires!({ dataset_dir, limit: 1 });
  assert.deepEqual(requires(".svc/datasets/kodak"), [{ kind: "dataset", id: "kodak" }]);
  assert.deepEqual(requires("my/kodak"), []);
});
