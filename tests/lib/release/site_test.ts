/** The site of the documents: every page with navigation and a search, and no address but its own. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { buildSite, pageText, sidebarOf } from "../../../lib/release/site.ts";
import { needs } from "../../support/needs.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { sizeOf } from "../../support/sample.ts";
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

const npm = await new Deno.Command("npm", { args: ["view", "vitepress@1.6.4", "version"], stdin: "null" }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "the site is built: pages, images and linked files are there, and nothing is loaded from elsewhere",
  ...needs("npm, and a registry with vitepress", npm),
  async fn() {
    const out = temporaryFolder("svc-site-");
    // The length of all pages takes most of the time; the smaller ones link to each other, to larger ones and to files.
    assert.ok(await buildSite(out, "/", sizeOf(6_000, Infinity)) > sizeOf(35, 60));
    const start = await Deno.readTextFile(join(out, "index.html"));
    assert.match(start, /First sweep and figure/);
    assert.doesNotMatch(start, /(?:src|href)="https?:/);
    assert.match(
      await Deno.readTextFile(join(out, "docs/reference/operations/hardware.html")),
      /hardware\.receiver_iq_imbalance/,
    );
    assert.equal(
      await Deno.readTextFile(join(out, "LICENSE")),
      await Deno.readTextFile(join(ROOT_PATH, "LICENSE")),
    );
  },
});
