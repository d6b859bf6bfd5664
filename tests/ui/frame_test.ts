/** The frame: what every view stands in. */
import assert from "node:assert/strict";
import { isSampled } from "../support/sample.ts";
import { within } from "../support/until.ts";
import { browserTest, COUNT_SHIFTS, ENDED_SERVER, eventually } from "./browser.ts";
import { LONG } from "../support/long_recipe.ts";

const VIEWS = ["Gallery", "Runs", "Compare", "Benchmarks", "Validation", "Data", "Catalog", "Training", "System"];

browserTest("the page opens, and every view has its address and its title", async ({ page, open, until, shot }) => {
  await open();
  await until("document.title.startsWith('Editor')");
  await page.locator(".graph .block").first().waitFor();
  await shot("editor");
  const views = page.getByRole("navigation", { name: "Views" });
  for (const name of VIEWS) {
    await views.getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await until(`document.title === ${JSON.stringify(`${name} · svc`)}`);
  }
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Training" }).waitFor();
  await page.goForward();
  await page.getByRole("row", { name: /runtime/ }).first().waitFor();
});

browserTest(
  "the built page is kept, and a later start needs no network",
  async ({ page, open, folder, kill, restart }) => {
    await open("#/system");
    const built = async () => {
      const found: Record<string, number> = {};
      for await (const { name } of Deno.readDir(`${folder}/.svc/ui`)) {
        found[name] = (await Deno.stat(`${folder}/.svc/ui/${name}/main.js`)).mtime!.getTime();
      }
      return found;
    };
    const before = await built();
    assert.equal(Object.keys(before).length, 1);
    await kill();
    await restart();
    await page.reload();
    await page.getByRole("row", { name: /runtime/ }).first().waitFor();
    assert.deepEqual(await built(), before);
  },
  { serve: {}, axe: false, allow: [ENDED_SERVER] },
);

browserTest("a few presses of Tab lead to what a view is for", async ({ page, open, url }) => {
  const inMain = "document.getElementById('main').contains(document.activeElement)";
  const onSkip = "document.activeElement.matches('.skip')";
  const reach = async () => {
    for (let presses = 1; presses < 40; presses++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(inMain)) return presses;
    }
    return Infinity;
  };
  for (const view of ["start", ...VIEWS.map((name) => name === "Gallery" ? "templates" : name.toLowerCase())]) {
    await page.goto("about:blank");
    await page.goto(`${url}/#/${view}`);
    await page.locator("#main :is(button, input, select, summary, a):visible").first().waitFor();
    const presses = await reach();
    assert.ok(presses <= 16, `${view}: ${presses} presses of Tab through the frame`);
    if (view === "start") assert.equal(await page.evaluate("document.activeElement.textContent"), "Open and run");
    // Back to the first stop of the page, the link that skips the frame.
    for (let back = 1; back < presses; back++) await page.keyboard.press("Shift+Tab");
    assert.ok(await page.evaluate(onSkip), `${view}: the first stop is the link that skips the frame`);
    await page.keyboard.press("Enter");
    await eventually(async () => assert.equal(await page.evaluate("document.activeElement.id"), "main", view));
    assert.equal(await reach(), 1, `${view}: the first control stands behind the link that skips the frame`);
  }
  await open("#/start");
});

browserTest("a narrow window keeps the view that is open in sight", async ({ open, until }) => {
  const inSight = `(() => {
    const { left, right } = document.querySelector(".rail [aria-current]").getBoundingClientRect();
    return left >= 0 && right <= innerWidth;
  })()`;
  for (const view of ["start", "system", "compare", "training", "runs"]) {
    await open(`#/${view}`);
    await until(`document.querySelector(".rail [aria-current]").hash === "#/${view}"`);
    await until(inSight);
  }
}, { viewport: { width: 390, height: 844 } });

