/** Code of a user on the page: the place of its error. */
import { scaffoldFiles } from "../../lib/adapter/scaffold.ts";
import { svc } from "../support/cli.ts";
import assert from "node:assert/strict";
import { browserTest } from "./browser.ts";

const { files } = await scaffoldFiles("operation", "my-amp");
files["amplifier.ts"] = files["amplifier.ts"].replace("symbols.data as Float32Array", "(symbols as any).none.data");
const line = files["amplifier.ts"].split("\n").findIndex((row) => row.includes(".none.data")) + 1;

browserTest("the page of a failed run names the place in the code of an adapter", async ({ page, open, folder }) => {
  const ran = await svc(["--adapter", "my-amp", "recipe", "run", "my-amp/recipe.yaml", "--json"], { cwd: folder });
  assert.equal(ran.code, 1, ran.stdout);
  await open(`#/runs/${ran.json.run_id}`);
  await page.getByText(new RegExp(`\\(my-amp/amplifier\\.ts:${line}:\\d+\\)`)).first().waitFor();
}, { files: Object.fromEntries(Object.entries(files).map(([path, text]) => [`my-amp/${path}`, text])) });
