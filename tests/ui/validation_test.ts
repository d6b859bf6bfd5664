/** The page of validation cards, and the proofs of an operation. */
import assert from "node:assert/strict";
import { svc } from "../support/cli.ts";
import { browserTest } from "./browser.ts";

const CARD = `id: own
title: Bits of a link of my own
operations: [source.random_bits, modulation.digital_modulate]
reference: {kind: published, citation: A paper, location: table 1, access: read at the Es/N0 of the table}
recipe: ../../recipes/link.yaml
points:
  - {at: {channel.snr_db: 0.0}, metric: channel.ber, expected: 0.1587}
  - {at: {channel.snr_db: 3.0}, metric: channel.ber, expected: 0.0789}
tolerance: {absolute: 0.05}
replication: {replicates: 2}
`;
const LINK = `schema_version: 1
name: link
execution_profile: {id: custom}
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 2000}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: channel, op: wireless.channel, params: {snr_db: 0.0}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: channel.rx_symbols}}
  - {id: evaluation, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: demodulator.bits}}
`;

browserTest(
  "cards show verdict, deviation and curve, and an operation what proves it",
  async ({ page, open, folder, shot, checkAccessibility }) => {
    await open("#/validation");
    await page.getByRole("searchbox", { name: "Find" }).fill("link of my own");
    const row = page.locator('[data-card="own"]');
    await row.getByText("no result", { exact: true }).waitFor();
    assert.equal(await page.locator("[data-card]").count(), 1);
    const run = await svc(["--project-root", folder, "validation", "run", "own", "--json"]);
    assert.equal(run.code, 0, run.stderr);
    const { result_id } = run.json.verdicts[0];
    const { json } = await svc([
      "--project-root",
      folder,
      "validation",
      "list",
      "--operation",
      "source.random_bits",
      "--json",
    ]);
    const { latest } = json.cards.find(({ id }: { id: string }) => id === "own");

    await page.reload();
    await row.getByText("reproduced", { exact: true }).waitFor();
    await row.getByText(latest.largest.text, { exact: true }).waitFor();
    await row.getByRole("img", { name: "Curve: Bits of a link of my own" }).waitFor();
    await page.getByText(/^\d+ of \d+ operations have no card$/).click();
    await page.getByRole("link", { name: "foundation.sam_segment" }).waitFor();
    await checkAccessibility();
    await shot("validation_cards");
    await page.getByRole("searchbox", { name: "Find" }).fill("no such card");
    await page.getByText("No card matches").waitFor();
    await page.getByRole("searchbox", { name: "Find" }).fill("link of my own");
    await page.getByRole("combobox", { name: "Verdict" }).selectOption("reproduced");
    await row.getByRole("link", { name: "Bits of a link of my own" }).click();

    await page.getByRole("heading", { level: 1, name: "Bits of a link of my own" }).waitFor();
    await page.locator("figure.chart svg").first().waitFor();
    // Ratios are set with subscripts, in texts and in the figure.
    const access = page.locator(".facts dd", { hasText: "read at the" });
    assert.deepEqual(await access.locator("sub").allTextContents(), ["s", "0"]);
    const points = page.getByRole("group", { name: "Points" }).getByRole("row");
    assert.equal(await points.filter({ hasText: "within" }).count(), 2);
    await page.getByRole("link", { name: result_id }).waitFor();
    await checkAccessibility();
    await shot("validation_card");

    await open("#/catalog/operations/source.random_bits");
    await page.getByText(`Proved by 1 card, largest deviation ${latest.largest.text}`).waitFor();
    await page.getByRole("group", { name: "Validation cards" }).getByRole("link", { name: "Bits of a link of my own" })
      .waitFor();
    await open("#/catalog/operations/foundation.sam_segment");
    await page.getByText("No validation card").waitFor();
  },
  { files: { "benchmarks/validation/own.yaml": CARD, "recipes/link.yaml": LINK } },
);

browserTest(
  "the first page counts the cards of the program, shows curves of some, and leads to them",
  async (scene) => {
    const { page, open, url, shot, checkAccessibility } = scene;
    const { cards } = await (await fetch(`${url}/api/validation/cards`)).json();
    const reproduced = cards.filter(({ latest }: { latest: { verdict: string } | null }) =>
      latest?.verdict === "reproduced"
    );
    await open("#/start");
    const proof = page.getByRole("region", { name: "Validation" });
    await proof.getByText(`${reproduced.length} of ${cards.length}`, { exact: true }).waitFor();
    assert.equal(await proof.getByRole("article").count(), 3);
    const lowered = await page.locator(".mini-curve text", { hasText: "over Es/N0" }).first().locator(
      "tspan[font-size]",
    )
      .allTextContents();
    assert.deepEqual(lowered, ["s", "0"]);
    for (const curve of await proof.getByRole("img").all()) assert.ok(await curve.locator("circle").count() > 2);
    await checkAccessibility();
    await shot("start_proof");
    const first = proof.getByRole("article").first().getByRole("link"), title = await first.innerText();
    await first.click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.getByText(/^\d+ of \d+ points within, largest deviation|published with the card/).first().waitFor();
    await open("#/start");
    await proof.getByRole("link", { name: "All validation cards" }).click();
    await page.locator('[data-card="aff3ct_qam_rayleigh"]').waitFor();
  },
);
