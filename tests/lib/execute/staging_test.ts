import assert from "node:assert/strict";
import { join } from "node:path";
import { discardEntry, entryInside, type InsidePath } from "../../../lib/artifact/inside.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { crc32Of } from "../../../lib/artifact/crc32.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { resolveRecipePath } from "../../../lib/execute/files.ts";
import { checkStaged, commitStaging, createStaging, hashStoredFile } from "../../../lib/execute/staging.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;

function withFolder(body: (folder: string) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const folder = temporaryFolder("svc-staging-");
    await body(folder);
  };
}

Deno.test(
  "staged files: exact set, regular, of the announced size",
  withFolder((artifacts) => {
    const made = createStaging(artifacts, "tx"), { path: staging } = made;
    const file = (name: string, size = 3) => Deno.writeFileSync(join(staging, name), new Uint8Array(size));
    const check = (...names: string[]) => () => checkStaged(made, names.map((fileName) => ({ fileName, size: 3 })));
    assert.throws(check("bits.npz"), code("output_missing"));
    file("bits.npz");
    check("bits.npz")();
    assert.throws(check("bits.npz", "bits.npz"), code("output_aliased"));
    for (const name of ["../bits.npz", "/etc/passwd", "..", "", "a\\b"]) {
      assert.throws(check(name), code("output_path_invalid"));
    }
    file("more.npz");
    assert.throws(check("bits.npz"), code("output_unexpected"));
    file("more.npz", 4);
    assert.throws(check("bits.npz", "more.npz"), code("output_hash_mismatch"));
    Deno.removeSync(join(staging, "more.npz"));
    Deno.symlinkSync("bits.npz", join(staging, "more.npz"));
    assert.throws(check("bits.npz", "more.npz"), code("output_symlink"));
    Deno.removeSync(join(staging, "more.npz"));
    Deno.mkdirSync(join(staging, "more.npz"));
    assert.throws(check("bits.npz", "more.npz"), code("output_path_invalid"));
    discardEntry(staging);
    discardEntry(staging);
  }),
);

Deno.test(
  "a folder that takes the place of the one that was made is refused, whatever it holds",
  withFolder((artifacts) => {
    const made = createStaging(artifacts, "tx"), aside = join(artifacts, "aside");
    const fill = (folder: string) => Deno.writeTextFileSync(join(folder, "bits.npz"), "abc");
    const check = () => checkStaged(made, [{ fileName: "bits.npz", size: 3 }]);
    fill(made.path);
    check();
    Deno.renameSync(made.path, aside);
    assert.throws(check, code("staging_replaced"));
    Deno.mkdirSync(made.path);
    fill(made.path);
    assert.throws(check, code("staging_replaced"));
    discardEntry(made.path);
    Deno.symlinkSync("aside", made.path);
    assert.throws(check, code("staging_replaced"));
    Deno.removeSync(made.path);
    Deno.renameSync(aside, made.path);
    check();
  }),
);

Deno.test(
  "a commit never replaces what lies at its place, not even an empty folder",
  withFolder(async (artifacts) => {
    const { path: staging } = createStaging(artifacts, "tx");
    Deno.writeTextFileSync(join(staging, "bits.npz"), "abc");
    const destination = entryInside(artifacts, "tx") as InsidePath;
    Deno.mkdirSync(destination);
    assert.throws(() => commitStaging(staging, destination), code("staging_conflict"));
    Deno.removeSync(destination);
    Deno.symlinkSync("nowhere", destination);
    assert.throws(() => commitStaging(staging, destination), code("staging_conflict"));
    Deno.removeSync(destination);
    commitStaging(staging, destination);
    assert.equal(
      await hashStoredFile(join(destination, "bits.npz")),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  }),
);

Deno.test(
  "the digest of a stored file is null where it differs from the image, in one byte or in length",
  withFolder(async (folder) => {
    const path = join(folder, "bits.npz");
    for (const length of [3, 2 ** 20, 2 ** 20 + 1, 2 ** 21 + 5]) {
      const image = new Uint8Array(new SharedArrayBuffer(length + 2)).subarray(1, length + 1).fill(7);
      Deno.writeFileSync(path, image.slice());
      assert.equal(await hashStoredFile(path, [image]), sha256Hex(image));
      for (const at of [0, length - 1]) {
        image[at] ^= 1;
        assert.equal(await hashStoredFile(path, [image]), null);
        image[at] ^= 1;
      }
      assert.equal(await hashStoredFile(path, [image.subarray(0, -1)]), null);
      assert.equal(await hashStoredFile(path, [new Uint8Array(length + 1).fill(7)]), null);
    }
  }),
);

Deno.test(
  "a file that was written in parts is compared with their bytes or CRC-32",
  withFolder(async (folder) => {
    const path = join(folder, "bits.npz"), head = Uint8Array.of(1, 2, 3), tail = Uint8Array.of(9);
    const data = Uint8Array.from({ length: 2 ** 20 + 77 }, (_, at) => at * 7);
    const part = { size: data.length, crcBefore: crc32Of(head), crc: crc32Of(data, crc32Of(head)) };
    const file = Uint8Array.of(...head, ...[...Array(5)].map(() => 0), ...tail);
    const whole = new Uint8Array(head.length + data.length + tail.length);
    whole.set(head), whole.set(data, 3), whole.set(tail, 3 + data.length);
    Deno.writeFileSync(path, whole);
    assert.equal(await hashStoredFile(path, [head, part, tail]), sha256Hex(whole));
    for (const at of [0, 3, 2 ** 20, 2 + data.length, 3 + data.length]) {
      const changed = whole.slice();
      changed[at] ^= 1;
      Deno.writeFileSync(path, changed);
      assert.equal(await hashStoredFile(path, [head, part, tail]), null, `byte ${at}`);
    }
    for (const other of [whole.subarray(0, -1), whole.subarray(0, 1000), file, Uint8Array.of(...head)]) {
      Deno.writeFileSync(path, other);
      assert.equal(await hashStoredFile(path, [head, part, tail]), null, `${other.length} bytes`);
    }
  }),
);

Deno.test(
  "paths of recipes stay inside the project, follow no link, and name no scheme",
  withFolder((root) => {
    const roots = { projectRoot: join(root, "project"), stateDir: join(root, "state") };
    Deno.mkdirSync(join(roots.projectRoot, "data"), { recursive: true });
    assert.equal(resolveRecipePath("data/x.npz", roots), join(roots.projectRoot, "data/x.npz"));
    assert.equal(resolveRecipePath(".svc/datasets/k", roots), join(roots.stateDir, "datasets/k"));
    assert.equal(resolveRecipePath("/abs/x.npz", roots), "/abs/x.npz");
    for (const path of ["../x", "data/../../x", ".svc/../x", "file:///etc/passwd", "https://a/b", "", "a\0b"]) {
      assert.throws(() => resolveRecipePath(path, roots), code("path_refused"), path);
    }
    Deno.symlinkSync("/etc", join(roots.projectRoot, "data/link"));
    assert.throws(() => resolveRecipePath("data/link/passwd", roots), code("path_refused"));
  }),
);
