import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { inspectAdapter } from "../../../lib/adapter/inspect.ts";
import { changeTrustFile, readTrustFile } from "../../../lib/adapter/trust.ts";
import { trustAdapter, untrustAdapter } from "../../../lib/adapter/write_trust.ts";
import { FILES, MANIFEST, withFolder, writeFolder } from "./support.ts";

interface Place {
  projectRoot: string;
  folder: string;
  /** The trust file of the user, which is outside the project. */
  file: string;
}

/** With an adapter in a project, and a home without a trust file. */
const inProject = (body: (place: Place) => void | Promise<void>) =>
  withFolder(async (root) => {
    const projectRoot = join(Deno.realPathSync(root), "project"), home = join(root, "home");
    Deno.mkdirSync(join(projectRoot, "weights"), { recursive: true });
    const before = Object.fromEntries(VARIABLES.map((name) => [name, Deno.env.get(name)]));
    for (const name of VARIABLES) Deno.env.delete(name);
    Deno.env.set(HOME, home);
    try {
      const folder = writeFolder(join(projectRoot, "codec"), FILES);
      await body({ projectRoot, folder, file: join(home, ".config/svc/trust.json") });
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) Deno.env.delete(name);
        else Deno.env.set(name, value);
      }
    }
  });
const HOME = Deno.build.os === "windows" ? "USERPROFILE" : "HOME";
const VARIABLES = ["SVC_TRUST", "XDG_CONFIG_HOME", HOME];

Deno.test("trust grants every request, in the file of the user, which others cannot read", () =>
  inProject(({ projectRoot, folder, file }) => {
    const { entry, path } = trustAdapter(folder, { note: "reviewed" });
    assert.equal(path, file);
    assert.deepEqual(entry?.permissions, {
      net: ["models.example.org:443"],
      read: [join(projectRoot, "weights")],
      env: ["MY_CODEC_LEVEL"],
    });
    const { folder_sha256, ...stored } = entry!;
    assert.deepEqual(JSON.parse(Deno.readTextFileSync(file)).adapters, { [folder_sha256]: stored });
    if (Deno.build.os !== "windows") assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);
    const found = inspectAdapter({ folder }, { projectRoot });
    assert.deepEqual([found.grant_source, found.diagnostics], ["trust_file", []]);
    assert.deepEqual(found.permissions_missing, { net: [], read: [], env: [] });
    assert.deepEqual(found.permissions_granted.read, [join(projectRoot, "weights")]);
    assert.deepEqual([...Deno.readDirSync(projectRoot)].map(({ name }) => name).sort(), ["codec", "weights"]);
  }));

Deno.test("the file is SVC_TRUST, else that of XDG_CONFIG_HOME where it is absolute, else that of the home", () =>
  inProject(({ folder, file }) => {
    Deno.env.set("XDG_CONFIG_HOME", "relative");
    assert.equal(trustAdapter(folder).path, file);
    const config = dirname(dirname(file)) + "_other";
    Deno.env.set("XDG_CONFIG_HOME", config);
    assert.equal(trustAdapter(folder).path, join(config, "svc", "trust.json"));
    Deno.env.set("SVC_TRUST", join(config, "mine.json"));
    assert.equal(trustAdapter(folder).path, join(config, "mine.json"));
    for (const name of VARIABLES) Deno.env.delete(name);
    assert.deepEqual(readTrustFile().adapters, {});
    assert.throws(() => trustAdapter(folder), { code: "trust_file_unknown" });
  }));

Deno.test("a copy of a trusted folder elsewhere may read what was granted, and not its own neighbours", () =>
  inProject(({ projectRoot, folder }) => {
    trustAdapter(folder);
    const other = join(projectRoot, "other");
    const copy = writeFolder(join(other, "codec"), FILES);
    Deno.mkdirSync(join(other, "weights"));
    const { permissions_granted: granted, permissions_missing: missing } = inspectAdapter({ folder: copy }, {
      projectRoot,
    });
    assert.deepEqual([granted.read, missing.read, granted.env], [[], ["../weights"], ["MY_CODEC_LEVEL"]]);
  }));

Deno.test("a changed folder has lost its grants until it is trusted again; its earlier state stays trusted", () =>
  inProject(({ projectRoot, folder, file }) => {
    trustAdapter(folder);
    Deno.writeTextFileSync(join(folder, "encode.ts"), "export const encode = 1;\n");
    const found = inspectAdapter({ folder }, { projectRoot });
    assert.deepEqual(found.permissions_granted, { net: [], read: [], env: [] });
    assert.deepEqual(found.diagnostics.map(({ code }) => code), ["adapter_trust_mismatch"]);
    trustAdapter(folder);
    assert.equal(inspectAdapter({ folder }, { projectRoot }).grant_source, "trust_file");
    assert.equal(Object.keys(readTrustFile(file).adapters).length, 2);
  }));

Deno.test("what changed while somebody thought about it is not granted", () =>
  inProject(({ projectRoot, folder, file }) => {
    const { folder_sha256 } = inspectAdapter({ folder }, { projectRoot });
    Deno.writeTextFileSync(
      join(folder, "svc_adapter.yaml"),
      MANIFEST.replace("models.example.org", "evil.example.org"),
    );
    assert.throws(() => trustAdapter(folder, { folderSha256: folder_sha256! }), { code: "adapter_changed" });
    assert.throws(() => Deno.statSync(file), Deno.errors.NotFound);
  }));

