import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { type JsonObject, parseJson, prettyJson, sameValue, type Value } from "../../../lib/contract/json.ts";
import { formatSha256Sums, listFiles, parseSha256Sums } from "../../../lib/run/files.ts";
import { type VerificationReport, verifyBundle, verifyRun } from "../../../lib/run/verify.ts";
import { tables } from "../../support/tables.ts";
import { runSmall, withWorkspace } from "./fixture.ts";

const DATA = tables(import.meta.url);

/** One finished bundle, whose files a body changes and gets back afterwards. */
async function withBundle(
  body: (
    bundle: { directory: string; verify: () => Promise<VerificationReport>; original: Map<string, Uint8Array> },
  ) => Promise<void>,
): Promise<void> {
  await withWorkspace(async (workspace) => {
    const { directory, run_id } = await runSmall(workspace, { pairs: 1 });
    const original = new Map(listFiles(directory).map(({ path }) => [path, Deno.readFileSync(join(directory, path))]));
    await body({ directory, verify: () => verifyBundle(directory, run_id), original });
  });
}

/** Writes SHA256SUMS anew, as someone would who changed a file on purpose. */
function resign(directory: string): void {
  const hashes = new Map<string, string>();
  for (const { path } of listFiles(directory)) {
    if (path !== "SHA256SUMS") hashes.set(path, sha256Hex(Deno.readFileSync(join(directory, path))));
  }
  Deno.writeTextFileSync(join(directory, "SHA256SUMS"), formatSha256Sums(hashes));
}

/** Writes the hash of the summary into the manifest, and all hashes anew. */
function resignSummary(directory: string): void {
  const bytes = Deno.readFileSync(join(directory, "summary.json"));
  edit(directory, "manifest.json", (manifest) => {
    Object.assign(manifest.summary as JsonObject, { sha256: sha256Hex(bytes), size_bytes: bytes.length });
  });
}

function edit(directory: string, name: string, change: (document: JsonObject) => void): void {
  const path = join(directory, name);
  const document = parseJson(Deno.readTextFileSync(path)) as JsonObject;
  change(document);
  Deno.writeTextFileSync(path, prettyJson(document));
  resign(directory);
}

Deno.test("a change of any byte of any file is found", () =>
  withBundle(async ({ directory, verify, original }) => {
    for (const [path, bytes] of original) {
      const last = bytes.length - 1;
      for (const offset of new Set([0, 1, Math.floor(last / 3), Math.floor(last / 2), last - 1, last])) {
        for (const flip of [0x01, 0x80]) {
          const changed = bytes.slice();
          changed[offset] ^= flip;
          Deno.writeFileSync(join(directory, path), changed);
          const report = await verify();
          assert.equal(report.status, "invalid", `${path} at ${offset}`);
          // A wrong line of SHA256SUMS accuses the file that it names.
          assert.ok(
            path === "SHA256SUMS" || report.errors.some(({ file }) => file === path),
            `${path} at ${offset}: ${JSON.stringify(report.errors)}`,
          );
        }
      }
      Deno.writeFileSync(join(directory, path), bytes);
    }
    assert.equal((await verify()).status, "valid");
  }));

Deno.test("a file that was cut, lengthened, emptied, taken away or added is found", () =>
  withBundle(async ({ directory, verify, original }) => {
    for (const [path, bytes] of original) {
      for (
        const changed of [
          bytes.slice(0, -1),
          new Uint8Array([...bytes, 0x20]),
          new Uint8Array([...bytes, 0x0a]),
          new Uint8Array(),
        ]
      ) {
        Deno.writeFileSync(join(directory, path), changed);
        assert.equal((await verify()).status, "invalid", path);
      }
      Deno.removeSync(join(directory, path));
      const report = await verify();
      assert.ok(report.errors.some((item) => item.code === "bundle_file_missing" && item.file === path), path);
      Deno.writeFileSync(join(directory, path), bytes);
    }
    for (const path of ["extra.txt", "artifacts/extra.npz", "artifacts/data_0/extra.npz", "summary.json.tmp"]) {
      Deno.writeTextFileSync(join(directory, path), "x");
      const report = await verify();
      assert.ok(report.errors.some((item) => item.code === "bundle_link_mismatch" && item.file === path), path);
      Deno.removeSync(join(directory, path));
    }
    assert.equal((await verify()).status, "valid");
  }));

Deno.test("a link in the place of an artifact is refused, whatever it points to", () =>
  withBundle(async ({ directory, verify }) => {
    const path = join(directory, "artifacts/data_0/bits.npz");
    Deno.renameSync(path, join(directory, "..", "moved.npz"));
    Deno.symlinkSync(join(directory, "..", "moved.npz"), path);
    const { errors } = await verify();
    assert.ok(
      errors.some(({ code, file }) => code === "bundle_schema_invalid" && file === "artifacts/data_0/bits.npz"),
    );
  }));

/** Changes of a document; places are keys with slashes. */
interface Change {
  set?: JsonObject;
  remove?: string;
  pop?: string;
  reverse?: string;
}
type Case = Change & { file: string; code: string; path: RegExp };

function changeDocument(document: JsonObject, { set = {}, remove, pop, reverse }: Change): void {
  const at = (keys: string[]) => keys.reduce<Value>((value, key) => (value as JsonObject)[key], document) as JsonObject;
  const holder = (place: string) => [at(place.split("/").slice(0, -1)), place.split("/").at(-1)!] as const;
  for (const [place, value] of Object.entries(set)) {
    const [parent, key] = holder(place);
    parent[key] = value;
  }
  if (remove !== undefined) {
    const [parent, key] = holder(remove);
    assert.ok(key in parent);
    delete parent[key];
  }
  if (pop !== undefined) (at(pop.split("/")) as object as Value[]).pop();
  if (reverse !== undefined) (at(reverse.split("/")) as object as Value[]).reverse();
}

