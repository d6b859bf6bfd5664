/** Models: bundled, fetched, and available for fetching. */
import { entriesOf } from "../artifact/path_kind.ts";
import { basename, join } from "node:path";
import { hashFile } from "../artifact/hash_file.ts";
import { licenceText } from "../artifact/licence.ts";
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { JsonObject } from "../contract/value.ts";
import { KNOWN_MODELS, type KnownModel, knownModel } from "../model/known_models.ts";
import { fetchedRevisions, type FetchRecord, isModelName, modelFolder, readFetchRecord } from "../model/store.ts";
import { bring, type BringOptions, type VerifiedFile, verifyFetched } from "./bring.ts";
import { checkAddress, download } from "./download.ts";

const HUB = "https://huggingface.co";

/** A row of `svc models list`. */
export interface ModelRow extends JsonObject {
  id: string;
  title: string;
  source: "program" | "fetched" | "published";
  status: "present" | "not_fetched" | "bring_your_own";
  revision: string | null;
  size_bytes: number | null;
  /** SPDX identifier of a bundled model. */
  licence: string | null;
  /** The command that fetches it, or an alternative. */
  remedy: string | null;
}

/** All models that can be named: bundled, fetched, and known published ones. */
export function listModels({ stateDir, programRoot }: { stateDir: string; programRoot?: string }): ModelRow[] {
  const rows: ModelRow[] = programModels(programRoot).map(({ id, licence, size_bytes }) => ({
    id,
    title: "bundled with the program",
    source: "program",
    status: "present",
    revision: null,
    size_bytes,
    licence,
    remedy: null,
  }));
  const ids = new Set([...KNOWN_MODELS.map(({ id }) => id), ...fetchedIds(stateDir)]);
  for (const id of ids) {
    const known = knownModel(id);
    const revisions = fetchedRevisions(stateDir, id);
    const title = known?.title ?? "fetched";
    for (const revision of revisions) {
      const { files } = readFetchRecord(join(modelFolder(stateDir, id), revision));
      const size_bytes = Object.values(files).reduce((sum, file) => sum + Number(file.size_bytes), 0);
      rows.push({ id, title, source: "fetched", status: "present", revision, size_bytes, licence: null, remedy: null });
    }
    if (revisions.length > 0 || known === undefined) continue;
    const fetch = known.repository === null ? null : fetchCommand(known);
    const status = fetch === null ? "bring_your_own" : "not_fetched";
    rows.push({
      id,
      title,
      source: "published",
      status,
      revision: known.revision,
      size_bytes: null,
      licence: null,
      remedy: fetch ?? known.remedy,
    });
  }
  return rows;
}

const fetchCommand = ({ id, revision }: KnownModel) =>
  `svc models fetch ${id}${revision === null ? " --revision <commit>" : ""}`;

