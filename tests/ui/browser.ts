/**
 * Tests in a browser: a server per test over a temporary project, a Chromium, and a page that must not complain. The server
 * runs in this process, which loads the operations once for all tests of a file. A test that ends its server, or starts it
 * with arguments, has `svc ui serve` as a process. A test fails on any message of an error or a policy, on a failed request,
 * on a request to another origin, and on each violation that axe finds in the end state. The tests of a file share one
 * Chromium, each in a context of its own; all share one built page.
 *
 *     SVC_SCREENSHOTS=/tmp/shots deno test -A tests/ui/     keeps the pictures that tests take, in both themes
 *     SVC_CHROMIUM=/path/to/chromium                        another browser than /usr/bin/chromium-headless-shell
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startServer } from "../../lib/http/serve.ts";
import { putBuiltPage } from "../support/built_page.ts";
import { serve, type Served, type ServeOptions } from "../support/served.ts";
import { AXE_SOURCE } from "./axe.ts";
import { type Browser, type BrowserContext, CHROMIUM, chromium, needsChromium, type Page } from "./playwright.ts";

const SHOTS = Deno.env.get("SVC_SCREENSHOTS");

export interface SceneOptions {
  /** Files of the project by path. */
  files?: Record<string, string>;
  /** Serve from a process of its own, started with these options. */
  serve?: ServeOptions;
  /** A file of the project with the token that the server asks for. */
  tokenFile?: string;
  viewport?: { width: number; height: number };
  colorScheme?: "light" | "dark";
  reducedMotion?: "reduce";
  forcedColors?: "active";
  /** Messages and failures that belong to the test, such as a refused recipe, which the browser logs as an error. */
  allow?: RegExp[];
  /** Leave the end state unchecked: for tests that end without a page. */
  axe?: false;
}

