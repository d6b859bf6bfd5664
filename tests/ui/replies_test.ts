/** Replies that come late, in another order, or not at all: the latest question of a view always gets its answer. */
import assert from "node:assert/strict";
import { browserTest, type Scene } from "./browser.ts";
import { FILES, findText, LINK, openLink, press, runOnce } from "./editor_scene.ts";
import type { Request, Route } from "./playwright.ts";

/** A reply of the server that waits for its release. */
function held() {
  const asked = Promise.withResolvers<void>(), released = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<Request>();
  return {
    asked: asked.promise,
    async hold(route: Route): Promise<void> {
      const response = await route.fetch();
      asked.resolve();
      await released.promise;
      await route.fulfill({ response });
      sent.resolve(route.request());
    },
    /** Resolves when the page has painted what it makes of the reply, unless it has given the request up. */
    async release({ page }: Scene): Promise<void> {
      released.resolve();
      const request = await sent.promise;
      if (request.failure() === null) await (await request.response())!.finished();
      await page.evaluate("new Promise((resolve) => setTimeout(() => requestIdleCallback(() => resolve()), 100))");
    },
  };
}

browserTest("an answer to an older question does not replace the latest one", async (scene) => {
  const { page } = scene, strict = held();
  await scene.route("**/api/recipe/check", (route) => {
    const { recipe, mode } = route.request().postDataJSON();
    return recipe.name === "link" && mode === "strict" ? strict.hold(route) : route.continue();
  });
  await openLink(scene);
  await strict.asked;
  await page.getByRole("tab", { name: "Problems", exact: true }).click();
  await page.getByRole("combobox", { name: "Check" }).selectOption("compat");
  const warning = page.locator(".dock li").filter({ hasText: "colour" }).getByText("warning", { exact: true });
  await warning.waitFor();
  await strict.release(scene);
  assert.ok(await warning.isVisible(), "The strict check found an error, and is no longer asked for");
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
}, { files: { "recipes/link.yaml": LINK.replace("metadata:", "colour: red\nmetadata:") } });

/** Ways in which a server gives no answer for a moment. */
const LOST: readonly ((route: Route) => Promise<void>)[] = [
  (route) => route.abort("connectionreset"),
  (route) => route.fulfill(refusal(503, "server_busy")),
  (route) => route.fulfill(refusal(408, "request_timeout")),
];
const refusal = (status: number, code: string) => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ status, code, title: code, detail: "Cannot answer now" }),
});
/** Requests that change the server; they are sent once. */
const COMMANDS = /\/api\/run-jobs$/;

browserTest("each view gets its answer, though the server answers no question at once", async (scene) => {
  const { page, open } = scene, seen = new Set<string>(), lost: string[] = [];
  await scene.route("**/api/**", async (route) => {
    const request = route.request(), { pathname } = new URL(request.url());
    const question = `${request.method()} ${pathname} ${request.postData() ?? ""}`;
    const command = request.method() === "POST" && COMMANDS.test(pathname);
    if (command || pathname === "/api/events" || seen.has(question)) return await route.continue();
    seen.add(question);
    lost.push(pathname);
    await LOST[seen.size % LOST.length](route);
  });
  await openLink(scene);
  await page.getByText("No problems: the recipe is valid").waitFor();
  await page.getByRole("tab", { name: /^Raw JSON/ }).click();
  const view = page.getByRole("combobox", { name: "View" }),
    readOnly = page.locator('.cm-content[aria-readonly="true"]');
  await view.selectOption("normalised");
  await readOnly.getByText("schema_version").first().waitFor();
  await view.selectOption("effective");
  await readOnly.getByText("data_plane_backend").first().waitFor();
  await findText(scene, "carrier_frequency_ghz");
  await readOnly.getByText("carrier_frequency_ghz").first().waitFor();
  await view.selectOption("difference");
  await page.getByRole("cell", { name: /carrier_frequency_ghz/ }).waitFor();
  await page.getByRole("tab", { name: "Plan" }).click();
  await page.getByRole("cell", { name: "metrics.bit_error_rate" }).first().waitFor();
  await page.getByRole("tab", { name: "Matrix" }).click();
  await press(scene, "Run");
  await page.getByRole("tab", { name: "Results", selected: true }).waitFor();
  await page.locator(".result .headline dd[title]").first().waitFor();
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("cell", { name: "job_completed" }).waitFor();
  await open("#/runs");
  await page.getByRole("link", { name: /link/ }).first().click();
  await page.getByRole("tab", { name: /Artifacts/ }).click();
  await press(scene, "Verify");
  await page.getByText(/No difference|checks|verified/i).first().waitFor();
  for (const path of ["/api/recipe", "/api/recipe/check", "/api/recipe/plan", "/api/recipe/diff", "/api/runs"]) {
    assert.ok(lost.includes(path), `${path} was asked, and not answered at first`);
  }
}, { files: FILES, allow: [/Failed to load resource/, /ERR_CONNECTION_RESET/] });

browserTest("a late list of jobs, and late events of a run, take nothing back", async (scene) => {
  const { page } = scene, list = held();
  let lists = 0;
  await scene.route(
    "**/api/run-jobs",
    (route) => route.request().method() === "GET" && lists++ === 0 ? list.hold(route) : route.continue(),
  );
  // As if it had been asked for at the first step: later events come with the stream alone.
  await scene.route(/\/api\/run-jobs\/[^/]+\?event_limit/, async (route) => {
    const response = await route.fetch(), job = await response.json();
    const events = job.events.filter(({ kind }: { kind: string }) => kind !== "step_completed");
    await route.fulfill({ response, json: { ...job, events } });
  });
  await openLink(scene);
  await list.asked;
  const late = page.waitForResponse(/\/api\/run-jobs\/[^/]+\?event_limit/);
  await runOnce(scene);
  await late;
  await list.release(scene);
  assert.ok(await page.locator('.bar [role="tab"][aria-selected="true"]').getByText("completed").isVisible());
  assert.equal(await page.locator('.block[data-state="completed"]').count(), 5);
}, { files: FILES, axe: false });

browserTest("a part that comes between a painting and its effects is shown", async (scene) => {
  const { page } = scene, asked = Promise.withResolvers<string>(), released = Promise.withResolvers<void>();
  await openLink(scene);
  await page.getByText("No problems: the recipe is valid").waitFor();
  await scene.route(/\/code-\d+\.js$/, async (route) => {
    asked.resolve(route.request().url());
    await released.promise;
    await route.continue();
  });
  await page.getByRole("tab", { name: /^Raw JSON/ }).click();
  const part = await asked.promise;
  // Effects of the next painting wait until the part has come.
  await page.evaluate(`
    globalThis.waiting = [];
    globalThis.own = [setTimeout, requestAnimationFrame];
    [globalThis.setTimeout, globalThis.requestAnimationFrame] = own.map(() => (call) => waiting.push(call));
    const view = document.querySelector('.raw-tools select');
    view.value = "normalised";
    view.dispatchEvent(new Event("change", { bubbles: true }));`);
  released.resolve();
  await page.evaluate(`import(${JSON.stringify(part)}).then(() => {
    [globalThis.setTimeout, globalThis.requestAnimationFrame] = own;
    waiting.forEach((call) => setTimeout(call));
  })`);
  await page.locator('.cm-content[aria-readonly="true"]').getByText("schema_version").first().waitFor();
}, { files: FILES });
