/**
 * Tests in a browser: a server per test over a temporary project, a Chromium, and a page that must not complain. The server
 * runs in this process, which loads the operations once for all tests of a file. A test that ends its server, or starts it
 * with arguments, has `svc ui serve` as a process. A test fails on any message of an error or a policy, on a failed request,
 * on a request to another origin, and on each violation that axe finds in the end state. The tests of a file share one
 * Chromium, each in a context of its own; all share one built page. Every wait has a limit and says what it waits for; a test
 * that fails, and SIGUSR2, print the state of each open page.
 *
 *     SVC_SCREENSHOTS=/tmp/shots deno test -A tests/ui/     keeps the pictures that tests take, in both themes
 *     SVC_CHROMIUM=/path/to/chromium                        another browser than /usr/bin/chromium-headless-shell
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startServer } from "../../lib/http/serve.ts";
import { putBuiltPage } from "../support/built_page.ts";
import { atProcessEnd } from "../support/process_end.ts";
import { serve, type Served, type ServeOptions } from "../support/served.ts";
import { LIMIT_MS, limitNowMs, stopwatch, within } from "../support/until.ts";
import { AXE_SOURCE } from "./axe.ts";
import {
  type BrowserContext,
  needsChromium,
  type OwnBrowser,
  type Page,
  type Route,
  startBrowser,
} from "./playwright.ts";
import { closeAll, type Closer, onStateAsked, seconds } from "./waits.ts";

const SHOTS = Deno.env.get("SVC_SCREENSHOTS");

/** What a browser says of requests to a server that ends: which of these depends on the moment. */
export const ENDED_SERVER =
  /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_CONNECTION_CLOSED|ERR_SOCKET_NOT_CONNECTED|ERR_INCOMPLETE|ERR_EMPTY/;

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
  /** Let the page load its other views while it is idle, which takes as long as the first one. */
  preload?: true;
  /** Leave the end state unchecked: for tests that end without a page, or in a state that another test checks. */
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
  /** Handles the matching requests of the page from now on, also those of a page that is already open. */
  route(pattern: string | RegExp, handler: (route: Route) => Promise<void>): Promise<void>;
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

/** The browser and the built page that the tests of a process share. */
let launched: Promise<OwnBrowser> | undefined, built: Promise<string> | undefined;
const shared = await Deno.makeTempDir({ prefix: "svc-ui-page-" });

atProcessEnd(() =>
  closeAll([
    ["the folder of the built page", () => Deno.remove(shared, { recursive: true })],
    ["the browser", endBrowser],
  ])
);

async function endBrowser(): Promise<void> {
  const ending = launched;
  launched = undefined;
  const own = await ending;
  if (own === undefined) return;
  own.kill();
  // The driver removes the profile of a browser that has ended; the test does not depend on it.
  await within("the end of the browser", own.browser.close()).catch(console.error);
}

/**
 * Closes the context of a test. A browser that does not answer, which is no fault of the test, is replaced: a wait for a
 * Chromium that does not end has no limit in the driver.
 */
async function closeContext(context: BrowserContext): Promise<void> {
  try {
    await within("the end of the context", context.close());
  } catch (error) {
    console.error(error);
    await endBrowser();
  }
}

/** A test with a browser; skipped, with the reason, where there is none. */
export function browserTest(name: string, body: (scene: Scene) => Promise<void>, options: SceneOptions = {}): void {
  // The shared browser outlives the test that starts it.
  const sanitizers = { sanitizeOps: false, sanitizeResources: false };
  Deno.test({ name, ...needsChromium(), ...sanitizers, fn: () => play(name, body, options) });
}

async function play(name: string, body: (scene: Scene) => Promise<void>, options: SceneOptions): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "svc-ui-" });
  const closers: Closer[] = [["the folder of the project", () => Deno.remove(folder, { recursive: true })]];
  try {
    await perform(name, body, options, { folder, closers });
  } catch (error) {
    // The failure of the test is the one to report.
    await closeAll(closers).catch(console.error);
    throw error;
  }
  await closeAll(closers);
}

