/** Places of this checkout, for tests. */
import { fileURLToPath } from "node:url";

export const fromFileUrl = (url: URL): string => fileURLToPath(url);

/** Folder of the checkout, without a closing slash. */
export const ROOT_PATH = fromFileUrl(new URL("../../", import.meta.url)).replace(/\/$/, "");
