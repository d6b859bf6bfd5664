import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { inspectPackage } from "../../../lib/training/inspect.ts";
import {
  MAX_COMPONENT_BYTES,
  MAX_EXPANDED_BYTES,
  MAX_MEMBERS,
  MAX_PACKAGE_BYTES,
} from "../../../lib/training/limits.ts";
import { nameCollisions, unsafeName } from "../../../lib/training/member_names.ts";
import { openPackage } from "../../../lib/training/source.ts";
import { damage, seeded } from "../artifact/_fuzz.ts";
import { type HostileEntry, hostileZip } from "./_hostile_zip.ts";
import { contractOf, inFolder, packageFiles, parts, seal, writeFolder, zipOf } from "./_package.ts";

const coded = (code: string) => (error: unknown) => {
  assert.ok(error instanceof SvcError, String(error));
  assert.equal(error.code, code, error.message);
  return true;
};
const unsafe = coded("artifact_member_unsafe");
const exceeded = coded("artifact_limit_exceeded");
const sound = (): HostileEntry[] => [...packageFiles()].map(([name, data]) => ({ name, data, deflate: true }));
const zipWith = (...more: HostileEntry[]) => hostileZip([...sound(), ...more]);
const open = (bytes: Uint8Array) => inspectPackage(openPackage(bytes, "hostile.zip"), { contractOf });

Deno.test("the hostile writer itself writes packages that are accepted", () => {
  const plain = open(zipWith({ name: "docs/", externalAttributes: 0x41ed0010 }, { name: "docs/read me.md" }));
  assert.deepEqual([plain.status, plain.unlisted], ["ready", ["docs/read me.md"]]);
  const nested = open(hostileZip(sound().map((entry) => ({ ...entry, name: `toy-1.0/${entry.name}` }))));
  assert.equal(nested.status, "ready");
  assert.equal(nested.identity!.package_sha256, plain.identity!.package_sha256);
});

Deno.test("names that mean another place, or another file elsewhere, are refused", () => {
  const names = [
    "..",
    "../evil.sh",
    "a/../../evil",
    "./a",
    "a/./b",
    "a//b",
    "/etc/passwd",
    "C:/windows/system.ini",
    "c:evil",
    "file.txt:stream",
    "a\\b",
    "..\\evil",
    "con",
    "CON.txt",
    "a/nul",
    "lpt1.onnx",
    "COM¹",
    "aux .txt",
    "a./b",
    "name.",
    "name ",
    "a /b",
    "tab\there",
    "line\nbreak",
    "del\u007f",
    "x".repeat(256),
    ".svc_import.json",
  ];
  for (const name of names) {
    assert.notEqual(unsafeName(name), null, name);
    assert.throws(() => open(zipWith({ name })), unsafe, name);
  }
  for (const name of ["", "\0", "a\0b"]) assert.throws(() => open(zipWith({ name })), unsafe, JSON.stringify(name));
  for (const name of ["../docs/", "a\\/", "nul/", "/"]) assert.throws(() => open(zipWith({ name })), unsafe, name);
  for (const name of ["a b/c.d", "..a", "console.md", "nullable", "Ünïcode/模型.onnx", "x".repeat(255)]) {
    assert.equal(unsafeName(name), null, name);
  }
});

Deno.test("two names that are one file on some system are refused", () => {
  const colliding = [
    ["readme.md", "README.md"],
    ["stra\u00dfe", "STRASSE"],
    ["caf\u00e9", "cafe\u0301"],
    ["\u00c9clair", "e\u0301clair"],
    ["a/b", "A/B"],
    ["a", "a/b"],
    ["A/b", "a"],
    ["same", "same"],
  ];
  for (const [first, second] of colliding) {
    assert.equal(nameCollisions([first, second]).length, 1, `${first} ${second}`);
    assert.throws(() => open(zipWith({ name: first }, { name: second })), unsafe, `${first} ${second}`);
  }
  assert.deepEqual(nameCollisions(["a/b", "a/c", "ab"]), []);
});

