/** The frame of all views: rail, top bar, banners, and the view itself, which is loaded when it is first wanted. */
import { connection, giveToken, token, tokenWanted } from "./api.ts";
import { type ComponentChildren, type JSX, useEffect, useRef, useState } from "./preact.ts";
import { address, place, VIEWS } from "./router.ts";
import { activeJobs, jobs } from "./state/events.ts";
import { useFetched } from "./state/fetched.ts";
import { theme, THEMES } from "./state/settings.ts";
import { KeyboardSheet, openKeyboardSheet } from "./keyboard.tsx";
import { openPalette, Palette } from "./palette.tsx";
import { announcement } from "./state/announce.ts";

type View = () => JSX.Element;
const PAGES: Record<string, () => Promise<{ default: View }>> = {
  editor: () => import("./pages/editor.tsx"),
  templates: () => import("./pages/templates.tsx"),
  runs: () => import("./pages/runs.tsx"),
  compare: () => import("./pages/compare.tsx"),
  benchmarks: () => import("./pages/benchmarks.tsx"),
  catalog: () => import("./pages/catalog.tsx"),
  training: () => import("./pages/training.tsx"),
  system: () => import("./pages/system.tsx"),
};

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
      <KeyboardSheet />
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
      <a class="brand" href={address("editor")}>svc</a>
      <button type="button" class="search" onClick={openPalette}>
        <span>Find blocks, operations, runs …</span>
        <span class="small mono">Ctrl+K</span>
      </button>
      <div class="end">
        <a class="state" data-tone={active.length > 0 ? "busy" : undefined} href={address("runs")}>
          {active.length === 0 ? "No jobs" : `${running} running, ${active.length - running} queued`}
        </a>
        <label class="row">
          <span class="hidden-text">Theme</span>
          <select
            value={theme.value}
            onChange={(event) => theme.value = event.currentTarget.value as typeof theme.value}
          >
            {THEMES.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <button type="button" class="quiet" aria-label="Keyboard" title="Keyboard (?)" onClick={openKeyboardSheet}>
          ?
        </button>
      </div>
    </header>
  );
}

const HEALTH_INTERVAL_MS = 10_000;

function Banner() {
  const { data, again } = useFetched<{ status: string; reason?: { message: string } }>("/api/health");
  useEffect(() => {
    const ask = () => document.visibilityState === "visible" && connection.value === "ok" && again();
    const timer = setTimeout(ask, HEALTH_INTERVAL_MS);
    return () => clearTimeout(timer);
  });
  if (connection.value !== "ok") {
    return (
      <div class="banner" role="alert">
        The server does not answer. What is shown stays; the page reconnects by itself.
      </div>
    );
  }
  if (data?.status !== "degraded") return null;
  return <div class="banner" role="alert">The server is degraded: {data.reason?.message}.</div>;
}

function Shown() {
  const { view } = place.value;
  const [loaded, setLoaded] = useState<{ view: string; Page: View } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let wanted = true;
    setFailure(null);
    const load = PAGES[view];
    document.title = `${VIEWS.find(([name]) => name === view)?.[1] ?? "Not found"} · svc`;
    if (load === undefined) return setFailure(`There is no view named ${view}`);
    load().then(
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
  if (loaded?.view !== view) return <div class="empty">Loading the view</div>;
  return <loaded.Page />;
}

/** A view with a heading. */
export function Page(
  { title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren },
) {
  return (
    <div class="page">
      <div class="row spread">
        <h1>{title}</h1>
        <div class="row">{actions}</div>
      </div>
      {children}
    </div>
  );
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
        <h2 id="token-title">This server asks for its token</h2>
        <p class="muted" id="token-help">
          It is in the file that the server was started with, and is kept for this tab alone.
        </p>
        {refused && <p class="notice" data-tone="error" role="alert">The server refused the token that was given</p>}
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
