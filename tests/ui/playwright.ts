/** The one place that names the browser driver, and the browser that it drives. */
import { join } from "node:path";
import { type Browser, chromium } from "npm:playwright-core@^1.65";
import { needs } from "../support/needs.ts";

export {
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
  type Request,
  type Route,
} from "npm:playwright-core@^1.65";

/**
 * A Chromium of this machine, or undefined. The headless shell comes first: the whole browser starts two more processes for
 * each window, and they take as long as the page.
 */
export const CHROMIUM: string | undefined = [
  Deno.env.get("SVC_CHROMIUM"),
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
].find((path) => path !== undefined && exists(path));

/** Options of a test that drives it. */
export const needsChromium = () =>
  needs("Chromium (apt-get install chromium-headless-shell, or SVC_CHROMIUM)", CHROMIUM);

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A browser, and its end. */
export interface OwnBrowser {
  browser: Browser;
  /** Kills all its processes: they have nothing to save, and a Chromium that is asked to close may stay open. */
  kill(): void;
}

/** Starts a Chromium. @param folder takes its start program, which writes the number of its process group beside itself */
export async function startBrowser(folder: string): Promise<OwnBrowser> {
  const executablePath = join(folder, `chromium-${crypto.randomUUID()}`), groupPath = `${executablePath}.pid`;
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  await Deno.writeTextFile(
    executablePath,
    `#!/bin/sh\necho $$ > ${quoted(groupPath)}\nexec ${quoted(CHROMIUM!)} "$@"\n`,
    { mode: 0o755 },
  );
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const group = Number(await Deno.readTextFile(groupPath));
  return { browser, kill: () => Deno.kill(-group, "SIGKILL") };
}