Deno.test("links, devices and encrypted members are refused", () => {
  const modes = { link: 0xa1ff, pipe: 0x11a4, device: 0x2180, socket: 0xc1ff, "folder as a file": 0x41ed };
  for (const [what, mode] of Object.entries(modes)) {
    const entry = { name: "extra", data: new TextEncoder().encode("/etc/passwd"), externalAttributes: mode * 65536 };
    assert.throws(() => open(zipWith(entry)), unsafe, what);
  }
  assert.throws(() => open(zipWith({ name: "file/", externalAttributes: 0x81a40000 })), unsafe);
  assert.throws(() => open(zipWith({ name: "full/", data: new Uint8Array(3) })), unsafe);
  assert.throws(() => open(zipWith({ name: "secret", flags: 0x801 })), unsafe);
  assert.throws(() => open(zipWith({ name: "bzip2", method: 12 })), unsafe);
});

Deno.test("a member that is not what it claims is refused", () => {
  const entries = sound(), model = entries.findIndex(({ name }) => name.endsWith(".onnx"));
  const bent = (change: Partial<HostileEntry>) =>
    open(hostileZip(entries.map((entry, index) => index === model ? { ...entry, ...change } : entry)));
  const codes = (change: Partial<HostileEntry>) => bent(change).diagnostics.map(({ code }) => code);
  assert.deepEqual(codes({ crc: 1 }), ["artifact_member_unsafe"]);
  assert.deepEqual(codes({ claimedSize: 10 }), ["artifact_member_unsafe"]);
  assert.deepEqual(codes({ claimedSize: 5000 }), ["artifact_member_unsafe"]);
  assert.throws(() => bent({ deflate: false, claimedSize: 5000 }), unsafe);
});

Deno.test("a bomb is refused before it expands", () => {
  const zeros = new Uint8Array(64 * 2 ** 20);
  const before = Deno.memoryUsage().external;
  // Claims what it holds: the sum is over the limit.
  const honest = Array.from({ length: 9 }, (_, index) => ({ name: `bomb${index}`, data: zeros, deflate: true }));
  assert.throws(() => open(zipWith(...honest)), exceeded);
  // Claims less than it holds: inflating stops there.
  const { files, ...rest } = parts();
  const liar = [...seal({ ...rest, files })].map(([name, data]): HostileEntry =>
    name.endsWith(".onnx") ? { name, data: zeros, deflate: true, claimedSize: 100_000 } : { name, data }
  );
  assert.deepEqual(open(hostileZip(liar)).diagnostics.map(({ code }) => code), ["artifact_member_unsafe"]);
  // Claims more than deflate can reach.
  assert.throws(
    () => open(zipWith({ name: "x", data: new Uint8Array(9), deflate: true, claimedSize: 2 ** 28 })),
    unsafe,
  );
  assert.throws(() => open(zipWith({ name: "x", method: 8, claimedSize: 2 ** 32 - 1 })), unsafe);
  assert.ok(Deno.memoryUsage().external - before < MAX_EXPANDED_BYTES, "it was not expanded");
});

