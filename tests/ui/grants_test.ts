import assert from "node:assert/strict";
import { scaffoldFiles } from "../../lib/adapter/scaffold.ts";
import { svc } from "../support/cli.ts";
import { browserTest } from "./browser.ts";

const { files } = await scaffoldFiles("bits", "my-codec");
files["svc_adapter.yaml"] = files["svc_adapter.yaml"].replace(/^# permissions: .*$/m, "permissions: {env: [MY_LEVEL]}");

browserTest("the provenance of a run names the grants of its adapters", async ({ page, open, folder }) => {
  const grant = ["--adapter", "my-codec", "--grant", "my-codec:env=MY_LEVEL"];
  const ran = await svc([...grant, "recipe", "run", "my-codec/recipe.yaml", "--json"], { cwd: folder });
  assert.equal(ran.code, 0, ran.stdout);
  await open(`#/runs/${ran.json.run_id}/provenance`);
  await page.getByText("Adapter my-codec", { exact: true }).waitFor();
  await page.getByText("may use env=MY_LEVEL, by flag").waitFor();
}, { files: Object.fromEntries(Object.entries(files).map(([path, text]) => [`my-codec/${path}`, text])) });
