import assert from "node:assert/strict";
import { inspectData } from "../../../lib/artifact/data_inspect.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { deflateRawSync } from "node:zlib";
import { type ByteSource, memorySource } from "../../../lib/artifact/byte_source.ts";
import { npyHeader } from "../../../lib/artifact/npy_header.ts";
import { writeZip } from "../../../lib/artifact/zip_write.ts";
import { openZip } from "../../../lib/artifact/zip_read.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { toPlain } from "../../../lib/contract/value.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { deflated } from "./_deflated_zip.ts";
import { damage, seeded } from "./_fuzz.ts";

const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
/** Opens files of memory, and notes each range that is read beyond the blocks of the digest. */
function opener(files: Record<string, Uint8Array>, ranges: number[] = []) {
  return (path: string): ByteSource => {
    const bytes = files[path];
    assert.ok(bytes !== undefined, `unexpected read of ${path}`);
    const source = memorySource(bytes);
    return {
      size: source.size,
      at(from, length) {
        if (length !== 2 ** 20) ranges.push(length);
        return source.at(from, length);
      },
    };
  };
}
const inspected = (name: string, bytes: Uint8Array) => inspectData(name, opener({ [name]: bytes }));
const refusal = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;

const packed = (contents: Uint8Array) => deflated(deflateRawSync(contents), contents.length, contents, "x.npy");

Deno.test("recordings and arrays are described with the digest that pins them", async () => {
  const meta = new TextEncoder().encode(JSON.stringify({
    global: { "core:datatype": "ci16_le", "core:version": "1.2.0", "core:sample_rate": 2.5e6, "core:num_channels": 2 },
    captures: [{ "core:sample_start": 0 }],
    annotations: ["b", "a", "b"].map((label) => ({ "core:sample_start": 0, "core:label": label })),
  }));
  const data = new Uint8Array(24), read = opener({ "x.sigmf-meta": meta, "x.sigmf-data": data, "r.cu8": data });
  const both = sha256Hex(Uint8Array.of(...meta, ...data));
  for (const path of ["x.sigmf-meta", "x.sigmf-data"]) {
    const { sha256, sample_count, channel_count, labels } = await inspectData(path, read);
    assert.deepEqual([sha256, sample_count, channel_count, labels], [both, 3, 2, ["a", "b"]]);
  }
  const raw = await inspectData("r.cu8", read);
  assert.deepEqual([raw.sha256, raw.datatype, raw.sample_count, raw.sample_rate_hz], [
    sha256Hex(data),
    "cu8",
    12,
    null,
  ]);
  const npz = writeNpz({ a: { dtype: "complex64", shape: [2, 3], data: new Float32Array(12) } });
  const { arrays } = await inspected("c.npz", npz);
  assert.deepEqual(arrays, [{ name: "a", dtype: "complex64", shape: [2, 3] }]);
  await assert.rejects(inspectData("c.exe", read), refusal("usage_invalid"));
});

Deno.test("channels have units, and the power-delay profile of their first sample", async () => {
  const a = { dtype: "complex64", shape: [2, 3], data: Float32Array.of(1, 0, 0, 0.1, 0, 0, 9, 9, 9, 9, 9, 9) } as const;
  const tau = { dtype: "float64", shape: [2, 3], data: Float64Array.of(3e-7, 1e-7, 2e-7, 0, 0, 0) } as const;
  const paths = await inspected("c.npz", writeNpz({ a, tau }).slice());
  assert.deepEqual(paths.units, { a: "linear amplitude", tau: "s" });
  const { x, x_unit, level_db } = toPlain(paths.delay_profile!) as Record<string, number[]>;
  // The path without power is left out; 0.1 of the amplitude is 20 dB less.
  assert.deepEqual(x.map((delay) => Math.round(delay)), [100, 300]);
  assert.deepEqual([x_unit, level_db], ["ns", [-20, 0]]);
  // A path of delay 3 / (F Δf) with F = 8: h[k] = exp(-j2π 3 k / 8).
  const h = Float32Array.from({ length: 16 }, (_, at) => {
    const phase = -2 * Math.PI * 3 * (at >> 1) / 8;
    return at & 1 ? Math.sin(phase) : Math.cos(phase);
  });
  const response = await inspected("h.npz", writeNpz({ h: { dtype: "complex64", shape: [1, 8], data: h } }).slice());
  const profile = toPlain(response.delay_profile!) as Record<string, number[]>;
  assert.equal(profile.level_db.indexOf(0), 3);
  assert.ok(profile.level_db.every((level, at) => at === 3 || level <= -100), String(profile.level_db));
  assert.deepEqual(response.units, { h: "linear amplitude" });
});

