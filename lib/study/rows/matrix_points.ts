/**
 * Points of matrices that several processes run on one state directory: one runs a point, the others wait for it and use its
 * run. Points are known by the digest of their effective recipe, so that equal points of different files are one.
 *
 * Completed points are appended to a file beside the locks. `svc runs gc` removes it, as it does unused locks.
 */
import { inside, makeFolder, openFile } from "../../artifact/inside.ts";
import type { CancellationToken } from "../../execute/types.ts";
import { isSameFile, type RunLock, tryLockRun } from "../../run/lock.ts";
import { isRunId } from "../../run/reservation.ts";
import type { Workspace } from "../../run/workspace.ts";

const WAIT_MS = 100;

export class MatrixPoints implements Disposable {
  readonly #workspace: Workspace;
  readonly #file: Deno.FsFile;
  /** End of the part that was read. */
  #offset: number;
  readonly #completed = new Map<string, string[]>();

  /** Notices all points that are completed from now on. */
  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#file = openShared(workspace);
    this.#offset = this.#file.statSync().size;
  }

  /** Adds completed runs, newest first. */
  add(runs: readonly { run_id: string; effective_recipe_sha256: string | null }[]): void {
    for (const { run_id, effective_recipe_sha256 } of runs) this.#add(effective_recipe_sha256 ?? "", run_id);
  }

  /**
   * Waits for a point until no other process runs it.
   * @param onWait is called once when another process runs it
   * @returns null when canceled meanwhile
   */
  async lock(sha256: string, cancellation: CancellationToken, onWait: () => void): Promise<RunLock | null> {
    for (let tries = 0; !cancellation.isCancelled; tries++) {
      const lock = tryLockRun(this.#workspace, `point-${sha256}`);
      if (lock !== null) return lock;
      if (tries === 0) onWait();
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
    return null;
  }

  /** Ids of completed runs of a point, those of other processes included. */
  runsOf(sha256: string): readonly string[] {
    const added = new Uint8Array(Math.max(0, this.#file.statSync().size - this.#offset));
    this.#file.seekSync(this.#offset, Deno.SeekMode.Start);
    const text = new TextDecoder().decode(added.subarray(0, this.#file.readSync(added) ?? 0));
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    this.#offset += whole.length;
    for (const [, point, id] of whole.matchAll(/^([0-9a-f]{64}) (\S+)$/gm)) if (isRunId(id)) this.#add(point, id);
    return this.#completed.get(sha256) ?? [];
  }

  /** Tells the other processes of a completed point. */
  complete(sha256: string, runId: string): void {
    this.#file.writeSync(new TextEncoder().encode(`${sha256} ${runId}\n`));
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  #add(sha256: string, runId: string): void {
    const known = this.#completed.get(sha256);
    if (known === undefined) this.#completed.set(sha256, [runId]);
    else known.push(runId);
  }
}

/** Opens the file; a shared lock keeps it from being removed. */
function openShared({ locks }: Workspace): Deno.FsFile {
  for (;;) {
    makeFolder(locks);
    const path = inside(locks, "matrix_points.lock");
    const file = openFile(path, { read: true, append: true, create: true });
    file.lockSync(false);
    if (isSameFile(path, file)) return file;
    file.close();
  }
}
