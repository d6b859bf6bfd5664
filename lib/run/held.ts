/**
 * The files of a run in memory. A row of a benchmark whose run is not kept needs its documents and reports once, for its
 * snapshot: a small one makes no file, which costs more than the steps of a short link. A run that has to stay after all,
 * because its row failed, is stored as any other.
 */
import { discardEntry, inside, makeFolder } from "../artifact/inside.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { BundlePath } from "../contract/names.ts";
import { type WholeBundle, writeBundle } from "../execute/bundle_files.ts";
import type { OutputRow } from "../execute/types.ts";
import type { ExecutionPlan } from "../plan/types.ts";
import { outputsOf, type SummaryDocument } from "./bundle_schema.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { type BundleFiles, DISK, type RunFiles } from "./files.ts";
import { PRUNED_FILE } from "./documents.ts";
import { type IsKept, type PrunedFile, prunedText } from "./prune.ts";
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

  /** Names of the documents. */
  get documents(): string[] {
    return [...this.#documents.keys()];
  }

  /** Paths and bytes of the artifacts. */
  get artifacts(): ReadonlyMap<BundlePath, Uint8Array> {
    return this.#artifacts;
  }

  putDocument(name: string, bytes: Uint8Array): void {
    this.#documents.set(name, bytes);
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
  async store(workspace: Workspace, summary: SummaryDocument, files: BundleFiles = DISK): Promise<void> {
    const { run_id } = summary, nursery = inside(workspace.transit, run_id);
    makeFolder(workspace.transit);
    try {
      await writeBundle(nursery, this.bundle(summary, this.changed(summary)), { files });
      files.rename(nursery, inside(workspace.runs, run_id));
    } catch (error) {
      discardEntry(nursery, files.remove);
      throw error;
    }
  }

  /** Artifacts of the finished run that are not what was hashed. */
  changed(summary: SummaryDocument): PrunedFile[] {
    return this.#listed(summary, (_step, { path, sha256 }) => sha256Hex(this.read(path, Infinity)) !== sha256);
  }

  /** Artifacts of the finished run that are not kept. */
  dropped(summary: SummaryDocument, isKept: IsKept): PrunedFile[] {
    return this.#listed(summary, (step, { kind }) => !isKept(step, kind));
  }

  #listed(summary: SummaryDocument, isLeft: (step: string, output: OutputRow) => boolean): PrunedFile[] {
    return outputsOf(summary).filter(({ step_id, output }) => isLeft(step_id, output)).map(
      ({ output: { path, sha256 } }) => ({ path, sha256, size_bytes: this.read(path, Infinity).length }),
    );
  }

  /** The bundle of the finished run without some artifacts, which it lists. */
  bundle(summary: SummaryDocument, left: readonly PrunedFile[]): WholeBundle {
    const paths = new Set(left.map(({ path }) => path));
    const kept = outputsOf(summary).filter(({ output }) => !paths.has(output.path));
    const documents = [...this.#documents].map(([name, bytes]) => ({ name, bytes }));
    if (left.length > 0) documents.push({ name: PRUNED_FILE, bytes: new TextEncoder().encode(prunedText(left)) });
    return {
      artifacts: kept.map(({ step_id: step, output: { path, sha256 } }) => {
        return { step, path, sha256, bytes: this.read(path, Infinity) };
      }),
      documents,
    };
  }
}
