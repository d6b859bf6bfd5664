/**
 * The page of this checkout, built once for all tests. A build takes seconds of processor time; a copy of it is as good, since
 * a page that is kept counts only while its sources and its bytes are the same (`ui/build.ts`).
 */
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildPage, type BuiltPage } from "../../ui/build.ts";
import { ROOT_PATH } from "./paths.ts";

/** State directory of the build, one for each checkout and user. */
const KEPT = join(
  tmpdir(),
  `svc-tests-page-${Deno.uid()}-${createHash("sha256").update(ROOT_PATH).digest("hex").slice(0, 12)}`,
);

let built: BuiltPage | undefined;

/** Calls a body with the built page and its state directory, which nothing changes meanwhile. */
export async function withBuiltPage<T>(body: (page: BuiltPage, stateDir: string) => Promise<T>): Promise<T> {
  await Deno.mkdir(KEPT, { recursive: true });
  // Files of tests run side by side: the first one builds, and the others wait for it.
  using lock = await Deno.open(join(KEPT, "lock"), { create: true, write: true });
  await lock.lock(true);
  return await body(built ??= await buildPage(KEPT), KEPT);
}

/** Puts the built page into a state directory, where a server finds it. @returns its folder */
export const putBuiltPage = (stateDir: string): Promise<string> => withBuiltPage((page) => copyPage(page, stateDir));

async function copyPage({ folder }: BuiltPage, stateDir: string): Promise<string> {
  const to = join(stateDir, "ui", basename(folder));
  await Deno.mkdir(to, { recursive: true });
  for (const { name } of Deno.readDirSync(folder)) await Deno.copyFile(join(folder, name), join(to, name));
  return to;
}
