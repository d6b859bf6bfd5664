/** Files of bundles as texts and documents. */
import { parseJson } from "../../lib/contract/json.ts";
import { send } from "../api.ts";
import { artifactAddress } from "../state/files.ts";

/** The whole text of a file. @throws Problem */
const text = async (path: string, signal?: AbortSignal): Promise<string> =>
  await (await send(artifactAddress(path), { signal })).text();

/** The document of a file. @throws Problem */
export const json = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  parseJson(await text(path, signal)) as T;