async function perform(
  name: string,
  body: (scene: Scene) => Promise<void>,
  options: SceneOptions,
  { folder, closers }: { folder: string; closers: Closer[] },
): Promise<void> {
  const { browser } = await within("the start of the browser", launched ??= startBrowser(shared));
  await within("the build of the page", built ??= putBuiltPage(shared), BUILD_MS);
  await Deno.mkdir(join(folder, ".svc"));
  await Deno.symlink(join(shared, "ui"), join(folder, ".svc", "ui"));
  for (const [path, text] of Object.entries(options.files ?? {})) {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
  const { tokenFile } = options;
  const started = tokenFile === undefined ? options.serve : { args: ["--token-file", join(folder, tokenFile)] };
  let served: Served | null = null, url: string, jobs: () => unknown = () => "the server is another process";
  if (started === undefined) {
    const server = await within(
      "the start of the server",
      startServer({ projectRoot: folder, port: 0, threads: 0, limits: CONNECTION_LIMITS, log() {} }),
    );
    closers.push(["the server", () => server.stop()]);
    jobs = () => server.service.jobs.list().map(({ document: one }) => `${one.kind} ${one.recipe_name} ${one.state}`);
    url = server.url;
  } else {
    served = await within("the address of the server", serve(folder, started));
    closers.push(["the process of the server", () => served![Symbol.asyncDispose]()]);
    url = served.url;
  }
  const context = await within(
    "a context of the browser",
    browser.newContext({
      viewport: options.viewport ?? { width: 1440, height: 900 },
      colorScheme: options.colorScheme ?? "light",
      reducedMotion: options.reducedMotion,
      forcedColors: options.forcedColors,
      acceptDownloads: true,
    }),
  );
  closers.push(["the context of the browser", () => closeContext(context)]);
  // The driver measures its waits by the clock.
  const limit = () => context.setDefaultTimeout(limitNowMs());
  limit();
  const limits = setInterval(limit, 1000);
  closers.push(["the limits of waits", () => clearInterval(limits)]);
  const allowed = [...options.allow ?? []], watched = watch(context, url);
  const forget = onStateAsked(() => stateOf(name, context, watched, jobs));
  closers.push(["the watch of the state", forget]);
  await context.addInitScript(REPORT_VIOLATIONS);
  await context.addInitScript(KEEP_MESSAGES);
  if (!options.preload) await context.addInitScript(SAVE_DATA);
  const page = await within("a page of the browser", context.newPage());
  const scene: Scene = {
    page,
    context,
    folder,
    url,
    async open(hash = "#/editor", target = page) {
      // Within the page, an address is shown once its handlers have run and a frame is painted.
      if (hash !== "" && target.url().startsWith(url)) await within(hash, target.evaluate(followTo(hash)));
      else await target.goto(url + "/" + hash);
      await target.locator("#main h1").first().waitFor({ state: "attached" });
    },
    newPage: () => within("another page of the browser", context.newPage()),
    async route(pattern, handler) {
      await page.route(pattern, handler);
      if (!page.url().startsWith(url)) return;
      // An open page learns of it later than the driver: without this, 11 of 1,000 next requests went past the handler.
      await page.route(url + PROBE, (route) => route.fulfill({ status: 204 }));
      await until(page, `fetch("${PROBE}").then(({ status }) => status === 204)`);
    },
    allow: (pattern) => void allowed.push(pattern),
    until: (expression) => until(page, expression),
    checkAccessibility: (target = page) => checkAccessibility(target),
    shot: (name) => keepShot(page, name),
    async kill() {
      assert.ok(served, "The test has no process to kill: give it `serve`");
      served.child.kill("SIGKILL");
      await within("the end of the server", served.child.status);
    },
    async restart() {
      served = await within("the server again", serve(folder, { ...started, port: Number(new URL(url).port) }));
    },
  };
  try {
    await within(`the end of the test ${name}`, body(scene), TEST_MS);
    const wrong = watched.complaints.filter((text) => !allowed.some((pattern) => pattern.test(text)));
    assert.deepEqual(wrong, [], "The page complained");
    if (options.axe !== false) await checkAccessibility(page);
  } catch (error) {
    console.error(await stateOf(name, context, watched, jobs));
    await keepFailure(page);
    throw error;
  }
}

/** An address of the server that only asks whether the requests of a page are handled. */
const PROBE = "/api/health?probe=";

/** A test consists of many waits. */
const TEST_MS = 5 * LIMIT_MS;
/** A busy host may keep this process or the browser from a connection for longer than the limits of a server. */
const CONNECTION_LIMITS = { headersTimeoutMs: TEST_MS, keepAliveMs: TEST_MS, idleMs: TEST_MS };
/** A build takes seconds of processor time, and files of tests wait for each other's. */
const BUILD_MS = 5 * LIMIT_MS;

const followTo = (hash: string) =>
  `new Promise((resolve) => {
    if (location.hash === ${JSON.stringify(hash)}) return resolve();
    addEventListener("hashchange", () => requestAnimationFrame(() => resolve()), { once: true });
    location.hash = ${JSON.stringify(hash)};
  })`;

/** A refusal of the content policy is an error of the page, whatever the browser says of it by itself. */
const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));`;

/** On a loaded machine the ten seconds of a message may be over before the driver looks. */
const KEEP_MESSAGES = `{
  const set = setTimeout;
  globalThis.setTimeout = (act, ms, ...rest) => set(act, ms === 10_000 ? 2 ** 31 - 1 : ms, ...rest);
}`;

/** The browser asks for less data, so that the page loads a view only when it is opened. */
const SAVE_DATA = `Object.defineProperty(navigator.connection, "saveData", { get: () => true });`;

/** What a scene did so far. */
interface Watched {
  /** Failures of the test, unless it allows them. */
  complaints: string[];
  /** Messages of the console. */
  messages: string[];
  /** Requests without a reply, with their start. */
  open: Map<object, { text: string; since: number }>;
}

function watch(context: BrowserContext, url: string): Watched {
  const { origin } = new URL(url),
    complaints: string[] = [],
    messages: string[] = [],
    open: Watched["open"] = new Map();
  context.on("console", (message) => {
    const text = `${message.type()}: ${message.text()} ${message.location().url}`;
    messages.push(text);
    if (message.type() === "error" || /policy|refused to|violates/i.test(message.text())) complaints.push(text);
  });
  context.on("weberror", (error) => complaints.push(`page error: ${error.error().stack ?? error.error().message}`));
  context.on("requestfinished", (request) => open.delete(request));
  context.on("requestfailed", (request) => {
    open.delete(request);
    // What the page itself gave up, on leaving a view, is no failure.
    const reason = request.failure()?.errorText ?? "";
    if (reason !== "net::ERR_ABORTED") {
      complaints.push(`request failed: ${request.method()} ${request.url()} ${reason}`);
    }
  });
  context.on("request", (request) => {
    open.set(request, { text: `${request.method()} ${request.url()}`, since: performance.now() });
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== "data:" && protocol !== "blob:" && asked !== origin) {
      complaints.push(`request to another origin: ${request.url()}`);
    }
  });
  return { complaints, messages, open };
}

/** The state of the pages of a scene as a text. */
async function stateOf(
  name: string,
  context: BrowserContext,
  { complaints, messages, open }: Watched,
  jobs: () => unknown,
): Promise<string> {
  const requests = [...open.values()].map(({ text, since }) => `${text}, ${seconds(since)} s`);
  const pages = await Promise.all(
    context.pages().map(async (page) => {
      const silence = Promise.withResolvers<string>();
      const timer = setTimeout(() => silence.resolve("no reply"), STATE_MS);
      const text = page.evaluate("document.body.innerText").then(String, String);
      const shown = await Promise.race([text, silence.promise]);
      clearTimeout(timer);
      return { address: page.url(), text: shown.slice(0, 2000) };
    }),
  );
  const state = { pages, messages: messages.slice(-20), complaints, requests, jobs: jobs() };
  return `State of the test "${name}": ${JSON.stringify(state, null, 2)}`;
}

/** For each page, whose renderer may not answer; the runner ends the file soon after it asked, on any load. */
const STATE_MS = 3000;

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

/**
 * Repeats an assertion about what the page shows, which it may paint a moment later, until it holds.
 *
 * @returns what the check returns
 * @throws the last error of the check: at once if it is no failed assertion, else after the time that every step waits
 */
export async function eventually<T>(check: () => Promise<T>): Promise<T> {
  for (const waitedMs = stopwatch();;) {
    try {
      return await within(`the check ${check}`, check());
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || waitedMs() > LIMIT_MS) throw error;
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
  // A page keeps axe. What it would fetch beforehand serves one of these rules: the one on sounds.
  const load = page.evaluate("'axe' in globalThis").then((loaded) => loaded ? null : page.evaluate(AXE_SOURCE));
  const asked = load.then(() =>
    page.evaluate(`document.querySelector("audio, video") ? Promise.reject(new Error("a sound")) : axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
      resultTypes: ["violations"],
      preload: false,
    }).then(({ violations }) => violations)`)
  );
  const violations = await within("the findings of axe", asked) as AxeViolation[];
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
