import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { buildNative } from "../../../../lib/numeric/native/build.ts";
import {
  inspectExtension,
  libraryName,
  nativeExtension,
  sourcesSha256,
  type Surroundings,
} from "../../../../lib/numeric/native/extension.ts";
import { captureEnvironment } from "../../../../lib/run/environment.ts";
import { NATIVE_LIBRARY, needsNative } from "../../../support/native.ts";
import { temporaryFolder } from "../../../support/temporary.ts";

/** A folder with one source and room for a library. */
function inWorkshop(check: (surroundings: Required<Pick<Surroundings, "sources" | "folder">>) => void): void {
  const folder = temporaryFolder();
  const root = new URL(`file://${folder}/`);
  Deno.mkdirSync(new URL("build/", root));
  Deno.writeTextFileSync(new URL("a.cpp", root), "int a;\n");
  check({ sources: [new URL("a.cpp", root)], folder: new URL("build/", root) });
}

const LINUX = { os: "linux", arch: "x86_64", permission: () => "granted" as const };

Deno.test("what is not built says how to build it", () =>
  inWorkshop((workshop) => {
    assert.deepEqual(inspectExtension({ ...workshop, ...LINUX }), {
      available: false,
      path: null,
      sha256: null,
      reason: "the native extension is not built",
      hint: "Run deno task build:native",
    });
  }));

Deno.test("a library is found by the digest of its sources, and no other one is", () =>
  inWorkshop((workshop) => {
    const name = libraryName(sourcesSha256(workshop.sources), LINUX)!;
    assert.match(name, /^svc_native-linux-x86_64-[0-9a-f]{16}\.so$/);
    const library = new URL(name, workshop.folder);
    Deno.writeTextFileSync(library, "library");
    const built = inspectExtension({ ...workshop, ...LINUX });
    assert.deepEqual(built, {
      available: true,
      path: fileURLToPath(library),
      // SHA-256 of the seven letters.
      sha256: "b718f1354f7247312eca086d9a024afe5fa717ddea5adeddd6f12bcf945b2e8c",
      reason: null,
      hint: null,
    });
    Deno.writeTextFileSync(workshop.sources[0], "int b;\n");
    const stale = inspectExtension({ ...workshop, ...LINUX });
    assert.deepEqual([stale.available, stale.path], [false, null]);
    assert.match(stale.reason!, /sources of the native extension have changed/);
    assert.equal(stale.hint, "Run deno task build:native");
  }));

Deno.test("a permission that is not granted is the reason, and nothing asks for it", () =>
  inWorkshop((workshop) => {
    const library = new URL(libraryName(sourcesSha256(workshop.sources), LINUX)!, workshop.folder);
    Deno.writeTextFileSync(library, "library");
    for (const state of ["prompt", "denied"] as const) {
      const asked: string[] = [];
      const permission = (path: string) => (asked.push(path), state);
      const found = inspectExtension({ ...workshop, ...LINUX, permission });
      assert.equal(found.available, false);
      assert.equal(found.path, fileURLToPath(library));
      assert.match(found.sha256!, /^[0-9a-f]{64}$/);
      assert.match(found.reason!, /permission/);
      assert.equal(found.hint, `Add --allow-ffi=${found.path}`);
      assert.deepEqual(asked, [found.path]);
    }
  }));

Deno.test("platforms it is not made for, and sources that cannot be read, are told apart", () =>
  inWorkshop((workshop) => {
    for (const surroundings of [{ os: "windows" }, { arch: "riscv64" }]) {
      const found = inspectExtension({ ...workshop, ...LINUX, ...surroundings });
      assert.match(found.reason!, /Linux and macOS on x86_64 or aarch64/);
    }
    assert.match(libraryName("f".repeat(64), { os: "darwin", arch: "aarch64" })!, /-darwin-aarch64-f{16}\.dylib$/);
    const absent = inspectExtension({ ...workshop, ...LINUX, sources: [new URL("gone.cpp", workshop.folder)] });
    assert.match(absent.reason!, /cannot read the sources/);
    const remote = inspectExtension({ ...LINUX, sources: [new URL("https://example.org/a.cpp")] });
    assert.match(remote.reason!, /cannot read the sources/);
  }));

Deno.test("the digest covers names and contents", () =>
  inWorkshop(({ sources: [a] }) => {
    const b = new URL("b.cpp", a);
    Deno.copyFileSync(a, b);
    const digests = [[a], [b], [a, b], [b, a]].map((sources) => sourcesSha256(sources));
    assert.equal(new Set(digests).size, 4);
  }));

Deno.test("what was built is found, is not built again, and stands in the manifest", needsNative(), async () => {
  const extension = nativeExtension();
  assert.equal(extension.available, true);
  assert.equal(extension.path, NATIVE_LIBRARY);
  const { mtime } = await Deno.stat(NATIVE_LIBRARY!);
  assert.equal(await buildNative(), NATIVE_LIBRARY);
  assert.deepEqual((await Deno.stat(NATIVE_LIBRARY!)).mtime, mtime);
  const { native } = await captureEnvironment(Deno.cwd());
  assert.deepEqual(native, { available: true, path: NATIVE_LIBRARY, sha256: extension.sha256, reason: null });
});

Deno.test("a program without the permission says so in its manifest, without a prompt", needsNative(), async () => {
  const folder = temporaryFolder();
  const environment = new URL("../../../../lib/run/environment.ts", import.meta.url).href;
  await Deno.writeTextFile(
    `${folder}/script.ts`,
    `import { captureEnvironment } from ${JSON.stringify(environment)};
      console.log(JSON.stringify((await captureEnvironment(Deno.args[0])).native));`,
  );
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--no-lock", "--quiet", "--no-prompt", "--allow-read", `${folder}/script.ts`, folder],
  }).output();
  assert.equal(new TextDecoder().decode(stderr), "");
  assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), {
    available: false,
    path: NATIVE_LIBRARY,
    sha256: nativeExtension().sha256,
    reason: "the permission to load the native extension is not granted",
  });
});