browserTest("system, light and dark are followed, live and over reloads", async ({ page, open }) => {
  await open("#/system");
  const grounds = () =>
    page.evaluate(`[".topbar", ".rail", "body", ".scroll"].map((one) =>
      getComputedStyle(document.querySelector(one)).backgroundColor).concat(getComputedStyle(document.documentElement).backgroundColor)`);
  await page.locator(".scroll").first().waitFor();
  const light = await grounds();
  await page.emulateMedia({ colorScheme: "dark" });
  const isDark = (colour: string) => colour === "rgba(0, 0, 0, 0)" || /rgb\((\d+)/.exec(colour)![1].length < 3;
  const dark = await eventually(async () => {
    const found = await grounds();
    assert.notDeepEqual(found, light);
    assert.ok((found as string[]).every(isDark), String(found));
    return found;
  });
  const choice = page.getByRole("banner").getByRole("combobox", { name: "Theme" });
  const become = (colours: unknown) => eventually(async () => assert.deepEqual(await grounds(), colours));
  await choice.selectOption("light");
  await become(light);
  await page.reload();
  await page.locator(".scroll").first().waitFor();
  await become(light);
  await choice.selectOption("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await become(dark);
});

browserTest("the palette finds operations, templates and views, and gives the focus back", async ({ page, open }) => {
  await open("#/system");
  const help = page.getByRole("button", { name: "Keyboard", exact: true });
  await help.focus();
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Find" });
  await input.waitFor();
  await input.fill("repetition_decoder");
  await page.getByRole("option", { name: /channel\.repetition_decoder/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("button[aria-label=Keyboard]:focus").waitFor();
  // Keys that follow at once are not lost: each closing is over before the next opening.
  for (let i = 0; i < 10; i++) {
    for (const [open, dialog] of [["Control+k", "Find"], ["?", "Keyboard"]]) {
      await page.keyboard.press(open);
      await page.getByRole("dialog", { name: dialog }).waitFor();
      await page.keyboard.press("Escape");
    }
  }
  await page.keyboard.press("Control+k");
  await input.fill("Image codec over an ideal");
  await page.getByRole("option", { name: /^Template/ }).first().waitFor();
  await input.fill("repetition_decoder");
  await page.getByRole("option", { name: /channel\.repetition_decoder/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Repetition decode" }).waitFor();
  assert.match(page.url(), /catalog\/operations\/channel\.repetition_decoder/);
});

browserTest(
  "keys: the sheet, going to views, the filter, the skip link",
  async ({ page, open, checkAccessibility }) => {
    await open("#/system");
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "Skip to content" }).press("Enter");
    await page.locator("#main:focus").waitFor();
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keyboard" });
    await sheet.waitFor();
    await checkAccessibility();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "hidden" });
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    await page.getByRole("searchbox").waitFor();
    await page.keyboard.press("/");
    // Letters belong to whoever types.
    await page.keyboard.type("gc?");
    await eventually(async () => assert.equal(await page.getByRole("searchbox").inputValue(), "gc?"));
    assert.equal(await sheet.isVisible(), false);
  },
);

browserTest("a degraded server is announced with its reason until it recovers", async ({ page, open, route }) => {
  let degraded = true;
  await page.clock.install();
  await route("**/api/health", async (asked) => {
    const response = await asked.fetch();
    const reason = { code: "storage_unavailable", message: "Cannot use the storage of the server: disk full" };
    await asked.fulfill({
      response,
      json: { ...await response.json(), ...degraded && { status: "degraded", reason } },
    });
  });
  await open("#/system");
  const banner = page.getByRole("alert").filter({
    hasText: "degraded: Cannot use the storage of the server: disk full.",
  });
  await banner.waitFor();
  degraded = false;
  // A hidden timer that did not run may wait once more.
  for (let turn = 0; turn < 3 && await banner.isVisible(); turn++) {
    await page.clock.runFor(11_000);
    await page.waitForTimeout(200);
  }
  await banner.waitFor({ state: "hidden" });
}, { axe: false });

const TOKEN = "0123456789abcdef0123456789abcdef";

browserTest("a server with a token is asked for it once", async ({ page, open, checkAccessibility }) => {
  await open("#/system");
  const dialog = page.getByRole("dialog", { name: /needs a token/ });
  await dialog.waitFor();
  await checkAccessibility();
  await dialog.getByLabel("Token").fill("not the token");
  await page.keyboard.press("Enter");
  await dialog.getByText("refused the token").waitFor();
  await dialog.getByLabel("Token").fill(TOKEN);
  await page.keyboard.press("Enter");
  await page.getByRole("row", { name: /runtime/ }).first().waitFor();
  assert.equal(await dialog.count(), 0);
  assert.equal(await page.getByText("does not answer").count(), 0);
}, { axe: false, files: { token: TOKEN }, tokenFile: "token", allow: [/401/] });

browserTest(
  "a lost server is told, what is shown stays, and the page comes back by itself",
  async ({ page, open, kill, restart }) => {
    await open("#/catalog?q=bit_boundary");
    await page.getByRole("link", { name: "channel.bit_boundary" }).waitFor();
    await kill();
    await page.getByText("The server does not answer").waitFor();
    await page.getByRole("link", { name: "channel.bit_boundary" }).waitFor();
    await restart();
    await page.getByText("The server does not answer").waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "channel.bit_boundary" }).click();
    await page.locator("[data-contract]").waitFor();
  },
  { serve: {}, axe: false, allow: [ENDED_SERVER] },
);

