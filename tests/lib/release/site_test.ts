/** The site of the documents: every page with navigation and a search, and no address but its own. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { buildSite, copyPages, pageText, sidebarOf } from "../../../lib/release/site.ts";
import { needs } from "../../support/needs.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("the navigation has the groups and pages of the index, each of which exists", async () => {
  const groups = sidebarOf(await Deno.readTextFile(join(ROOT_PATH, "docs/README.md")));
  assert.deepEqual(groups.map(({ text }) => text), ["Tutorials", "Guides", "Reference", "Explanation"]);
  const links = groups.flatMap(({ items }) => items.map(({ link }) => link));
  assert.ok(links.length > 30, String(links.length));
  for (const link of links) assert.ok((await Deno.stat(join(ROOT_PATH, `${link}.md`))).isFile, link);
});

Deno.test("braces stay text, and notes for editors of the source are left out", () => {
  assert.equal(pageText("<!-- note -->\n# {{ a }}\n"), "::: v-pre\n\n# {{ a }}\n\n\n:::\n");
});

Deno.test("all pages are copied, and the images and files that they show or link to lie beside them", async () => {
  const to = temporaryFolder("svc-site-"), { pages, linked } = await copyPages(ROOT_PATH, to);
  assert.ok(pages.length > 60 && linked.length > 2, `${pages.length} pages, ${linked.length} links to files`);
  assert.ok(linked.every((path) => !/\.(md|svg|png)$/.test(path)));
  for (const page of pages) {
    const text = await Deno.readTextFile(join(to, page));
    for (const [, target] of text.matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)) {
      const path = join(dirname(page), target), place = /\.(md|svg|png)$/.test(path) ? path : join("public", path);
      assert.ok(exists(join(to, place)), `${page}: ${target}`);
    }
  }
  const read = (path: string) => Deno.readTextFile(path);
  assert.equal(await read(join(to, "public/LICENSE")), await read(join(ROOT_PATH, "LICENSE")));
});

// VitePress and its installation take 20 s of processor time for any number of pages: `deno task soak whole`.
const npm = FULL_SIZE && await new Deno.Command("npm", { args: ["view", "vitepress@1.6.4", "version"], stdin: "null" })
  .output().then(({ success }) => success, () => false);

if (FULL_SIZE) {
  Deno.test({
    name: "the site is built: pages, images and linked files are there, and nothing is loaded from elsewhere",
    ...needs("npm, and a registry with vitepress", npm),
    async fn() {
      const out = temporaryFolder("svc-site-");
      assert.ok(await buildSite(out) > 60);
      const start = await Deno.readTextFile(join(out, "index.html"));
      assert.match(start, /First sweep and figure/);
      assert.doesNotMatch(start, /(?:src|href)="https?:/);
      assert.match(
        await Deno.readTextFile(join(out, "docs/reference/operations/wireless.html")),
        /wireless\.digital_link/,
      );
      assert.equal(
        await Deno.readTextFile(join(out, "LICENSE")),
        await Deno.readTextFile(join(ROOT_PATH, "LICENSE")),
      );
    },
  });
}
