/** The frame of all views: rail, top bar, banners, and the view itself, which is loaded when it is first wanted. */
import { connection, giveToken, messageOf, token, tokenWanted } from "./api.ts";
import { Hidden, Page, reveal, Select, Trouble } from "./parts.tsx";
import { type JSX, lazy, useEffect, useRef, useState, whenIdle, whenReachable } from "./preact.ts";
import { address, place, VIEWS } from "./router.ts";
import { activeJobs, jobs, listen } from "./state/events.ts";
import { useFetched } from "./state/fetched.ts";
import { theme, THEMES } from "./state/settings.ts";
import { keyboardSheet, openKeyboardSheet } from "./keyboard.ts";
import { openPalette, Palette, provideCommands } from "./palette.tsx";
import { announcement } from "./state/announce.ts";
import { Toast } from "./toast.tsx";

const KeyboardSheet = lazy(() => import("./keyboard_sheet.tsx"));

type View = () => JSX.Element;
/** What a view needs before it shows anything of its own, where it needs something. */
type Begin = { begin?(): Promise<unknown> };
const PAGES: Record<string, () => Promise<{ default: View } & Begin>> = {
  start: () => import("./pages/start.tsx"),
  editor: () => import("./pages/editor.tsx"),
  templates: () => import("./pages/templates.tsx"),
  runs: () => import("./pages/runs.tsx"),
  sweeps: () => import("./pages/sweep.tsx"),
  compare: () => import("./pages/compare.tsx"),
  benchmarks: () => import("./pages/benchmarks.tsx"),
  validation: () => import("./pages/validation.tsx"),
  data: () => import("./pages/data.tsx"),
  catalog: () => import("./pages/catalog.tsx"),
  training: () => import("./pages/training.tsx"),
  system: () => import("./pages/system.tsx"),
};

/** The view that the page begins with, once it is loaded. */
let begun: { view: string; Page: View } | null = null;
/** The frame is shown without its view after this time. */
const FRAME_AFTER_MS = 200;

/** Loads the first view, for one painting with frame and view in place of two. Failures are shown by the frame. */
export function firstView(): Promise<void> {
  const { view } = place.value, late = new Promise<void>((resolve) => setTimeout(resolve, FRAME_AFTER_MS));
  if (!Object.hasOwn(PAGES, view)) return Promise.resolve();
  const loaded = PAGES[view]().then(async ({ default: Page, begin }) => {
    begun = { view, Page };
    await begin?.();
  }).catch(() => {});
  return Promise.race([loaded, late]);
}

const TITLES: Readonly<Record<string, string>> = { ...Object.fromEntries(VIEWS), sweeps: "Sweep" };
/** The place in the rail of a view: a sweep is one of the runs. */
const railOf = (view: string) => view === "sweeps" ? "runs" : view;

/** Parts of views that a lost server must not take away. */
const PARTS = [() => import("./panels/block_inspector.tsx"), () => import("./runs/detail.tsx")];
/** What a view needs for itself comes first. */
const PRELOAD_AFTER_MS = 1000;
/** Marks the end of the first load in the browser's own record. */
const PRELOAD = "svc.preload";

/** Loads the other views while the page is idle, for a server that goes; not in a browser that asks for less data. */
async function preload(): Promise<void> {
  performance.mark(PRELOAD);
  if ((navigator as { connection?: { saveData: boolean } }).connection?.saveData) return;
  // What fails here is loaded again once it is wanted, and its failure is shown then.
  for (const load of [...PARTS, ...Object.values(PAGES)]) await load().catch(() => {});
}

provideCommands(() => [
  ...THEMES.map((name) => ({ kind: "Action", text: `Theme: ${name}`, run: () => theme.value = name })),
  { kind: "Action", text: "Keyboard shortcuts", run: openKeyboardSheet },
]);

/** A narrower window keeps the chosen view and the chosen tabs in sight. */
const revealAll = () => document.querySelectorAll<HTMLElement>(".rail, [role=tablist]").forEach(reveal);