browserTest(
  "views are loaded while the page is idle: without the server they still open; what was not loaded says so and retries",
  async ({ page, open, route, until, kill, restart, url }) => {
    await open("#/start");
    // All views are there once the page was idle, without any input.
    const views = [
      "templates",
      "runs",
      "compare",
      "benchmarks",
      "validation",
      "catalog",
      "training",
      "system",
      "editor",
    ];
    for (const view of views) {
      await until(`performance.getEntriesByType("resource").some(({ name }) => /\\/${view}-\\d+\\.js$/.test(name))`);
    }
    await kill();
    await page.evaluate(`location.hash = "#/runs"`);
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await restart();
    // A part that was asked for while the server was away is loaded as soon as it is back.
    await route("**/system-*.js", (asked) => asked.abort());
    await page.goto(`${url}/#/start`);
    const refused = page.waitForEvent("requestfailed", (request) => /\/system-\d+\.js$/.test(request.url()));
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Start" }).waitFor();
    await refused;
    await kill();
    await page.evaluate(`location.hash = "#/system"`);
    await page.getByText("The server is not reachable, retrying").waitFor();
    assert.equal(await page.getByText(/TypeError|Not found/).count(), 0);
    await page.unroute("**/system-*.js");
    await restart();
    await page.getByRole("row", { name: /runtime/ }).first().waitFor();
  },
  { serve: {}, axe: false, preload: true, allow: [ENDED_SERVER, /ERR_FAILED/] },
);