function programModels(programRoot: string | undefined): Pick<ModelRow, "id" | "licence" | "size_bytes">[] {
  if (programRoot === undefined) return [];
  const folder = join(programRoot, "recipes", "models");
  return [...Deno.readDirSync(folder)]
    .filter(({ isDirectory, name }) => isDirectory && isPackage(join(folder, name)))
    .map(({ name }) => ({
      id: name,
      licence: /^SPDX-License-Identifier: (.+)$/m.exec(licenceText(join(folder, name)) ?? "")?.[1] ?? null,
      size_bytes: [...Deno.readDirSync(join(folder, name))]
        .filter((entry) => entry.isFile && entry.name.endsWith(".onnx"))
        .reduce((sum, entry) => sum + Deno.statSync(join(folder, name, entry.name)).size, 0),
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

const isPackage = (folder: string) =>
  [...Deno.readDirSync(folder)].some(({ name }) => name === "trained_artifact.yaml");

/** Names of fetched models. */
function fetchedIds(stateDir: string): string[] {
  return entriesOf(join(stateDir, "models"))
    .filter(({ isDirectory, name }) => isDirectory && name !== "url")
    .map(({ name }) => name.replace("__", "/"))
    .filter((id) => isModelName(id) && fetchedRevisions(stateDir, id).length > 0)
    .sort();
}

export interface FetchModelOptions extends Omit<BringOptions, "code"> {
  stateDir: string;
  /** Full commit; default the pinned one. */
  revision?: string;
  /** Digest of the file, for a model at an address. */
  sha256?: string;
  /** Repository or base address instead of the known one. */
  from?: string;
  /** Files to fetch instead of the known ones. */
  files?: readonly string[];
}

export interface FetchedModel {
  folder: string;
  /** false if already present */
  fetched: boolean;
  record: FetchRecord | null;
}

/**
 * Fetches a model: a known one, files of any repository at a commit, or one file at an address.
 * @param id name, or an https address with `sha256`
 * @throws SvcError `model_unavailable`, `artifact_hash_mismatch`, `not_found`, `usage_invalid`
 */
export async function fetchModel(id: string, options: FetchModelOptions): Promise<FetchedModel> {
  if (/^https?:/.test(id)) return await fetchFile(id, options);
  if (!isModelName(id)) throw new SvcError("not_found", `Cannot use ${JSON.stringify(id)} as the name of a model`);
  const known = knownModel(id);
  const revision = options.revision ?? known?.revision ?? null;
  if (revision === null || !/^[0-9a-f]{40}$/.test(revision)) {
    throw new SvcError("usage_invalid", `Cannot fetch ${id} without a full commit`, {
      hint: "Add --revision with the 40 hex digits of the commit, as the repository shows them; a branch can move",
    });
  }
  const base = options.from ?? (known?.repository ?? (known === undefined ? id : null));
  const paths = options.files?.length ? [...options.files] : Object.keys(known?.files ?? {});
  if (base === null) {
    throw new SvcError("model_unavailable", `Cannot fetch ${id}: it has no known published ONNX export`, {
      hint: `${known!.remedy[0].toUpperCase()}${known!.remedy.slice(1)}; or name a repository with an export by --from`,
    });
  }
  if (paths.length === 0) {
    const hint = didYouMean(id, KNOWN_MODELS.map((model) => model.id)) ?? "Add --file for every required file";
    throw new SvcError("not_found", `Cannot fetch ${id}: its files are unknown`, { hint });
  }
  const folder = join(modelFolder(options.stateDir, id), revision);
  if (fetchedRevisions(options.stateDir, id).includes(revision)) {
    return { folder, fetched: false, record: readFetchRecord(folder) };
  }
  const root = /^https?:/.test(base) ? base.replace(/\/$/, "") : `${HUB}/${base}/resolve/${revision}`;
  // Digests apply to the known repository only.
  const pinned = options.from === undefined && revision === known?.revision ? known.files : {};
  const files = Object.fromEntries(
    paths.map((path) => [path, { url: `${root}/${path}`, sha256: pinned[path]?.sha256 }]),
  );
  for (const { url } of Object.values(files)) checkAddress(url);
  const record = await bring({ id, version: revision, url: root, files }, folder, {
    ...options,
    code: "model_unavailable",
  });
  return { folder, fetched: true, record };
}

/** One file, stored under its digest. */
async function fetchFile(
  url: string,
  { stateDir, sha256, signal, onProgress }: FetchModelOptions,
): Promise<FetchedModel> {
  if (sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new SvcError("usage_invalid", "Cannot fetch a model at an address without the SHA-256 of its file", {
      hint: "Add --sha256 with its 64 hex digits; recipes name it in expected_model_sha256",
    });
  }
  const folder = join(stateDir, "models", "url", sha256);
  const name = basename(checkAddress(url, sha256).pathname) || "model.onnx";
  const target = join(folder, name);
  await Deno.mkdir(folder, { recursive: true });
  const there = await Deno.stat(target).then(() => true, () => false);
  if (there && hashFile(target).sha256 === sha256) return { folder, fetched: false, record: null };
  const report = (received: number, total: number | null) => onProgress?.(name, received, total);
  await download(url, target, { sha256, code: "model_unavailable", signal, onProgress: report });
  return { folder, fetched: true, record: null };
}

/** Verification result of one revision of a model. */
export interface VerifiedModel extends JsonObject {
  id: string;
  revision: string;
  status: "valid" | "invalid";
  files: VerifiedFile[];
}

/** Hashes the files of fetched models again; default all models. @throws SvcError `not_found` */
export function verifyModels(stateDir: string, id?: string): VerifiedModel[] {
  const ids = id === undefined ? fetchedIds(stateDir) : [id];
  const revisions = ids.flatMap((name) => fetchedRevisions(stateDir, name).map((revision) => ({ name, revision })));
  if (id !== undefined && revisions.length === 0) {
    throw new SvcError("not_found", `Cannot find a fetched model named ${id}`, {
      hint: didYouMean(id, fetchedIds(stateDir)),
    });
  }
  return revisions.map(({ name, revision }): VerifiedModel => {
    const folder = join(modelFolder(stateDir, name), revision);
    const files = verifyFetched(folder, readFetchRecord(folder));
    return { id: name, revision, status: files.every(({ status }) => status === "ok") ? "valid" : "invalid", files };
  });
}