Deno.test(
  "a package of too many or too large files is refused",
  inFolder((folder) => {
    const many = Array.from({ length: MAX_MEMBERS }, (_, index) => ({ name: `f${index}` }));
    assert.throws(() => open(zipWith(...many)), exceeded);
    assert.throws(() => open(zipWith(...many, ...many.map(({ name }) => ({ name: `g${name}` })))), exceeded);
    const crowded = join(folder, "crowded");
    writeFolder(crowded, packageFiles());
    for (const { name } of many) Deno.writeTextFileSync(join(crowded, name), "");
    assert.throws(() => openPackage(crowded), exceeded);
    // Its manifest alone is still a package: only what it lists is looked at.
    assert.equal(inspectPackage(openPackage(join(crowded, "trained_artifact.yaml")), { contractOf }).status, "ready");

    const sparse = (path: string, size: number) => {
      const file = Deno.openSync(path, { create: true, write: true });
      file.truncateSync(size);
      file.close();
    };
    const large = writeFolder(join(folder, "large"), packageFiles());
    sparse(join(large, "training/loss.csv"), MAX_PACKAGE_BYTES + 1);
    assert.throws(() => openPackage(large), exceeded);
    sparse(join(folder, "large.zip"), MAX_PACKAGE_BYTES + 1);
    assert.throws(() => openPackage(join(folder, "large.zip")), exceeded);

    const limits: [string, number, string][] = [
      ["models/receiver.onnx", MAX_COMPONENT_BYTES, "$.components[0].path"],
      ["slot_contract.json", 4 * 2 ** 20, "$.contract.path"],
      ["training/loss.csv", 32 * 2 ** 20, "$.support_files[0].path"],
    ];
    for (const [path, limit, place] of limits) {
      const one = writeFolder(join(folder, path.replaceAll("/", "_")), packageFiles());
      sparse(join(one, path), limit + 1);
      const { diagnostics } = inspectPackage(openPackage(join(one, "trained_artifact.yaml")), { contractOf });
      assert.deepEqual(diagnostics.map(({ code, path }) => [code, path]), [["artifact_limit_exceeded", place]]);
    }
    sparse(join(folder, "large_manifest.yaml"), 2 ** 21 + 1);
    assert.throws(() => inspectPackage(openPackage(join(folder, "large_manifest.yaml"))), exceeded);
  }),
);

Deno.test("a member that is too large for its part is not inflated", () => {
  const large = [...packageFiles()].map(([name, data]): HostileEntry =>
    name === "slot_contract.json" ? { name, data: new Uint8Array(4 * 2 ** 20 + 1), deflate: true } : { name, data }
  );
  assert.deepEqual(open(hostileZip(large)).diagnostics.map(({ code, path }) => [code, path]), [
    ["artifact_limit_exceeded", "$.contract.path"],
  ]);
});

Deno.test(
  "links and special files in a folder are refused, wherever they point",
  inFolder((folder) => {
    const bent = (name: string, change: (root: string) => void) => {
      const root = writeFolder(join(folder, name), packageFiles());
      change(root);
      assert.throws(() => openPackage(root), unsafe, name);
    };
    bent("link", (root) => Deno.symlinkSync("trained_artifact.yaml", join(root, "link")));
    bent("folder", (root) => Deno.symlinkSync("models", join(root, "linked")));
    bent("dangling", (root) => Deno.symlinkSync("/nowhere", join(root, "dangling")));
    if (Deno.build.os !== "windows") {
      bent(
        "pipe",
        (root) => assert.ok(new Deno.Command("mkfifo", { args: [join(root, "pipe")] }).outputSync().success),
      );
      // Opening the pipe itself must not wait for a writer either.
      assert.throws(() => openPackage(join(folder, "pipe/pipe")), unsafe);
    }
    Deno.symlinkSync(join(folder, "link/trained_artifact.yaml"), join(folder, "outside.yaml"));
    assert.throws(() => openPackage(join(folder, "outside.yaml")), unsafe);
    bent("case", (root) => Deno.writeTextFileSync(join(root, "TRAINED_ARTIFACT.YAML"), ""));
  }),
);

Deno.test(
  "a package has exactly one manifest",
  inFolder((folder) => {
    assert.throws(() => open(zipWith({ name: "other/trained_artifact.yaml" })), coded("artifact_manifest_ambiguous"));
    assert.throws(() => open(zipWith({ name: "trained_artifact.json" })), coded("artifact_manifest_ambiguous"));
    assert.throws(() => open(hostileZip([])), coded("artifact_manifest_missing"));
    assert.throws(() => open(hostileZip([{ name: "model.onnx" }])), coded("artifact_manifest_missing"));
    Deno.mkdirSync(join(folder, "empty"));
    assert.throws(() => openPackage(join(folder, "empty")), coded("artifact_manifest_missing"));
    assert.throws(() => openPackage(join(folder, "absent")), coded("artifact_manifest_missing"));
    writeFolder(join(folder, "two/a"), packageFiles());
    writeFolder(join(folder, "two/b"), packageFiles());
    assert.throws(() => openPackage(join(folder, "two")), coded("artifact_manifest_ambiguous"));
  }),
);