export function App() {
  useEffect(() => {
    addEventListener("resize", revealAll);
    return () => removeEventListener("resize", revealAll);
  }, []);
  return (
    <div class="app">
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}
      >
        Skip to content
      </a>
      <TopBar />
      <nav class="rail" aria-label="Views" ref={(box) => reveal(box)}>
        {VIEWS.map(([view, label]) => (
          <a key={view} href={address(view)} aria-current={railOf(place.value.view) === view ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Banner />
        <Shown />
      </main>
      <Palette />
      <Toast />
      {keyboardSheet.value && <KeyboardSheet />}
      {tokenWanted.value && <TokenDialog />}
      <div class="live" role="status" aria-live="polite">{announcement.value}</div>
    </div>
  );
}

function TopBar() {
  const active = jobs.value.size >= 0 ? activeJobs() : [];
  const running = active.filter(({ state }) => state === "running").length;
  return (
    <header class="topbar">
      {/* Links to what the rail has too are no stops of the Tab key. */}
      <a class="brand" href={address("start")} tabIndex={-1}>svc</a>
      <button type="button" class="search" onClick={openPalette}>
        <span>Find blocks, operations, runs …</span>
        <span class="small mono">Ctrl+K</span>
      </button>
      <div class="end">
        <a
          class="state"
          data-tone={active.length > 0 ? "busy" : undefined}
          href={address("runs")}
          tabIndex={active.length > 0 ? 0 : -1}
        >
          {active.length === 0 ? "No jobs" : `${running} running, ${active.length - running} queued`}
        </a>
        <Select
          label={<Hidden>Theme</Hidden>}
          value={theme.value}
          options={THEMES}
          onChoose={(name) => theme.value = name}
        />
        <button type="button" class="quiet" aria-label="Keyboard" title="Keyboard (?)" onClick={openKeyboardSheet}>
          ?
        </button>
      </div>
    </header>
  );
}

const HEALTH_INTERVAL_MS = 10_000;

function Banner() {
  const { value: health, again } = useFetched("/api/health");
  const lost = connection.value === "lost";
  useEffect(() => {
    const ask = () => document.visibilityState === "visible" && again();
    // The answer ends the loss: it may be that of a single request.
    if (lost) ask();
    const timer = setInterval(ask, HEALTH_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [lost]);
  const text = lost
    ? "The server does not answer. The page keeps its contents and reconnects."
    : health?.status === "degraded"
    ? `The server is degraded: ${health.reason?.message}.`
    : null;
  return text === null ? null : <div class="banner" role="alert">{text}</div>;
}

function Shown() {
  const { view } = place.value;
  const [loaded, setLoaded] = useState(begun);
  const [failure, setFailure] = useState<string | null>(null), known = Object.hasOwn(PAGES, view);
  const first = loaded !== null;
  useEffect(() => {
    if (!first) return;
    // Not before the view has asked for what it shows.
    listen();
    setTimeout(() => whenIdle(() => void preload()), PRELOAD_AFTER_MS);
  }, [first]);
  useEffect(() => {
    let wanted = true;
    setFailure(null);
    document.title = `${TITLES[view] ?? "Not found"} · svc`;
    if (!known) return;
    const load = PAGES[view];
    whenReachable(load).then(
      ({ default: Page }) => wanted && setLoaded({ view, Page }),
      (error) => wanted && setFailure(`Cannot load this view: the server may have a new version. ${messageOf(error)}`),
    );
    return () => wanted = false;
  }, [view]);
  if (!known || failure !== null) {
    return (
      <Page title={known ? "Not loaded" : "Not found"}>
        <Trouble text={failure ?? `There is no view named ${view}.`} />
        <p class="row">
          {known && <button type="button" onClick={() => location.reload()}>Reload the page</button>}
          <a href={address("editor")}>To the editor</a>
        </p>
      </Page>
    );
  }
  if (loaded?.view !== view) {
    return (
      <div class="empty" aria-busy="true">
        {connection.value === "lost" ? "The server is not reachable, retrying" : "Loading the view"}
      </div>
    );
  }
  return <loaded.Page />;
}

function TokenDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const refused = token() !== null;
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="token-title">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          giveToken(text.trim());
          location.reload();
        }}
      >
        <h2 id="token-title">This server needs a token</h2>
        <p class="muted" id="token-help">
          It is in the token file of the server. The page keeps it for this tab only.
        </p>
        <Trouble text={refused ? "The server refused the token" : null} />
        <div class="row">
          <label for="token">Token</label>
          <input
            id="token"
            type="password"
            autocomplete="off"
            aria-describedby="token-help"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" class="primary">Continue</button>
        </div>
      </form>
    </dialog>
  );
}
