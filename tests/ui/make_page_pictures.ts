/**
 * Makes `page_editor.png`, `page_benchmark.png` and `page_run.png` in `recipes/figures`: views of the page over a state
 * directory of its own. It needs Chromium, as the tests of the page do. `deno task pictures` runs it.
 */
import { join } from "node:path";
import { startServer } from "../../lib/http/serve.ts";
import { open } from "../../mod.ts";
import { putBuiltPage } from "../support/built_page.ts";
import { CHROMIUM, chromium } from "./playwright.ts";

const PACK = "localization_sensing/nlos_localization_v1";
const RECIPE = "mimo_ofdm_channel_estimation_learned";

const projectRoot = new URL("../..", import.meta.url).pathname;
const stateDir = await Deno.makeTempDir({ prefix: "svc-figure-" });
await putBuiltPage(stateDir);
const svc = await open({ projectRoot, stateDir });
const { result } = await svc.benchmarks.run(PACK);
const text = await Deno.readTextFile(join(projectRoot, `recipes/${RECIPE}.yaml`));
const { rows } = await svc.recipes.runMatrix(text, { points: ["snr_db=10.0"] });
const learned = rows.find(({ selection }) => selection.estimator === "learned_artifact")!;

const server = await startServer({ projectRoot, stateDir, port: 0, log() {} });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const show = (hash: string) => page.goto(`${server.url}/${hash}`);
const keep = (name: string) =>
  page.screenshot({ path: new URL(`../../recipes/figures/page_${name}.png`, import.meta.url).pathname });

await show("#/editor");
await page.getByRole("button", { name: "Open file" }).first().click();
await page.getByRole("button", { name: /recipes\/quickstart\.yaml/ }).first().click();
await page.locator('.block[data-step="wireless_channel"]').click();
await page.getByRole("button", { name: "Run", exact: true }).click();
await page.locator(".strip canvas").last().waitFor();
await keep("editor");

await show(`#/runs/${learned.run_id}/signals`);
await page.getByRole("slider", { name: /^Crosshair of/ }).first().press("Home");
for (let i = 0; i < 33; i++) await page.keyboard.press("ArrowRight");
await keep("run");

await page.emulateMedia({ colorScheme: "dark" });
await show(`#/benchmarks/result/${result.result_id}`);
await page.getByRole("slider", { name: /^Crosshair of/ }).first().press("Home");
await page.keyboard.press("ArrowRight");
await keep("benchmark");

await browser.close();
await server.stop();
svc.close();
await Deno.remove(stateDir, { recursive: true });
