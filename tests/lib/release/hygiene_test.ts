/** Notices, bill of materials and citation agree with the lock file and the version; stored bundles stay valid. */
import assert from "node:assert/strict";
import { join } from "node:path";
import config from "../../../deno.json" with { type: "json" };
import { fullLock, packageOf, runtimeLock } from "../../../lib/release/packages.ts";
import { programFiles } from "../../../lib/release/program.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { inFolder } from "../../support/cli.ts";
import { ROOT_PATH } from "../../support/paths.ts";

const read = (path: string) => Deno.readTextFileSync(join(ROOT_PATH, path));

Deno.test("the bill of materials has every package of the lock file with its digest: run deno task notices", () => {
  const { components, metadata } = JSON.parse(read("sbom.cdx.json"));
  assert.equal(metadata.component.version, config.version);
  const locked = Object.entries(fullLock().npm).map(([key, { integrity }]) => {
    const { name, version } = packageOf(key);
    const digest = Uint8Array.from(atob(integrity.replace("sha512-", "")), (byte) => byte.charCodeAt(0));
    return `${name}@${version} ${digest.toHex()}`;
  });
  const listed = components.map((component: { name: string; version: string; hashes: { content: string }[] }) =>
    `${component.name}@${component.version} ${component.hashes[0].content}`
  );
  assert.deepEqual(listed.sort(), locked.sort());
  for (const { name, licenses: [{ license, expression }] } of components) {
    assert.match(
      license?.id ?? expression,
      /^(\(MIT AND Zlib\)|MIT OR Apache-2\.0|NIST-Software AND LicenseRef-HDF5|MIT|ISC|0BSD|Unlicense|(Apache|MPL|BSD)-[\w.-]+)$/,
      name,
    );
  }
});

Deno.test("the notices name every package that is shipped, in its version: run deno task notices", () => {
  const notices = read("THIRD_PARTY.md");
  const missing = Object.keys(runtimeLock(programFiles(), ROOT_PATH).npm).map(packageOf)
    .filter(({ name, version }) => !notices.includes(`| ${name} | ${version} |`));
  assert.deepEqual(missing, []);
});

Deno.test("the citation has the version of the program", () => {
  assert.equal(/^version: (.+)$/m.exec(read("CITATION.cff"))?.[1], config.version);
});

Deno.test("the changelog has a section for each release with version and date, newest first", () => {
  const headings = [...read("CHANGELOG.md").matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  for (const heading of headings) assert.match(heading, /^\d+\.\d+\.\d+ - (unreleased|\d{4}-\d\d-\d\d)$/);
  assert.ok(headings[0].startsWith(`${config.version} - `), "the first section is that of the version of the program");
  assert.ok(headings.slice(1).every((heading) => !heading.endsWith("unreleased")));
});

Deno.test("every shipped model, adapter with models, font and image of the page states its licence", () => {
  const folders = [
    ...[...Deno.readDirSync(join(ROOT_PATH, "recipes/models"))].filter(({ name, isDirectory }) =>
      isDirectory && name !== "training"
    )
      .map(({ name }) => `recipes/models/${name}`),
    ...[...Deno.readDirSync(join(ROOT_PATH, "adapters"))].map(({ name }) => `adapters/${name}`).filter((path) => {
      return [...Deno.readDirSync(join(ROOT_PATH, path))].some(({ name }) => name === "models");
    }),
  ];
  assert.ok(folders.length > 10);
  for (const folder of folders) assert.ok(read(`${folder}/LICENSE`).length > 100, folder);
  assert.match(read("ui/fonts/INTER_LICENSE"), /SIL OPEN FONT LICENSE/i);
  assert.match(read("ui/pictures/LICENSE"), /recipes\/photographs\/manifest\.json/);
  assert.match(read("ui/fonts/JETBRAINS_MONO_LICENSE"), /SIL OPEN FONT LICENSE/i);
});

Deno.test("every shipped image, network, font and array has a licence beside it, or in the manifest of its dataset", () => {
  const assets = programFiles().filter((path) => /\.(png|jpe?g|onnx|woff2?|ttf|npy|npz|bin|gz)$/.test(path))
    .filter((path) => !path.startsWith("recipes/figures/")); // Drawn by svc: under the licence of the program.
  assert.ok(assets.length > 40);
  const unlicensed = assets.filter((path) => {
    const folders = path.split("/").slice(0, -1).map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    const texts = folders.flatMap((folder) => [...Deno.readDirSync(join(ROOT_PATH, folder))].map(({ name }) => name));
    if (texts.some((name) => /(^|_)LICENSE$|^OFL\.txt$/.test(name))) return false;
    const { license } = JSON.parse(read(`${folders.at(-1)}/manifest.json`));
    const picture = license.pictures[path.split("/").at(-1)!.replace(/\.\w+$/, "")];
    return !(picture.license.length > 3 && picture.author.length > 3);
  });
  assert.deepEqual(unlicensed, []);
});

Deno.test(
  "a bundle of each schema version verifies, and an altered byte of it does not",
  inFolder(async (folder) => {
    const bundles = join(ROOT_PATH, "tests/data/bundles");
    const workspace = openWorkspace({ projectRoot: folder, stateDir: join(folder, ".svc") });
    const versions = [...Deno.readDirSync(bundles)].map(({ name }) => name).sort();
    assert.deepEqual(versions, ["schema_1"]);
    for (const version of versions) {
      const from = join(bundles, version), runId = JSON.parse(Deno.readTextFileSync(join(from, "summary.json"))).run_id;
      const to = join(workspace.runs, runId);
      copyFolder(from, to);
      assert.equal((await verifyRun(workspace, runId)).status, "valid", version);
      Deno.writeTextFileSync(join(to, "recipe.authored.json"), " ", { append: true });
      assert.equal((await verifyRun(workspace, runId)).status, "invalid", version);
    }
  }),
);

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(join(from, name), join(to, name));
    else Deno.copyFileSync(join(from, name), join(to, name));
  }
}
