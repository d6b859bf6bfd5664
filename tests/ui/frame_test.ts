/** The frame: what every view stands in. */
import assert from "node:assert/strict";
import { browserTest } from "./browser.ts";

browserTest("the page opens, and every view has its address and its title", async ({ page, open }) => {
  await open();
  assert.match(await page.title(), /^Editor/);
  await page.locator(".graph .block").first().waitFor();
  const views = page.getByRole("navigation", { name: "Views" });
  for (const name of ["Templates", "Runs", "Compare", "Benchmarks", "Catalog", "Training", "System"]) {
    await views.getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    assert.equal(await page.title(), `${name} · svc`);
  }
  await page.getByRole("row", { name: /deno/ }).first().waitFor();
});