Deno.test("a file that is no ZIP file is said to be none", () => {
  const whole = zipOf(packageFiles());
  for (const bytes of [new Uint8Array(0), new Uint8Array(100), whole.subarray(0, 100), whole.subarray(100)]) {
    assert.throws(() => openPackage(bytes), coded("artifact_archive_invalid"));
  }
});

Deno.test("NPZ files among the support files hold numbers, and not too many", () => {
  const npy = (descr: string) => {
    const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (1,), }`.padEnd(117) + "\n";
    const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0];
    return new Uint8Array([...magic, ...new TextEncoder().encode(header), ...new Uint8Array(8)]);
  };
  const found = (entries: HostileEntry[]) => {
    const made = parts();
    made.files.set("weights.npz", hostileZip(entries));
    made.manifest.support_files.push({ path: "weights.npz", sha256: "", role: "checkpoint" });
    return open(zipOf(seal(made))).diagnostics.map(({ code, path }) => `${code} ${path}`);
  };
  const at = "$.support_files[1].path";
  assert.deepEqual(found([{ name: "w.npy", data: npy("<f8") }]), []);
  assert.deepEqual(found([{ name: "w.npy", data: npy("|O") }]), [`artifact_member_unsafe ${at}`]);
  assert.deepEqual(found([{ name: "../w.npy", data: npy("<f8") }]), [`artifact_member_unsafe ${at}`]);
  assert.deepEqual(found([{ name: "w.npy", data: npy("<f8"), flags: 1 }]), [`artifact_member_unsafe ${at}`]);
  const many = Array.from({ length: 33 }, (_, index) => ({ name: `w${index}.npy`, data: npy("<f8") }));
  assert.deepEqual(found(many), [`artifact_limit_exceeded ${at}`]);
  const zeros = new Uint8Array(2 ** 26);
  const wide = Array.from({ length: 5 }, (_, index) => ({ name: `w${index}.npy`, data: zeros, deflate: true }));
  assert.deepEqual(found(wide), [`artifact_limit_exceeded ${at}`]);
});

Deno.test("damaged ZIP files end in a coded error or in findings", () => {
  const random = seeded(117), whole = hostileZip(sound());
  let findings = 0;
  for (let round = 0; round < 3000; round++) {
    try {
      findings += open(damage(whole, random)).status === "ready" ? 0 : 1;
    } catch (error) {
      assert.ok(error instanceof SvcError && error.code.startsWith("artifact_"), String(error));
    }
  }
  assert.ok(findings > 0);
});

Deno.test("damaged manifests end in findings", () => {
  const random = seeded(118), files = packageFiles(), manifest = files.get("trained_artifact.yaml")!;
  const seen = new Set<string>();
  for (let round = 0; round < 3000; round++) {
    files.set("trained_artifact.yaml", damage(manifest, random));
    for (const { code } of open(zipOf(files)).diagnostics) seen.add(code);
  }
  for (const code of seen) assert.match(code, /^(artifact_|publication_)/);
  assert.ok(seen.has("artifact_schema_invalid"));
});

Deno.test("a manifest that is no document, or an endless one, is refused", () => {
  const refused = (text: string | Uint8Array) => {
    const files = packageFiles();
    files.set("trained_artifact.yaml", typeof text === "string" ? new TextEncoder().encode(text) : text);
    return open(zipOf(files)).diagnostics[0].code;
  };
  assert.equal(refused(""), "artifact_schema_invalid");
  assert.equal(refused("- a list"), "artifact_schema_invalid");
  assert.equal(refused("a: [1"), "artifact_schema_invalid");
  assert.equal(refused("a: 1\na: 2"), "artifact_schema_invalid");
  assert.equal(refused(new Uint8Array([0xff, 0xfe])), "artifact_schema_invalid");
  assert.equal(refused("[".repeat(100_000)), "artifact_limit_exceeded");
  const laughs = Array.from({ length: 30 }, (_, i) => `k${i}: &a${i} [${i === 0 ? "x" : `*a${i - 1}, *a${i - 1}`}]`);
  assert.equal(refused(laughs.join("\n")), "artifact_limit_exceeded");
});
