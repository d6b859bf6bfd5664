import assert from "node:assert/strict";
import { deflateRawSync } from "node:zlib";
import { SvcError } from "../../../lib/contract/error.ts";
import { openNpz, writeNpz } from "../../../lib/artifact/npz.ts";
import { openZip } from "../../../lib/artifact/zip_read.ts";
import { writeZip } from "../../../lib/artifact/zip_write.ts";
import { bytesOf, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import vectors from "../../data/npy/vectors.json" with { type: "json" };
import { deflated } from "./_deflated_zip.ts";
import { bytesFrom, damage, seeded } from "./_fuzz.ts";

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;
const latin = (text: string) => new TextEncoder().encode(text);

Deno.test("archives that NumPy wrote are read: stored, deflated, streamed, zip64, with a comment", () => {
  for (const [name, file] of Object.entries(vectors.archives)) {
    const archive = openNpz(bytesFrom(file), name);
    assert.deepEqual([...archive.names].sort(), Object.keys(vectors.archive_members).sort(), name);
    for (const [member, expected] of Object.entries(vectors.archive_members)) {
      const array = archive.array(member);
      assert.deepEqual([array.dtype, array.shape], [expected.dtype, expected.shape], `${name} ${member}`);
      assert.deepEqual(bytesOf(array), bytesFrom(expected.values), `${name} ${member}`);
      assert.ok(archive.holds(member, array));
      bytesOf(array)[0] ^= 1;
      assert.ok(!archive.holds(member, array), `${name} ${member}: a change goes unnoticed`);
    }
    assert.throws(() => archive.array("absent"), code("artifact_array_missing"));
  }
  assert.deepEqual(openNpz(bytesFrom(vectors.archive_with_unicode_name)).names, ["grün"]);
});

Deno.test("what is written has sorted entries, no clock and no extra fields", () => {
  const members = {
    b: ndarray("uint8", new Uint8Array([1, 2])),
    a: "text",
    "grün": ndarray("bool", new Uint8Array([1])),
  };
  const file = writeNpz(members);
  assert.ok(file.buffer instanceof SharedArrayBuffer);
  assert.deepEqual(openNpz(file).names, ["a", "b", "grün"]);
  assert.equal(openNpz(file).text("a"), "text");
  const reversed = Object.fromEntries(Object.entries(members).reverse());
  assert.deepEqual(writeNpz(reversed), file);
  const view = new DataView(file.buffer, file.byteOffset);
  // First local header: version 2.0, no flags, stored, 1980-01-01 00:00:00, no extra field.
  assert.deepEqual([4, 6, 8, 10, 12, 28].map((at) => view.getUint16(at, true)), [20, 0, 0, 0, 0x21, 0]);
});

Deno.test("names that stand twice, unusable names and other members are refused", () => {
  const part = [latin("x")];
  assert.throws(
    () => writeZip([{ name: "a", parts: part }, { name: "a", parts: part }]),
    code("artifact_archive_invalid"),
  );
  assert.throws(() => writeZip([{ name: "", parts: part }]), code("artifact_archive_invalid"));
  assert.throws(() => openNpz(writeZip([{ name: "readme.txt", parts: part }])), code("artifact_archive_unsupported"));
  // Two entries "a" and "b" whose second name is overwritten in both headers.
  const file = writeZip([{ name: "a", parts: part }, { name: "b", parts: part }]).slice();
  for (let i = 0; i < file.length; i++) if (file[i] === 0x62) file[i] = 0x61;
  assert.throws(() => openZip(file), code("artifact_archive_invalid"));
});

Deno.test("deflated entries expand to what they declare and no further", () => {
  const contents = new Uint8Array(5_000_000), packed = deflateRawSync(contents);
  assert.deepEqual(openZip(deflated(packed, contents.length, contents))[0].read().length, contents.length);
  // Inflating stops one byte beyond the declared size.
  assert.throws(() => openZip(deflated(packed, 100, contents))[0].read(), /does not inflate/);
  for (const size of [100, contents.length - 1, contents.length + 1]) {
    assert.throws(
      () => openZip(deflated(packed, size, contents))[0].read(),
      code("artifact_archive_invalid"),
      String(size),
    );
  }
  // More than deflate can reach is refused before anything is inflated.
  assert.throws(() => openZip(deflated(packed, 0xfffffff0, contents)), code("artifact_archive_invalid"));
  assert.throws(
    () => openZip(deflated(packed, contents.length, contents), "bomb", { maxExpandedBytes: 1_000_000 }),
    code("artifact_limit_exceeded"),
  );
  assert.throws(
    () => openZip(deflated(packed, contents.length, latin("other")))[0].read(),
    code("artifact_archive_invalid"),
  );
  const two = writeZip([{ name: "a", parts: [] }, { name: "b", parts: [] }]);
  assert.throws(() => openZip(two, "archive", { maxEntries: 1 }), code("artifact_limit_exceeded"));
});

Deno.test("encryption, other methods, overlaps and wrong places are refused", () => {
  const file = writeZip([{ name: "a", parts: [latin("first")] }, { name: "b", parts: [latin("again")] }]);
  const central = 2 * (30 + 1 + 5), second = central + 47;
  const changed = (edits: [number, number][]) => {
    const copy = file.slice(), view = new DataView(copy.buffer);
    for (const [at, value] of edits) view.setUint16(at, value, true);
    return copy;
  };
  assert.throws(() => openZip(changed([[6, 1], [central + 8, 1]])), code("artifact_archive_unsupported"), "encrypted");
  assert.throws(
    () => openZip(changed([[8, 12], [central + 10, 12]])),
    code("artifact_archive_unsupported"),
    "method 12",
  );
  assert.throws(() => openZip(changed([[central + 10, 8]])), code("artifact_archive_invalid"), "headers disagree");
  assert.throws(() => openZip(changed([[second + 42, 0]])), code("artifact_archive_invalid"), "the place of another");
  assert.throws(() => openZip(changed([[second + 42, 7]])), code("artifact_archive_invalid"), "no header there");
  assert.throws(
    () => openZip(changed([[14, 1], [central + 16, 1]]))[0].read(),
    code("artifact_archive_invalid"),
    "CRC",
  );
  const spread = changed([[file.length - 18, 1]]);
  assert.throws(() => openZip(spread), code("artifact_archive_unsupported"), "several disks");
});

Deno.test("an entry inside the data of another is refused", () => {
  const inner = writeZip([{ name: "b", parts: [latin("again")] }]).slice(0, 36);
  const file = writeZip([{ name: "a", parts: [inner] }, { name: "b", parts: [latin("again")] }]).slice();
  const second = file.length - 22 - 47;
  assert.equal(openZip(file).length, 2);
  // The local header of b that stands in the data of a is as good as the real one, but for its place.
  new DataView(file.buffer).setUint32(second + 42, 31, true);
  assert.throws(() => openZip(file), /overlap/);
});

Deno.test("every truncation is noticed", () => {
  const file = writeNpz({ a: ndarray("uint8", new Uint8Array(40)) });
  for (let length = 0; length < file.length; length++) {
    assert.throws(() => openNpz(file.slice(0, length)), code("artifact_archive_invalid"), String(length));
  }
});

Deno.test("every change of one bit in an archive of ours is noticed or leaves the contents alone", () => {
  const array = ndarray("uint8", new Uint8Array([1, 2, 3, 4]));
  const file = writeNpz({ a: array }).slice();
  for (let bit = 0; bit < 8 * file.length; bit++) {
    file[bit >> 3] ^= 1 << (bit & 7);
    try {
      const archive = openNpz(file);
      if (archive.names[0] === "a") assert.ok(archive.holds("a", array));
    } catch (error) {
      assert.ok(error instanceof SvcError, String((error as Error).stack));
    }
    file[bit >> 3] ^= 1 << (bit & 7);
  }
});

Deno.test("damaged archives are read or refused with a code, never otherwise", () => {
  const random = seeded(2);
  let refused = 0;
  const files = [...Object.values(vectors.archives), vectors.archive_with_unicode_name].map(bytesFrom);
  for (let round = 0; round < 8000; round++) {
    const file = damage(files[random(files.length)], random);
    try {
      const archive = openNpz(file);
      for (const name of archive.names) archive.array(name);
    } catch (error) {
      assert.ok(error instanceof SvcError && /^artifact_/.test(error.code), String((error as Error).stack));
      refused++;
    }
  }
  assert.ok(refused > 4000);
});