// A browser opens at most six connections to a server.
browserTest("seven tabs share one stream of events, and all see a job", async ({ page, open, newPage, url }) => {
  await open("#/system");
  const tabs = [page];
  for (let i = 1; i < 7; i++) {
    const tab = await newPage();
    await open("#/system", tab);
    tabs.push(tab);
  }
  const reply = await fetch(`${url}/api/run-jobs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ recipe: LONG }),
  });
  const { job_id } = await reply.json();
  for (const tab of tabs) await tab.getByRole("banner").getByText("1 running").waitFor();
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /^svc_event_streams 1$/m);
  const canceled = await fetch(`${url}/api/run-jobs/${job_id}/cancel`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  await canceled.body?.cancel();
  for (const tab of tabs) await tab.getByRole("banner").getByText("No jobs").waitFor();
}, { axe: false });

const narrow = ["#/templates", "#/benchmarks", "#/validation", "#/catalog", "#/training", "#/system"];
const VARIANTS = [
  ["390 pixels wide", { viewport: { width: 390, height: 844 } }],
  // A zoom of 200 % halves the width in CSS pixels.
  ["at 200 % zoom", { viewport: { width: 640, height: 400 } }],
  ["with forced colours and reduced motion", { forcedColors: "active", reducedMotion: "reduce" }],
] as const;
for (const [variant, [name, options]] of VARIANTS.entries()) {
  // Axe sees each view in one of these, in turn, and in all of them at full size.
  browserTest(`the views can be used ${name}`, async ({ page, open, checkAccessibility, shot }) => {
    for (const [index, view] of narrow.entries()) {
      await open(view);
      await page.locator("#main table:visible, #main article, #main summary").first().waitFor();
      await eventually(async () => {
        const [wide, there] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]") as number[];
        assert.ok(wide <= there, `${view} is ${wide} wide in ${there}`);
      });
      if (isSampled(index + variant, VARIANTS.length)) await checkAccessibility();
      await shot(`${name.replaceAll(/\W+/g, "_")}_${view.slice(2)}`);
    }
  }, { ...options, axe: false });
}

browserTest("the first requests of a view wait for no script of the page, and are sent once", async (scene) => {
  const { page, open, route } = scene, begun = new Map<string, number>();
  let first = Promise.withResolvers<void>();
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    begun.set(pathname, (begun.get(pathname) ?? 0) + 1);
    if (["/api/runs", "/api/recipe-templates/instantiate"].includes(pathname)) first.resolve();
  });
  await route("**/main.js", async (route) => {
    await within("the first request of the view", first.promise);
    await route.continue();
  });
  await open("#/runs");
  await page.getByText("No runs yet").waitFor();
  assert.equal(begun.get("/api/runs"), 1);
  first = Promise.withResolvers();
  begun.clear();
  await page.goto("about:blank");
  await open("#/editor");
  await page.locator(".graph .block").first().waitFor();
  assert.deepEqual([begun.get("/api/ops"), begun.get("/api/recipe-templates/instantiate")], [1, 1]);
}, { axe: false });

browserTest("a foreign page cannot call, and a foreign name is refused", async ({ url }) => {
  const foreign = await fetch(`${url}/api/run-jobs`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: "https://elsewhere.example" },
    body: "{}",
  });
  assert.equal(foreign.status, 403);
  await foreign.body?.cancel();
}, { axe: false });

browserTest(
  "budgets: what the first page loads, and that nothing moves once it is painted",
  async ({ page, open, until }) => {
    await page.addInitScript(COUNT_SHIFTS);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const began = performance.now();
    await open();
    await page.locator(".graph .block").first().waitFor();
    const first = performance.now() - began;
    // Behind this mark the page loads its other views, and parts of them first; not in a browser that asks for less data.
    await until(`performance.getEntriesByName("svc.preload").length === 1`);
    assert.deepEqual(asked.filter((address) => /\/detail-\d+\.js$/.test(address)), []);
    const scripts = await page.evaluate(`performance.getEntriesByType("resource")
      .filter(({ name, startTime }) =>
        name.endsWith(".js") && startTime < performance.getEntriesByName("svc.preload")[0].startTime)
      .map(({ name }) => name)`) as string[];
    let total = 0;
    for (const script of new Set(scripts)) {
      const zipped = (await fetch(script)).body!.pipeThrough(new CompressionStream("gzip"));
      total += (await new Response(zipped).arrayBuffer()).byteLength;
    }
    const shift = await page.evaluate("globalThis.shift") as number;
    console.log(
      `first load ${(total / 1024).toFixed(1)} KiB of scripts (gzip), first block after ${first.toFixed(0)} ms, shift ${
        shift.toFixed(4)
      }`,
    );
    assert.ok(total < 60 * 1024, `${total} bytes of scripts`);
    assert.ok(shift < 0.02, `layout shift ${shift}`);
  },
  { axe: false },
);