Deno.test("untrust works by folder, by name where the folder is gone, and names what it does not find", () =>
  inProject(({ projectRoot, folder, file }) => {
    trustAdapter(folder);
    Deno.writeTextFileSync(join(folder, "README.md"), "changed\n");
    trustAdapter(folder);
    assert.deepEqual(untrustAdapter(folder).entry, null);
    assert.deepEqual(readTrustFile(file).adapters, {});
    assert.equal(inspectAdapter({ folder }, { projectRoot }).grant_source, "none");
    trustAdapter(folder);
    Deno.removeSync(folder, { recursive: true });
    assert.throws(() => untrustAdapter("my-codek"), { hint: "Did you mean my-codec?" });
    assert.equal(untrustAdapter("my-codec").name, "my-codec");
    assert.throws(() => untrustAdapter("my-codec"), { code: "not_found", hint: "It has no entries" });
  }));

Deno.test("a trust file that is damaged, too large or no file grants nothing, is named, and stays as it is", () =>
  inProject(({ projectRoot, folder, file }) => {
    trustAdapter(folder);
    const whole = Deno.readTextFileSync(file), { adapters, ...head } = JSON.parse(whole);
    const [digest] = Object.keys(adapters);
    const damaged = {
      "cut off": whole.slice(0, -5),
      empty: "",
      "a list": JSON.stringify({ ...head, adapters: [adapters[digest]] }),
      "another kind": JSON.stringify({ ...head, kind: "svc.other", adapters }),
      "no digest": JSON.stringify({ ...head, adapters: { "../codec": adapters[digest] } }),
      "more than a permission set": whole.replace('"env"', '"run": ["ls"], "env"'),
      "a relative path": whole.replace(join(projectRoot, "weights"), "weights"),
      "any host": whole.replace("models.example.org:443", "*"),
      "too large": " ".repeat(2 ** 20) + whole,
      "no UTF-8": null,
    };
    for (const [name, text] of Object.entries(damaged)) {
      if (text === null) Deno.writeFileSync(file, Uint8Array.of(0x7b, 0xff));
      else Deno.writeTextFileSync(file, text);
      const bytes = Deno.readFileSync(file);
      const refused = (error: { code?: string; message: string }) =>
        error.code === "trust_file_invalid" && error.message.includes(file);
      assert.throws(() => inspectAdapter({ folder }, { projectRoot }), refused, name);
      assert.throws(() => trustAdapter(folder), refused, name);
      assert.throws(() => untrustAdapter(folder), refused, name);
      assert.deepEqual(Deno.readFileSync(file), bytes, name);
    }
    Deno.removeSync(file);
    Deno.mkdirSync(file);
    assert.throws(() => readTrustFile(file), { code: "trust_file_invalid" });
    if (Deno.build.os !== "windows") {
      assert.throws(() => readTrustFile("/dev/zero"), { code: "trust_file_invalid" });
      Deno.removeSync(file);
      new Deno.Command("mkfifo", { args: [file] }).outputSync();
      assert.throws(() => readTrustFile(file), { code: "trust_file_invalid" });
    }
  }));

Deno.test(
  "a trust file that is a link stays one",
  { ignore: Deno.build.os === "windows" },
  () =>
    inProject(({ folder, file }) => {
      const target = `${dirname(file)}_kept.json`;
      trustAdapter(folder);
      Deno.renameSync(file, target);
      Deno.symlinkSync(target, file);
      untrustAdapter(folder);
      assert.ok(Deno.lstatSync(file).isSymlink);
      assert.deepEqual(readTrustFile(target).adapters, {});
    }),
);

Deno.test("a writer waits for another one, so no entry is lost", () =>
  inProject(async ({ folder, file }) => {
    trustAdapter(folder);
    const module = new URL("../../../lib/adapter/trust.ts", import.meta.url).href;
    const code = `import { changeTrustFile } from ${JSON.stringify(module)};
      Deno.writeTextFileSync("${file}.started", "");
      changeTrustFile((adapters) => {
        adapters["0".repeat(64)] = { name: "a", permissions: { net: [], read: [], env: [] } };
      });
      Deno.writeTextFileSync("${file}.done", "");`;
    const args = ["eval", "--no-check", code];
    let other: Deno.ChildProcess;
    changeTrustFile((adapters) => {
      other = new Deno.Command(Deno.execPath(), { args, stdout: "null" }).spawn();
      while (!existsSync(`${file}.started`)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      // Without a lock the other writer ends meanwhile, and the entry that it wrote is lost.
      for (let i = 0; i < 50 && !existsSync(`${file}.done`); i++) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
      adapters["1".repeat(64)] = { name: "b", permissions: { net: [], read: [], env: [] } };
    });
    assert.ok((await other!.status).success);
    assert.deepEqual(Object.values(readTrustFile(file).adapters).map(({ name }) => name).sort(), [
      "a",
      "b",
      "my-codec",
    ]);
  }));

Deno.test("a change that fails leaves the file", () =>
  inProject(({ folder, file }) => {
    trustAdapter(folder);
    const bytes = Deno.readFileSync(file);
    assert.throws(() =>
      changeTrustFile((adapters) => {
        for (const digest of Object.keys(adapters)) delete adapters[digest];
        throw new Error("stopped");
      }), { message: "stopped" });
    assert.deepEqual(Deno.readFileSync(file), bytes);
  }));
