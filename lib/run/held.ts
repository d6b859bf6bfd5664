/**
 * The files of a run in memory. A row of a benchmark whose run is not kept needs its documents and reports once, for its
 * snapshot: a small one makes no file, which costs more than the steps of a short link. A run that has to stay after all,
 * because its row failed, is stored as any other.
 */
import { basename } from "node:path";
import {
  discardEntry,
  entryOf,
  inside,
  type InsidePath,
  makeFolder,
  makeNewFolder,
  type NewFolder,
} from "../artifact/inside.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { BundlePath, Digest } from "../contract/names.ts";
import type { KnownContents } from "../execute/contents.ts";
import type { ExecutionPlan } from "../plan/types.ts";
import { outputsOf, type SummaryDocument } from "./bundle_schema.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { type BundleFiles, DISK, type RunFiles } from "./files.ts";
import { ARTIFACTS_FOLDER, PRUNED_FILE } from "./documents.ts";
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

export interface HeldOptions {
  /** Which artifacts are written; default all. */
  isKept?: IsKept;
  /** Stores equal artifacts once; without it each file is written. */
  contents?: KnownContents;
  files: BundleFiles;
}

/** Writes an artifact under a name that is free, or makes it a link to an equal one. */
async function putArtifact(
  path: InsidePath,
  bytes: Uint8Array,
  { sha256, artifacts, contents, files }: Omit<HeldOptions, "isKept"> & { sha256: Digest; artifacts: string },
): Promise<void> {
  if (contents?.link(path, sha256)) return;
  files.create(path, bytes, true);
  await contents?.share(path, sha256, artifacts);
}

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
      await this.write(makeNewFolder(nursery), summary, { files });
      files.rename(nursery, inside(workspace.runs, run_id));
    } catch (error) {
      discardEntry(nursery, files.remove);
      throw error;
    }
  }

  /**
   * Writes the finished run into a folder.
   * @returns the artifacts that are not there: those that are not kept, and those that a failing step has changed
   */
  async write(
    folder: NewFolder,
    summary: SummaryDocument,
    { isKept = () => true, contents, files }: HeldOptions,
  ): Promise<PrunedFile[]> {
    const artifacts = makeNewFolder(entryOf(folder, ARTIFACTS_FOLDER)), places = new Map<string, NewFolder>();
    const left: PrunedFile[] = [];
    for (const { step_id, output: { path, sha256, kind } } of outputsOf(summary)) {
      const bytes = this.read(path, Infinity);
      if (!isKept(step_id, kind) || sha256Hex(bytes) !== sha256) {
        left.push({ path, sha256, size_bytes: bytes.length });
        continue;
      }
      let place = places.get(step_id);
      if (place === undefined) places.set(step_id, place = makeNewFolder(entryOf(artifacts, step_id)));
      await putArtifact(entryOf(place, basename(path)), bytes, { sha256, artifacts, contents, files });
    }
    if (left.length > 0) this.putDocument(PRUNED_FILE, new TextEncoder().encode(prunedText(left)));
    for (const [name, bytes] of this.#documents) files.create(entryOf(folder, name), bytes, false);
    return left;
  }
}