Deno.test("only headers of arrays are read, stored or packed", async () => {
  const values = new Uint8Array(npyHeader("float32", [2 ** 22]).length + 2 ** 24);
  values.set(npyHeader("float32", [2 ** 22]));
  const expected = [{ dtype: "float32", shape: [2 ** 22] }];
  for (
    const [name, bytes] of [
      ["stored.npz", writeZip([{ name: "x.npy", parts: [values] }])],
      ["packed.npz", packed(values)],
      ["plain.npy", values],
    ] as const
  ) {
    const ranges: number[] = [], { arrays, sha256 } = await inspectData(name, opener({ [name]: bytes }, ranges));
    const forms = (arrays as { dtype: string; shape: number[] }[]).map(({ dtype, shape }) => ({ dtype, shape }));
    assert.deepEqual([forms, sha256], [expected, sha256Hex(bytes)]);
    assert.ok(ranges.reduce((sum, length) => sum + length, 0) < 2 ** 18, `${name}: ${ranges}`);
  }
  // 16 MiB of zeros in 16 KiB: no more is inflated than the first 1024 packed bytes can hold.
  assert.ok(openZip(packed(values))[0].begin(100).buffer.byteLength <= 2 ** 21);
});

Deno.test("hostile files are refused with a code", async () => {
  const header = npyHeader("float32", [4]),
    giant = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 2, 0, 0, 0, 0, 64);
  const npz = (member: Uint8Array) => writeZip([{ name: "x.npy", parts: [member] }]).slice();
  const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
  for (const [form, shape] of [["artifact_npy_truncated", [2 ** 40]], ["artifact_npy_invalid", [3]]] as const) {
    const bytes = join(npyHeader("float32", shape), new Uint8Array(16));
    await assert.rejects(inspected("a.npy", bytes), refusal(form));
    await assert.rejects(inspected("a.npz", npz(bytes)), refusal(form));
    await assert.rejects(inspected("a.npz", packed(bytes)), refusal(form));
  }
  await assert.rejects(inspected("a.npy", giant), refusal("artifact_npy_invalid"));
  await assert.rejects(inspected("a.npz", npz(giant)), refusal("artifact_npy_invalid"));
  const whole = npz(join(header, new Uint8Array(16)));
  for (let length = 0; length < whole.length; length++) {
    await assert.rejects(inspected("a.npz", whole.slice(0, length)), refusal("artifact_archive_invalid"));
  }
  const many = writeZip(Array.from({ length: 1025 }, (_, at) => ({ name: `${at}.npy`, parts: [header] })));
  await assert.rejects(inspected("a.npz", many), refusal("artifact_limit_exceeded"));
  await assert.rejects(inspected("r.ci16", new Uint8Array(6)), refusal("recording_invalid"));
  const meta = text({ global: { "core:datatype": "cf32_le", "core:version": "1.2.0" } });
  const pair = (meta: Uint8Array, data: Uint8Array) => () =>
    inspectData("x.sigmf-meta", opener({ "x.sigmf-meta": meta, "x.sigmf-data": data }));
  assert.equal((await pair(meta, new Uint8Array(16))()).sample_count, 2);
  await assert.rejects(pair(meta, new Uint8Array(15)), refusal("recording_invalid"));
  await assert.rejects(pair(new Uint8Array(2 ** 24 + 1).fill(0x20), new Uint8Array(16)), refusal("recording_invalid"));
  await assert.rejects(
    pair(new TextEncoder().encode("[".repeat(1e6)), new Uint8Array(16)),
    refusal("recording_invalid"),
  );
});

Deno.test("damaged files end in a description or in a coded error", async () => {
  const array = { dtype: "complex64", shape: [2, 3], data: new Float32Array(12) } as const, random = seeded(5);
  const files = {
    "a.npz": writeNpz({ a: array }).slice(),
    "b.npz": packed(npyHeader("int8", [0])),
    "c.npy": Uint8Array.of(...npyHeader("int8", [1]), 7),
  };
  for (const [name, bytes] of Object.entries(files)) {
    let refused = 0;
    for (let round = 0; round < 300; round++) {
      try {
        await inspected(name, damage(bytes, random));
      } catch (error) {
        assert.ok(error instanceof SvcError, String(error));
        refused++;
      }
    }
    assert.ok(refused > 50, `${name}: ${refused}`);
  }
});
