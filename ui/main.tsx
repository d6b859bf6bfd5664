/** The page: one application in the frame that the server sends. */
import { App, firstView } from "./frame.tsx";
import { render } from "./preact.ts";
import { provideFinds } from "./state/finds.ts";

/** The first painting waits so long for the font, in which texts have other widths than in a font of the system. */
const FONT_MS = 200;
const font = Promise.race([document.fonts.load("13px Inter"), new Promise((over) => setTimeout(over, FONT_MS))]);

provideFinds();
// Without the font the page is shown in one of the system.
Promise.all([firstView(), font.catch(() => {})]).then(() => render(<App />, document.getElementById("app")!));
