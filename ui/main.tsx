/** The page: one application in the frame that the server sends. */
import { App } from "./frame.tsx";
import { render } from "./preact.ts";
import { listen } from "./state/events.ts";

listen();
render(<App />, document.getElementById("app")!);
