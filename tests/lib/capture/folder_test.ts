import assert from "node:assert/strict";
import { join } from "node:path";
import { CaptureFolder, DISK_RESERVE_BYTES, sweepCaptures } from "../../../lib/capture/folder.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const inFolder = (body: (folder: string) => void) => body(temporaryFolder("svc-capture-"));
const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("256 MiB of the disk stay free", () =>
  inFolder((parent) => {
    const capture = new CaptureFolder(join(parent, "train"), () => DISK_RESERVE_BYTES + 4);
    capture.write("schema.json", new Uint8Array(4));
    assert.throws(() => capture.write("split.json", new Uint8Array(5)), { code: "disk_reserve_reached" });
    capture.release();
    assert.deepEqual(names(parent), []);
  }));

Deno.test("what a killed capture left is cleared, what it was about to replace is put back, and a living one is let be", () =>
  inFolder((parent) => {
    const uuid = "00000000-0000-4000-8000-000000000000";
    // Killed between the two renames of the swap.
    for (const name of [`.train.capture-${uuid}`, `.train.capture-${uuid}.old`]) Deno.mkdirSync(join(parent, name));
    Deno.writeTextFileSync(join(parent, `.train.capture-${uuid}.old`, "schema.json"), "earlier");
    Deno.writeTextFileSync(join(parent, `.train.capture-${uuid}.lock`), "");
    Deno.writeTextFileSync(join(parent, ".mine"), "");
    const living = new CaptureFolder(join(parent, "test"));
    sweepCaptures(parent);
    assert.equal(Deno.readTextFileSync(join(parent, "train/schema.json")), "earlier");
    const left = names(parent);
    assert.deepEqual(left.filter((name) => !name.startsWith(".test")), [".mine", "train"]);
    assert.equal(left.filter((name) => name.startsWith(".test.capture-")).length, 2);
    living.write("schema.json", new Uint8Array(1));
    living.commit();
    living.release();
    assert.deepEqual(names(parent), [".mine", "test", "train"]);
  }));
