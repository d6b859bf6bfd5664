/**
 * The files of a run in memory. A row of a benchmark whose run is not kept needs its documents and reports once, for its
 * snapshot: a small one makes no file, which costs more than the steps of a short link. A run that has to stay after all,
 * because its row failed, is stored as any other.
 */
import { Buffer } from "node:buffer";
import { discardEntry, inside, makeFolder, makeFolderOf, makeReadOnly } from "../artifact/inside.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { BundlePath } from "../contract/names.ts";
import type { ExecutionPlan } from "../plan/types.ts";
import { outputsOf, type SummaryDocument } from "./bundle_schema.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { type BundleFiles, DISK, type RunFiles } from "./files.ts";
import { listPruned } from "./prune.ts";
import { SMALL_RUN_BYTES } from "./resources.ts";
import type { Workspace } from "./workspace.ts";

/** Largest estimate of the artifacts of a run that is held. */
const HELD_BYTES = 8 * 2 ** 20;

/**
 * Whether a run is small enough for memory; it then starts regardless of the free memory. Steps of chains write their
 * arrays block by block, without an image of the whole.
 */
export const isHoldable = ({ resources: { disk_bytes, memory_bytes, per_step } }: ExecutionPlan): boolean =>
  disk_bytes <= HELD_BYTES && memory_bytes <= SMALL_RUN_BYTES && per_step.every(({ chain }) => chain === undefined);

/** Takes the files of one run; unused where the run was too large and has a bundle. */
export class HeldFiles implements RunFiles {
  /** The effective recipe; null before the end. */
  recipe: RecipeDocument | null = null;
  readonly #documents = new Map<string, Uint8Array>();
  readonly #artifacts = new Map<BundlePath, Uint8Array>();

  /** Whether the run is here, and has no bundle. */
  get isUsed(): boolean {
    return this.recipe !== null;
  }

  putDocument(name: string, text: string): void {
    this.#documents.set(name, Buffer.from(text));
  }

  putArtifact(path: BundlePath, bytes: Uint8Array): void {
    this.#artifacts.set(path, bytes);
  }

  read(path: string, maxBytes: number): Uint8Array {
    const bytes = this.#find(path);
    if (bytes === undefined) throw new SvcError("bundle_file_missing", `Cannot find ${path} in the run`);
    if (bytes.length <= maxBytes) return bytes;
    throw new SvcError("artifact_limit_exceeded", `Cannot read ${path}: it has more than ${maxBytes} bytes`);
  }

  size(path: string): number | null {
    return this.#find(path)?.length ?? null;
  }

  #find(path: string): Uint8Array | undefined {
    return this.#documents.get(path) ?? this.#artifacts.get(path as BundlePath);
  }

  /**
   * Writes the finished run as a bundle. An artifact that a failing step has changed is not what was hashed: it is listed
   * as one that was not kept.
   * @param summary of the run
   */
  store(workspace: Workspace, summary: SummaryDocument, files: BundleFiles = DISK): void {
    const { run_id } = summary, nursery = inside(workspace.transit, run_id);
    const outputs = outputsOf(summary).map(({ output: { path, sha256 } }) => ({
      path,
      sha256,
      bytes: this.read(path, Infinity),
    }));
    const changed = outputs.filter(({ bytes, sha256 }) => sha256Hex(bytes) !== sha256);
    makeFolder(nursery);
    try {
      for (const { path, bytes } of outputs.filter((output) => !changed.includes(output))) {
        const file = inside(nursery, path);
        makeFolderOf(file);
        files.write(file, bytes, false);
        makeReadOnly(file);
      }
      for (const [name, bytes] of this.#documents) files.write(inside(nursery, name), bytes, false);
      files.rename(nursery, inside(workspace.runs, run_id));
    } catch (error) {
      discardEntry(nursery, files.remove);
      throw error;
    }
    if (changed.length > 0) {
      const lost = changed.map(({ path, sha256, bytes }) => ({ path, sha256, size_bytes: bytes.length }));
      listPruned(workspace, run_id, lost, files);
    }
  }
}
