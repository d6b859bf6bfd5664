/** The shipped recipes pass strict lint without a warning. */
import assert from "node:assert/strict";
import { ROOT_PATH } from "../support/paths.ts";
import { sharedSession } from "../support/session.ts";

/** All recipes below a folder; models have manifests and no recipes. */
function* recipesBelow(folder: URL): Iterable<URL> {
  for (const entry of [...Deno.readDirSync(folder)].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name === "models" || entry.name === "scaffolds") continue;
    if (entry.isDirectory) yield* recipesBelow(new URL(`${entry.name}/`, folder));
    else if (entry.name.endsWith(".yaml")) yield new URL(entry.name, folder);
  }
}

const shared = sharedSession({ projectRoot: ROOT_PATH });
const SHIPPED = [...recipesBelow(new URL("../../recipes/", import.meta.url))];

Deno.test("there are recipes to lint", () => assert.ok(SHIPPED.length >= 9));

for (const url of SHIPPED) {
  shared.test(`lint: ${url.pathname.split("/recipes/").at(-1)}`, async ({ recipes }) => {
    const { status, issues, profiles } = await recipes.lint(await Deno.readTextFile(url));
    assert.deepEqual(issues.filter(({ severity }) => severity !== "info"), []);
    assert.equal(status, "passed");
    assert.ok(profiles.length > 0);
  });
}
