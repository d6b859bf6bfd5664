/** Calls of a session that is opened for them alone. */
import { type BenchmarkOptions, open, type RecipeInput, type Session, type SessionOptions } from "../../mod.ts";
import { type BenchmarkVerification, verifyBenchmark as verify } from "../../lib/study/verify.ts";
import { refusal } from "../../lib/contract/error.ts";
import { Registry } from "../../lib/contract/registry.ts";
import type { Workspace } from "../../lib/run/workspace.ts";
import type { PackOptions, PackSource } from "../../lib/api/calls/benchmarks.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { atProcessEnd } from "./process_end.ts";

/** Threads of these sessions stay between runs, also where a loaded machine takes its time over a plan. */
const IDLE_MS = 600_000;

/** Sessions of this process by their project roots, for files that need nothing else. */
const ofProcess = new Map<string, ReturnType<typeof opened>>();

/** A session that opens at its first use. */
function opened(options: SessionOptions) {
  const stateDir = options.stateDir ?? Deno.makeTempDirSync({ prefix: "svc-shared-" });
  let session: Promise<Session> | undefined;
  return {
    session: () => session ??= open({ idleMs: IDLE_MS, ...options, stateDir }),
    async end() {
      (await session)?.close();
      if (options.stateDir === undefined) await Deno.remove(stateDir, { recursive: true });
    },
  };
}

/**
 * A session that the tests of a file share: registry, worker threads and their models are loaded once. It ends after all tests. Files
 * of one process that give the same project root and nothing else share theirs, with its state directory.
 * @param options the state directory is a temporary one when left out
 */
export function sharedSession(options: SessionOptions = {}) {
  const { projectRoot, ...others } = options;
  const isOwn = projectRoot === undefined || Object.keys(others).length > 0;
  const { session, end } = isOwn ? opened(options) : ofProcess.getOrInsertComputed(projectRoot, () => {
    const shared = opened(options);
    atProcessEnd(shared.end);
    return shared;
  });
  if (isOwn) Deno.test.afterAll(end);
  return {
    session,
    /** Defines a test whose worker threads stay for the next one. */
    test(name: string, run: (svc: Session) => Promise<void>): void {
      Deno.test({ name, sanitizeOps: false, sanitizeResources: false, fn: async () => await run(await session()) });
    },
  };
}

export async function runBenchmark(pack: string, options: SessionOptions & BenchmarkOptions = {}) {
  await using svc = await open(options);
  return await svc.benchmarks.run(pack, options);
}

export async function loadBenchmarkPack(pack: PackSource, options: SessionOptions & PackOptions = {}) {
  await using svc = await open(options);
  const loaded = await svc.benchmarks.load(pack, options);
  if (loaded.pack === null) {
    throw refusal("pack_invalid", `Cannot use the pack ${[pack].flat().join(", ")}`, loaded.diagnostics);
  }
  return loaded;
}

export async function lint(recipe: RecipeInput, options: SessionOptions = {}) {
  await using svc = await open(options);
  return await svc.recipes.lint(recipe);
}

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);

/** Verification with the operations of the program, as a session has them. */
export const verifyBenchmark = (workspace: Workspace, id: string): Promise<BenchmarkVerification> =>
  verify(workspace, id, registry);
