/**
 * The page in a browser: how long until the first block, the first card of the gallery and the first rows of 500 runs stand, the
 * bytes of the first load, and from an edit to the frame that shows it, with sixty blocks. Times are of this machine and mean
 * something beside each other only.
 */
import { join } from "node:path";
import { endedJob } from "../support/ended_job.ts";
import { putBuiltPage } from "../support/built_page.ts";
import { serve } from "../support/served.ts";
import { CHROMIUM, chromium } from "../ui/playwright.ts";
import { median, ms, row, sized } from "./measure.ts";

const EDITS = sized(30, 2), VISITS = sized(5, 1), RUNS = sized(500, 4);

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

/** A sweep of as many variants as half of the runs. */
const sweep = (name: string) => ({
  name,
  metadata: {
    seed: 1,
    matrix: {
      dimensions: { snr_db: Array.from({ length: RUNS / 2 }, (_, at) => at) },
      step_params: { link: { snr_db: { matrix: "snr_db" } } },
    },
  },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
    { id: "mapper", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    { id: "link", op: "wireless.channel", inputs: { symbols: "mapper.symbols" } },
    { id: "demapper", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "link.rx_symbols" } },
    { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "demapper.bits" } },
  ],
});

/** Bytes of scripts and styles as they were sent, so far. */
const SENT = `performance.getEntriesByType("resource").filter(({ name }) => /\\.(js|css)$/.test(name))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;

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
      /** Milliseconds until an element of an address stands, in browsers that keep nothing of the page. */
      const visits = async (address: string, awaited: string) => {
        const times: number[] = [];
        for (let turn = 0; turn < VISITS; turn++) {
          const page = await open(), began = performance.now();
          await page.goto(`${server.url}/${address}`);
          await page.locator(awaited).first().waitFor();
          times.push(performance.now() - began);
          await page.context().close();
        }
        return times;
      };
      const empty = await visits("api/health", "body");
      tell("an empty page in an empty browser", empty);
      tell("first block in an empty browser", await visits("#/editor", ".graph .block"));
      const lean = await open();
      // The other views are fetched ahead when the page is idle.
      await lean.addInitScript("globalThis.requestIdleCallback = () => 0");
      await lean.goto(`${server.url}/#/editor`);
      await lean.locator(".graph .block").first().waitFor();
      const sent = Number(await lean.evaluate(SENT));
      await lean.context().close();
      row("scripts and styles until the first block", `${(sent / 1000).toFixed(1)} kB`, "as sent, compressed");
      tell("first card of the gallery in an empty browser", await visits("#/templates", ".gallery-card"));
      // A connection that stood idle may be closed by the server just when it is used again.
      using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
      for (const name of ["first_half", "second_half"]) {
        const reply = await fetch(`${server.url}/api/matrix-jobs`, {
          client,
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ recipe: sweep(name) }),
        } as RequestInit);
        const { job_id, ...refusal } = await reply.json();
        if (job_id === undefined) throw new Error(`Cannot run the sweep: ${JSON.stringify(refusal)}`);
        const { state } = await endedJob(server.url, `run-jobs/${job_id}`);
        if (state !== "completed") throw new Error(`The sweep is ${state}`);
      }
      const rows = "#/runs?open=first_half,second_half";
      const found = await visits(rows, ".virtual-body .virtual-row");
      tell(`first rows of ${RUNS} runs in an empty browser`, found);
      row(
        "of these over the empty page",
        ms(median(found) - median(empty)),
        `${(median(found) / median(empty)).toFixed(1)} times`,
      );
      const inside = await open(), lists: number[] = [];
      for (let turn = 0; turn < VISITS; turn++) {
        await inside.goto(`${server.url}/#/system`);
        await inside.locator("#main h1").waitFor();
        const began = performance.now();
        await inside.evaluate(`location.hash = ${JSON.stringify(rows)}`);
        await inside.locator(".virtual-body .virtual-row").first().waitFor();
        lists.push(performance.now() - began);
      }
      await inside.context().close();
      tell(`first rows of ${RUNS} runs in an open page`, lists);
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
