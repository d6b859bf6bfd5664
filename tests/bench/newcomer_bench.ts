/**
 * Five tasks of a newcomer in the page: clicks, and seconds from the first page or the first click to the answer. A click is
 * a press of the pointer; typing is none.
 */
import { join } from "node:path";
import { putBuiltPage } from "../support/built_page.ts";
import { serve } from "../support/served.ts";
import { LINK } from "../ui/editor_scene.ts";
import { CHROMIUM, chromium, type Locator } from "../ui/playwright.ts";
import { row, sized } from "./measure.ts";

const POINTS = sized(8, 3);
/** A check that cannot hold: fewer bits are expected than come. */
const FAILING = LINK.replace("name: link", "name: failing") +
  "  - {id: check, op: channel.bit_boundary, params: {expected_bit_count: 3}, inputs: {bits: data.bits}}\n";

async function measure(url: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    // On a loaded machine a page may need more than the 30 s that the driver gives by default.
    context.setDefaultTimeout(300_000);
    const page = await context.newPage();
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks++;
      await target.click();
    };
    const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true, disabled: false });
    const result = page.getByRole("article", { name: /^Result of/ });
    const task = async (name: string, before: string, steps: () => Promise<unknown>) => {
      clicks = 0;
      const began = performance.now();
      await steps();
      row(name, `${((performance.now() - began) / 1000).toFixed(1)} s`, `${clicks} clicks, once ${before}`);
    };
    const openFile = async (name: string) => {
      await page.goto(`${url}/#/editor`);
      await button("Open file").click();
      await page.getByRole("button", { name: new RegExp(`recipes/${name}\\.yaml`) }).click();
      await page.getByRole("tab", { name: new RegExp(`^${name}`), selected: true }).waitFor();
      await button("Run").waitFor();
    };
    /** Changes the SNR above the graph, runs, and waits for a result that is another one. */
    const change = async (snr: string, before: string) => {
      await click(page.locator("#short-chan-snr_db"));
      await page.keyboard.press("Control+a");
      await page.keyboard.type(snr);
      await click(button("Run"));
      const metrics = page.locator(".dock .headline");
      while (await metrics.innerText() === before) await page.waitForTimeout(20);
      return await metrics.innerText();
    };

    await task("template to the first figure, from the first page", "2", async () => {
      await page.goto(url);
      await click(page.getByRole("article", { name: "Bits over AWGN" }).getByRole("button", { name: "Open and run" }));
      await page.locator(".sweep-curve .chart-svg svg").waitFor();
    });
    await page.getByText("10 of 10 variants completed").waitFor();
    await openFile("link");
    await button("Run").click();
    await result.locator(".headline").waitFor();
    const first = await result.locator(".headline").innerText();
    await task("another SNR to its result", "5", async () => await change("2", first));
    await task("two runs to their differences", "4", async () => {
      await click(page.getByRole("link", { name: "Compare with the previous run" }));
      await page.getByRole("rowheader", { name: "chan.snr_db" }).waitFor();
    });
    await page.goto(`${url}/#/editor`);
    await task(`sweep of ${POINTS} points to its curve`, "more than 5", async () => {
      await click(page.locator("#short-chan-snr_db"));
      await page.keyboard.press("Control+a");
      await page.keyboard.type(`0:2:${2 * (POINTS - 1)}`);
      await click(button("Run"));
      await page.getByText(`${POINTS} of ${POINTS} variants completed`).waitFor();
      await page.locator(".sweep-curve .chart-svg svg").waitFor();
    });
    await openFile("failing");
    await button("Run").click();
    await task(
      "a failed run to its reason",
      "1",
      () => page.locator(".dock").getByText(/3 expected/).first().waitFor(),
    );
  } finally {
    await browser.close();
  }
}

if (CHROMIUM === undefined) {
  console.log("skipped: there is no Chromium; install chromium-headless-shell, or name another one in SVC_CHROMIUM");
} else {
  const folder = await Deno.makeTempDir({ prefix: "svc-newcomer-" });
  try {
    await Deno.mkdir(join(folder, "recipes"));
    await Deno.writeTextFile(join(folder, "recipes/link.yaml"), LINK);
    await Deno.writeTextFile(join(folder, "recipes/failing.yaml"), FAILING);
    await putBuiltPage(join(folder, ".svc"));
    await using server = await serve(folder);
    // The page is built before the newcomer comes.
    await (await fetch(server.url)).body?.cancel();
    await measure(server.url);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
