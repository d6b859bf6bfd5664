/** The page: one application in the frame that the server sends. */
import { App } from "./frame.tsx";
import { render } from "./preact.ts";
import { listen } from "./state/events.ts";
import { provideFinds } from "./state/finds.ts";

listen();
provideFinds();
render(<App />, document.getElementById("app")!);
