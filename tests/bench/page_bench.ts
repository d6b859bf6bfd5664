/**
 * The page in a browser: how long until the first block stands, and from an edit to the frame that shows it, with sixty blocks.
 * Times are of this machine and mean something beside each other only.
 */
import { join } from "node:path";
import { putBuiltPage } from "../support/built_page.ts";
import { serve } from "../support/served.ts";
import { CHROMIUM, chromium } from "../ui/playwright.ts";
import { median, ms, row, sized } from "./measure.ts";

const EDITS = sized(30, 2), VISITS = sized(5, 1);

const SIXTY = `schema_version: 1
name: sixty
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
${
  Array.from({ length: 19 }, (_, at) =>
    `  - {id: mapper_${at}, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: link_${at}, op: wireless.channel, inputs: {symbols: mapper_${at}.symbols}}
  - {id: demapper_${at}, op: demodulation.digital_demodulate, inputs: {rx_symbols: link_${at}.rx_symbols}}`).join("\n")
}
  - {id: last, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: demapper_0.bits}}
  - {id: more, op: channel.bit_boundary, inputs: {bits: data.bits}}
`;

/** Types into a field and answers when the frame after it is painted, over and over; milliseconds. */
const EDIT = `(async () => {
  const field = document.getElementById("param-link_0-snr_db");
  const took = [];
  for (let turn = 0; turn < ${EDITS}; turn++) {
    const began = performance.now();
    field.value = String(turn % 10);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    took.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 30));
  }
  return took;
})()`;

/** Prints the median of some times and the longest. */
const tell = (what: string, times: number[]) => row(what, ms(median(times)), `at most ${ms(Math.max(...times))}`);

async function measurePage(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "svc-page-bench-" });
  try {
    await Deno.mkdir(join(folder, "recipes"));
    await Deno.writeTextFile(join(folder, "recipes/sixty.yaml"), SIXTY);
    await putBuiltPage(join(folder, ".svc"));
    await using server = await serve(folder);
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    // On a loaded machine a page may need more than the 30 s that the driver gives by default.
    const open = async () => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      context.setDefaultTimeout(300_000);
      return await context.newPage();
    };
    try {
      const firsts: number[] = [];
      for (let turn = 0; turn < VISITS; turn++) {
        // A browser that keeps nothing of the page.
        const page = await open(), began = performance.now();
        await page.goto(`${server.url}/#/editor`);
        await page.locator(".graph .block").first().waitFor();
        firsts.push(performance.now() - began);
        await page.context().close();
      }
      tell("first block in an empty browser", firsts);
      const page = await open();
      await page.goto(`${server.url}/#/editor`);
      await page.getByRole("button", { name: "Open file" }).click();
      await page.getByRole("button", { name: /sixty\.yaml/ }).click();
      await page.locator('.block[data-step="link_0"]').click();
      await page.locator("#param-link_0-snr_db").waitFor();
      tell("edit to frame with 60 blocks", await page.evaluate(EDIT) as number[]);
    } finally {
      await browser.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (CHROMIUM !== undefined) await measurePage();
else console.log("skipped: there is no Chromium; install chromium-headless-shell, or name another one in SVC_CHROMIUM");