Deno.test("what the documents say of each other is checked, even with fresh hashes", () =>
  withBundle(async ({ directory, verify, original }) => {
    for (const { file, code, path, ...change } of DATA.CASES as Case[]) {
      edit(directory, file, (document) => changeDocument(document, change));
      const { status, errors } = await verify();
      const label = `${file} ${path} ${JSON.stringify(change)}`;
      assert.equal(status, "invalid", label);
      assert.ok(
        errors.some((item) => item.code === code && path.test(item.path)),
        `${label}\n${JSON.stringify(errors)}`,
      );
      for (const [name, bytes] of original) Deno.writeFileSync(join(directory, name), bytes);
    }
    assert.equal((await verify()).status, "valid");
  }));

Deno.test("a summary and a manifest that agree on a lie about an artifact do not pass", () =>
  withBundle(async ({ directory, verify }) => {
    const path = "artifacts/data_0/bits.npz";
    edit(directory, "summary.json", (summary) => {
      const [row] = summary.steps as JsonObject[];
      ((row.outputs as JsonObject).bits as JsonObject).sha256 = "0".repeat(64);
    });
    resignSummary(directory);
    edit(directory, "manifest.json", (manifest) => {
      (manifest.artifacts as JsonObject[])[0].sha256 = "0".repeat(64);
      (((manifest.steps as JsonObject[])[0].outputs as JsonObject).bits as JsonObject).sha256 = "0".repeat(64);
    });
    const { errors } = await verify();
    assert.deepEqual(errors.map(({ code, file }) => [code, file]), [["bundle_hash_mismatch", path]]);
  }));

Deno.test("another layout of the same document is no equal document", () =>
  withBundle(async ({ directory, verify }) => {
    for (const name of ["recipe.json", "summary.json", "execution-plan.json"]) {
      const path = join(directory, name);
      const text = Deno.readTextFileSync(path);
      Deno.writeTextFileSync(path, text.replace('"schema_version": 1,', '"schema_version": 1,  '));
      resign(directory);
      assert.ok((await verify()).errors.some(({ code, file }) => code === "bundle_schema_invalid" && file === name));
      Deno.writeTextFileSync(
        path,
        text.replace('"schema_version": 1,', '"schema_version": 2,\n  "schema_version": 1,'),
      );
      resign(directory);
      assert.ok((await verify()).errors.some(({ code, file }) => code === "bundle_schema_invalid" && file === name));
      Deno.writeTextFileSync(path, text);
    }
  }));

Deno.test("documents of any shape give findings, never an exception", () =>
  withBundle(async ({ directory, verify, original }) => {
    const values: Value[] = [null, 1, "x", [], {}, [null], [{}], { steps: 1 }, true];
    for (
      const name of ["summary.json", "manifest.json", "execution-plan.json", "recipe.json", "recipe.authored.json"]
    ) {
      const document = parseJson(new TextDecoder().decode(original.get(name)!)) as JsonObject;
      for (const value of values) {
        Deno.writeTextFileSync(join(directory, name), prettyJson(value));
        assert.equal((await verify()).status, "invalid");
        for (const key of Object.keys(document).filter((key) => !sameValue(document[key], value))) {
          Deno.writeTextFileSync(join(directory, name), prettyJson({ ...document, [key]: value }));
          assert.equal((await verify()).status, "invalid", `${name} ${key} ${prettyJson(value)}`);
        }
      }
      Deno.writeFileSync(join(directory, name), new Uint8Array([0xff, 0xfe, 0x00]));
      assert.equal((await verify()).status, "invalid");
      Deno.writeFileSync(join(directory, name), original.get(name)!);
    }
  }));

Deno.test("bundles without the later execution fields are still accepted", () =>
  withBundle(async ({ directory, verify }) => {
    edit(directory, "summary.json", (summary) => {
      delete summary.execution;
      delete (summary.execution_plan as JsonObject).cache;
    });
    edit(directory, "manifest.json", (manifest) => {
      delete manifest.execution;
      delete (manifest.execution_plan as JsonObject).cache;
    });
    resignSummary(directory);
    assert.deepEqual((await verify()).errors, []);
  }));

Deno.test("SHA256SUMS is what sha256sum -c reads, with odd names escaped", () => {
  const hashes = new Map([["b", "1".repeat(64)], ["a\\b\nc\r", "2".repeat(64)], ["😀", "3".repeat(64)], [
    "\uffee",
    "4".repeat(64),
  ]]);
  const text = formatSha256Sums(hashes);
  assert.equal(
    text,
    `\\${"2".repeat(64)}  a\\\\b\\nc\\r\n${"1".repeat(64)}  b\n${"4".repeat(64)}  \uffee\n${"3".repeat(64)}  😀\n`,
  );
  assert.deepEqual(new Map([...parseSha256Sums(text)].sort()), new Map([...hashes].sort()));
});

Deno.test("verify asks for a run that is there and has ended", () =>
  withWorkspace(async (workspace) => {
    await assert.rejects(verifyRun(workspace, "nothing"), (error: SvcError) => error.code === "run_not_found");
    let during: Promise<unknown> | undefined;
    await runSmall(workspace, {
      fake: {
        afterStep: () => {
          const [id] = [...Deno.readDirSync(workspace.runs)].map(({ name }) => name).filter((name) =>
            !name.startsWith(".")
          );
          during ??= assert.rejects(
            verifyRun(workspace, id),
            (error: SvcError) => error.code === "run_still_executing",
          );
        },
      },
    });
    assert.ok(during);
    await during;
  }));
