/** The page: one application in the frame that the server sends. */
import { App, firstView } from "./frame.tsx";
import { render } from "./preact.ts";
import { provideFinds } from "./state/finds.ts";

provideFinds();
firstView().then(() => render(<App />, document.getElementById("app")!));
