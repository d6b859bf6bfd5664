/** The frame of all views: rail, top bar, banners, and the view itself, which is loaded when it is first wanted. */
import { connection, giveToken, token, tokenWanted } from "./api.ts";
import { Hidden, Page, Select, Trouble } from "./parts.tsx";
import { type JSX, lazy, Suspense, useEffect, useRef, useState, whenReachable } from "./preact.ts";
import { address, place, VIEWS } from "./router.ts";
import { activeJobs, jobs } from "./state/events.ts";
import { useFetched } from "./state/fetched.ts";
import { theme, THEMES } from "./state/settings.ts";
import { keyboardSheet, openKeyboardSheet } from "./keyboard.ts";
import { openPalette, Palette } from "./palette.tsx";
import { announcement } from "./state/announce.ts";

const KeyboardSheet = lazy(() => import("./keyboard_sheet.tsx"));

type View = () => JSX.Element;
const PAGES: Record<string, () => Promise<{ default: View }>> = {
  start: () => import("./pages/start.tsx"),
  editor: () => import("./pages/editor.tsx"),
  templates: () => import("./pages/templates.tsx"),
  runs: () => import("./pages/runs.tsx"),
  compare: () => import("./pages/compare.tsx"),
  benchmarks: () => import("./pages/benchmarks.tsx"),
  catalog: () => import("./pages/catalog.tsx"),
  training: () => import("./pages/training.tsx"),
  system: () => import("./pages/system.tsx"),
};

const PRELOAD_AFTER_MS = 1000;

export function App() {
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
      <nav class="rail" aria-label="Views">
        {VIEWS.map(([view, label]) => (
          <a key={view} href={address(view)} aria-current={place.value.view === view ? "page" : undefined}>{label}</a>
        ))}
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Banner />
        <Shown />
      </main>
      <Palette />
      {keyboardSheet.value && (
        <Suspense fallback={null}>
          <KeyboardSheet />
        </Suspense>
      )}
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
      <a class="brand" href={address("start")}>svc</a>
      <button type="button" class="search" onClick={openPalette}>
        <span>Find blocks, operations, runs …</span>
        <span class="small mono">Ctrl+K</span>
      </button>
      <div class="end">
        <a class="state" data-tone={active.length > 0 ? "busy" : undefined} href={address("runs")}>
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
  useEffect(() => {
    const ask = () => document.visibilityState === "visible" && connection.value === "ok" && again();
    const timer = setInterval(ask, HEALTH_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  const text = connection.value !== "ok"
    ? "The server does not answer. The page keeps its contents and reconnects."
    : health?.status === "degraded"
    ? `The server is degraded: ${health.reason?.message}.`
    : null;
  return text === null ? null : <div class="banner" role="alert">{text}</div>;
}

function Shown() {
  const { view } = place.value;
  // The other views are loaded behind the first input, so that they are there when the server is gone.
  useEffect(() => {
    const preload = () =>
      setTimeout(() => {
        for (const load of Object.values(PAGES)) load().catch(() => {});
      }, PRELOAD_AFTER_MS);
    for (const input of ["pointerdown", "keydown"]) addEventListener(input, preload, { once: true });
  }, []);
  const [loaded, setLoaded] = useState<{ view: string; Page: View } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let wanted = true;
    setFailure(null);
    const load = PAGES[view];
    document.title = `${VIEWS.find(([name]) => name === view)?.[1] ?? "Not found"} · svc`;
    if (load === undefined) return setFailure(`There is no view named ${view}`);
    whenReachable(load).then(
      ({ default: Page }) => wanted && setLoaded({ view, Page }),
      (error) => wanted && setFailure(String(error)),
    );
    return () => wanted = false;
  }, [view]);
  if (failure !== null) {
    return (
      <Page title="Not found">
        <p>{failure}.</p>
        <p>
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