/** What a test has at hand. */
export interface Scene {
  page: Page;
  context: BrowserContext;
  /** Folder of the project. */
  folder: string;
  url: string;
  /** Shows a view: `open("#/catalog")`. */
  open(hash?: string, page?: Page): Promise<void>;
  /** Another tab of the same browser, watched in the same way. */
  newPage(): Promise<Page>;
  /** From now on, what matches is no failure. */
  allow(pattern: RegExp): void;
  /** Waits until an expression holds in the page. The policy forbids the driver's own way, which compiles in the page. */
  until(expression: string): Promise<void>;
  /** Asks axe about the page as it is now. */
  checkAccessibility(page?: Page): Promise<void>;
  /** Keeps a picture in light and in dark, where pictures are asked for. */
  shot(name: string): Promise<void>;
  /** Ends the process of the server at once; `restart` brings it back at the same address. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** The browser and the built page that the tests of a file share. */
let launched: Promise<Browser> | undefined, built: Promise<string> | undefined;
const shared = await Deno.makeTempDir({ prefix: "svc-ui-page-" });

Deno.test.afterAll(async () => {
  await (await launched)?.close();
  await Deno.remove(shared, { recursive: true });
});

/** A test with a browser; skipped, with the reason, where there is none. */
export function browserTest(name: string, body: (scene: Scene) => Promise<void>, options: SceneOptions = {}): void {
  // The shared browser outlives the test that starts it.
  const sanitizers = { sanitizeOps: false, sanitizeResources: false };
  Deno.test({ name, ...needsChromium(), ...sanitizers, fn: () => play(body, options) });
}

async function play(body: (scene: Scene) => Promise<void>, options: SceneOptions): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "svc-ui-" });
  const closers: (() => PromiseLike<unknown>)[] = [() => Deno.remove(folder, { recursive: true })];
  const browser = await (launched ??= chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] }));
  try {
    await (built ??= putBuiltPage(shared));
    await Deno.mkdir(join(folder, ".svc"));
    await Deno.symlink(join(shared, "ui"), join(folder, ".svc", "ui"));
    for (const [path, text] of Object.entries(options.files ?? {})) {
      await Deno.mkdir(join(folder, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(folder, path), text);
    }
    const { tokenFile } = options;
    const started = tokenFile === undefined ? options.serve : { args: ["--token-file", join(folder, tokenFile)] };
    let served: Served | null = null, url: string;
    if (started === undefined) {
      const server = await startServer({ projectRoot: folder, port: 0, threads: 0, log() {} });
      closers.push(() => server.stop());
      url = server.url;
    } else {
      served = await serve(folder, started);
      closers.push(() => served![Symbol.asyncDispose]());
      url = served.url;
    }
    const context = await browser.newContext({
      viewport: options.viewport ?? { width: 1440, height: 900 },
      colorScheme: options.colorScheme ?? "light",
      reducedMotion: options.reducedMotion,
      forcedColors: options.forcedColors,
      acceptDownloads: true,
    });
    closers.push(() => context.close());
    context.setDefaultTimeout(TIMEOUT_MS);
    const complaints: string[] = [], allowed = [...options.allow ?? []];
    watch(context, url, (text) => complaints.push(text));
    await context.addInitScript(REPORT_VIOLATIONS);
    const page = await context.newPage();
    const scene: Scene = {
      page,
      context,
      folder,
      url,
      async open(hash = "#/editor", target = page) {
        // Within the page, an address is shown once its handlers have run and a frame is painted.
        if (hash !== "" && target.url().startsWith(url)) await target.evaluate(followTo(hash));
        else await target.goto(url + "/" + hash);
        await target.locator("#main h1").first().waitFor({ state: "attached" });
      },
      newPage: () => context.newPage(),
      allow: (pattern) => void allowed.push(pattern),
      until: (expression) => until(page, expression),
      checkAccessibility: (target = page) => checkAccessibility(target),
      shot: (name) => keepShot(page, name),
      async kill() {
        assert.ok(served, "The test has no process to kill: give it `serve`");
        served.child.kill("SIGKILL");
        await served.child.status;
      },
      async restart() {
        served = await serve(folder, { ...started, port: Number(new URL(url).port) });
      },
    };
    try {
      await body(scene);
    } catch (error) {
      await keepFailure(page);
      // What the page complained of is often the reason.
      if (complaints.length > 0) console.error(`The page complained:\n${complaints.join("\n")}`);
      throw error;
    }
    const wrong = complaints.filter((text) => !allowed.some((pattern) => pattern.test(text)));
    assert.deepEqual(wrong, [], "The page complained");
    if (options.axe !== false) await checkAccessibility(page);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

const followTo = (hash: string) =>
  `new Promise((resolve) => {
    if (location.hash === ${JSON.stringify(hash)}) return resolve();
    addEventListener("hashchange", () => requestAnimationFrame(() => resolve()), { once: true });
    location.hash = ${JSON.stringify(hash)};
  })`;

/** A refusal of the content policy is an error of the page, whatever the browser says of it by itself. */
const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));`;

function watch(context: BrowserContext, url: string, complain: (text: string) => void): void {
  const { origin } = new URL(url);
  context.on("console", (message) => {
    const text = `${message.type()}: ${message.text()} ${message.location().url}`;
    if (message.type() === "error" || /policy|refused to|violates/i.test(message.text())) complain(text);
  });
  context.on("weberror", (error) => complain(`page error: ${error.error().stack ?? error.error().message}`));
  context.on("requestfailed", (request) => {
    // What the page itself gave up, on leaving a view, is no failure.
    const reason = request.failure()?.errorText ?? "";
    if (reason !== "net::ERR_ABORTED") complain(`request failed: ${request.method()} ${request.url()} ${reason}`);
  });
  context.on("request", (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== "data:" && protocol !== "blob:" && asked !== origin) {
      complain(`request to another origin: ${request.url()}`);
    }
  });
}

/**
 * Watches for a text that may be shown for a moment only; to be called before it can be there.
 *
 * @returns waits until the text was shown
 */
export async function watchFor(page: Page, selector: string, text: RegExp): Promise<() => Promise<void>> {
  const name = `seen${crypto.randomUUID()}`;
  await page.evaluate(`(() => {
    globalThis[${JSON.stringify(name)}] = false;
    const look = () => globalThis[${JSON.stringify(name)}] ||=
      [...document.querySelectorAll(${JSON.stringify(selector)})].some(({ textContent }) => ${text}.test(textContent));
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  })()`);
  return () => until(page, `globalThis[${JSON.stringify(name)}]`);
}

/** Sums what moves after its first painting, without input: the page's `globalThis.shift`, with the largest movers. */
export const COUNT_SHIFTS = `globalThis.shift = 0;
  globalThis.moved = [];
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      globalThis.shift += value;
      const node = sources[0]?.node;
      if (value > 0.002) globalThis.moved.push((node?.nodeName ?? "?") + " " + (node?.textContent ?? "").slice(0, 30));
    }
  }).observe({ type: "layout-shift", buffered: true });`;

/** How long a step waits for the page. */
const TIMEOUT_MS = 300_000;

/**
 * Repeats an assertion about what the page shows, which it may paint a moment later, until it holds.
 *
 * @returns what the check returns
 * @throws the last error of the check: at once if it is no failed assertion, else after the time that every step waits
 */
export async function eventually<T>(check: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + TIMEOUT_MS;;) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const until = (page: Page, expression: string): Promise<void> =>
  eventually(async () => assert.ok(await page.evaluate(expression), `Never true in the page: ${expression}`));

interface AxeViolation {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary: string }[];
}

async function checkAccessibility(page: Page): Promise<void> {
  await page.evaluate(AXE_SOURCE);
  const violations = await page.evaluate(`axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    resultTypes: ["violations"],
  }).then(({ violations }) => violations)`) as AxeViolation[];
  const told = violations.map(({ id, help, nodes }) =>
    `${id}: ${help}\n` +
    nodes.slice(0, 4).map(({ target, failureSummary }) =>
      `  ${target.join(" ")}\n    ${failureSummary.replaceAll("\n", "\n    ")}`
    ).join("\n")
  );
  assert.equal(told.join("\n"), "", "axe found violations");
}

async function keepShot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  await Deno.mkdir(SHOTS, { recursive: true });
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SHOTS, `${name}_${colorScheme}.png`) });
  }
}

async function keepFailure(page: Page): Promise<void> {
  if (SHOTS === undefined) return;
  await Deno.mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `failed_${Date.now()}.png`) }).catch(() => {});
}
