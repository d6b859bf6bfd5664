/** What tests of the editor share: a link of a few steps, its draft in the browser's database, its bundles on the disk. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { endedJob } from "../support/ended_job.ts";
import { eventually, type Scene } from "./browser.ts";

/** A link of 2000 bits; steps stand in plan order. */
export const LINK = `schema_version: 1
name: link
execution_profile: {id: custom, version: 1}
metadata: {seed: 23, ui_configured: true}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 100, batch_size: 20}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: data.bits}}
  - {id: chan, op: wireless.channel, params: {channel: awgn, snr_db: 6.0}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: chan.rx_symbols}}
  - {id: ber, op: metrics.bit_error_rate, params: {label: ber}, inputs: {reference: data.bits, candidate: demodulator.bits}}
`;
export const FILES = { "recipes/link.yaml": LINK };
/** The browser logs every refusal of the server, also those that a test asks for. */
export const REFUSED = /Failed to load resource: the server responded with a status of 4/;

export async function openLink(scene: Scene): Promise<void> {
  const { page, open } = scene;
  await open();
  await openFile(scene, "link");
  await page.locator('.block[data-step="chan"]').waitFor();
}

/** The text of the working copy of a name, as the draft keeps it. */
export async function draft({ page }: Scene, name = "link"): Promise<string> {
  const texts = await page.evaluate(`new Promise((resolve) => {
    const request = indexedDB.open("svc", 1);
    request.onsuccess = () => {
      const all = request.result.transaction("drafts").objectStore("drafts").getAll();
      all.onsuccess = () => resolve(all.result.map(({ text }) => text));
    };
  })`) as string[];
  return texts.find((text) => text.includes(`"name":"${name}"`)) ?? "";
}

/** Waits until the draft of a copy has a piece of text. */
export async function drafted(scene: Scene, wanted: RegExp, name = "link"): Promise<string> {
  return await eventually(async () => {
    const text = await draft(scene, name);
    assert.match(text, wanted);
    return text;
  });
}

/** Waits until the draft of a copy is a text, to the byte. */
export const draftIs = (scene: Scene, text: string, name = "link") =>
  drafted(scene, new RegExp(`^${RegExp.escape(text)}$`), name);

/** The bundles of a project, in the order of their names; names with a dot are the server's own. */
export const bundles = ({ folder }: Scene): string[] =>
  [...Deno.readDirSync(join(folder, ".svc/runs"))].map(({ name }) => name).filter((name) => !name.startsWith("."))
    .sort();

/** The summary of a bundle. */
export const summaryOf = async ({ folder }: Scene, run: string) =>
  JSON.parse(await Deno.readTextFile(join(folder, ".svc/runs", run, "summary.json")));

/**
 * Finds the first place of a piece of a text with the text editor's own search, and selects it. The editor draws only the
 * lines near the visible ones: others are not in the page before it scrolls to them.
 */
export async function findText({ page }: Scene, found: string): Promise<void> {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+f");
  // The search listens to keys, which filling in has none of.
  await page.locator(".cm-search input[name=search]").pressSequentially(found);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
}

/** Types over the first place of a piece of the raw text. */
export async function replaceText(scene: Scene, found: string, by: string): Promise<void> {
  await findText(scene, found);
  await scene.page.keyboard.type(by);
}

/** Opens a file of recipes/ by its name, which is the recipe's too. */
export async function openFile({ page }: Scene, name: string): Promise<void> {
  await page.getByRole("button", { name: "Open file" }).click();
  await page.getByRole("button", { name: new RegExp(`recipes/${name}\\.yaml`) }).click();
  await page.getByRole("tab", { name: new RegExp(`^${name}`), selected: true }).waitFor();
}

export const field = ({ page }: Scene, step: string, param: string) => page.locator(`#param-${step}-${param}`);
export const runState = ({ page }: Scene, state: string) =>
  page.locator('.bar [role="tab"][aria-selected="true"]').getByText(state);

/** Presses a button of the page. */
export const press = ({ page }: Scene, name: string) => page.getByRole("button", { name, exact: true }).click();

/** Runs the present recipe and waits for its end. @returns the summary of its bundle */
export async function runOnce(scene: Scene, state = "completed"): Promise<Awaited<ReturnType<typeof summaryOf>>> {
  const { page, url } = scene;
  // A short run may end before anyone sees it run: the server tells which job it is, and when it ended.
  const reply = page.waitForResponse((one) =>
    one.request().method() === "POST" && new URL(one.url()).pathname === "/api/run-jobs"
  );
  await press(scene, "Run");
  const { job_id } = await (await reply).json();
  const { run_id, state: ended } = await endedJob(url, `run-jobs/${job_id}`);
  assert.equal(ended, state);
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
  await runState(scene, state).waitFor();
  return await summaryOf(scene, run_id);
}
