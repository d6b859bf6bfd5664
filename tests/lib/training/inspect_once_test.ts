import assert from "node:assert/strict";
import { join } from "node:path";
import { inspectOnce } from "../../../lib/training/inspect_once.ts";
import { openPackage } from "../../../lib/training/source.ts";
import { contractOf, inFolder, packageFiles, writeFolder } from "./_package.ts";

const MODEL = "models/receiver.onnx";

/** A package whose files are older than a tick of any clock, how it is inspected, and how often a file was read. */
function aged(folder: string) {
  writeFolder(folder, packageFiles());
  let reads = 0;
  const age = (seconds = 1) => {
    for (const path of packageFiles().keys()) Deno.utimeSync(join(folder, path), seconds, seconds);
  };
  age();
  const inspect = (contract = contractOf("toy.receiver")!) => {
    const source = openPackage(folder), before = reads;
    const counting = { ...source, read: (path: string, limit: number) => (reads++, source.read(path, limit)) };
    const { status } = inspectOnce(counting, contract, false);
    return [status, reads > before];
  };
  return { age, inspect };
}

Deno.test(
  "a package is read once while its files, their list and the contract are the same",
  inFolder((folder) => {
    const { age, inspect } = aged(folder);
    assert.deepEqual(inspect(), ["ready", true]);
    assert.deepEqual(inspect(), ["ready", false]);
    assert.deepEqual(inspect({ ...contractOf("toy.receiver")! }), ["ready", true]);
    const path = join(folder, MODEL), bytes = Deno.readFileSync(path);
    Deno.writeFileSync(path, bytes.map((byte, at) => at === bytes.length - 1 ? byte ^ 1 : byte));
    age(2);
    assert.deepEqual(inspect(), ["invalid", true]);
    assert.deepEqual(inspect(), ["invalid", true], "what cannot run is not kept");
    Deno.writeFileSync(path, bytes);
    assert.deepEqual(inspect(), ["ready", true]);
    assert.deepEqual(inspect(), ["ready", true], "the file was written in this moment");
    age();
    assert.deepEqual([inspect(), inspect()], [["ready", true], ["ready", false]]);
    Deno.writeTextFileSync(join(folder, "notes.txt"), "unlisted");
    assert.equal(inspect()[1], true);
    Deno.removeSync(path);
    assert.deepEqual(inspect(), ["unavailable", true]);
  }),
);
