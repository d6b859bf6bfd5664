/** `svc data`: manifests of image folders, the data sets that come with the program, and published ones. */
import { dirname, join } from "node:path";
import { type Diagnostic, SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { prettyJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { Command } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable } from "../table.ts";

export function dataCommands(program: Command): void {
  const data = program.command("data").description("manifests of image folders, and data sets");

  data.command("list")
    .description("list the data sets that come with the program, those in the state directory, and published ones")
    .action(list);

  data.command("fetch <id>")
    .description("bring a data set to this machine; one of the two commands that use the network")
    .option("--sha256 <digest>", "digest of the whole set, as the fetch.json of a colleague has it")
    .option("--accept-unpinned", "take what arrives where no digest is known, and pin it from then on")
    .addHelpText(
      "after",
      "\nA download that was cut goes on where it stopped. Runs never use the network." +
        "\n\nExamples\n  svc data fetch kodak --accept-unpinned\n  svc data fetch kodak --sha256 <digest>\n",
    )
    .action(fetchDataset);

  data.command("verify [id]")
    .description("hash the files of bundled and fetched data sets again; exit 6 when one differs")
    .action(verify);

  data.command("make-manifest <folder>")
    .description("write an image-dataset manifest for a folder of PNG and JPEG files and print its SHA-256")
    .option("--id <id>", "data set id (default: the name of the folder)")
    .option("--version <version>", "data set version", "1")
    .option("--out <file>", "where to write it (default: manifest.json in the folder)")
    .option("--force", "replace an existing file")
    .addHelpText("after", "\nExamples\n  svc data make-manifest photos --id my_photos\n")
    .action(makeManifest);

  data.command("validate-manifest <file>")
    .description("check an image-dataset manifest: schema, splits, ancestry, and its files; exit 3 with every finding")
    .option("--no-files", "leave the files alone")
    .option("--decode", "also decode the pictures whose samples are hashed")
    .addHelpText("after", "\nExamples\n  svc data validate-manifest photos/manifest.json --decode\n")
    .action(validateManifest);
}

/** What is known of a data set: bundled and present, bundled and not fetched, or put there by hand. */
async function datasets(context: CliContext): Promise<JsonObject[]> {
  const { BUNDLED_DATASETS, isBundledDatasetPresent } = await import("../../artifact/bundled.ts");
  const { stateDir } = await context.workspace();
  const bundled = Object.values(BUNDLED_DATASETS).map(({ id, version, splits, files }): JsonObject => ({
    id,
    version,
    source: "bundled",
    status: isBundledDatasetPresent(id, { stateDir }) ? "present" : "not_fetched",
    file_count: Object.keys(files).length,
    size_bytes: Object.values(files).reduce((sum, file) => sum + file.size_bytes, 0),
    splits: Object.fromEntries(Object.entries(splits).map(([name, ids]) => [name, [...ids]])),
  }));
  const folder = join(stateDir, "datasets");
  const { PUBLISHED_DATASETS, publishedDataset } = await import("../../artifact/published_datasets.ts");
  const { datasetFolder, fetchedDataset } = await import("../../fetch/datasets.ts");
  const published = await Promise.all(PUBLISHED_DATASETS.map(async (dataset): Promise<JsonObject> => {
    const there = await Deno.stat(datasetFolder(stateDir, dataset)).then((info) => info.isDirectory, () => false);
    const record = fetchedDataset(stateDir, dataset);
    const sizes = Object.values(record?.files ?? {}).map(({ size_bytes }) => Number(size_bytes));
    return {
      id: dataset.id,
      version: dataset.version,
      source: "published",
      status: there ? "present" : Object.keys(dataset.files).length === 0 ? "bring_your_own" : "not_fetched",
      ...(record === null ? {} : {
        sha256: record.sha256,
        file_count: sizes.length,
        size_bytes: sizes.reduce((sum, size) => sum + size, 0),
      }),
    };
  }));
  const local: JsonObject[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      const known = Object.hasOwn(BUNDLED_DATASETS, entry.name) || publishedDataset(entry.name) !== undefined;
      if (!entry.isDirectory || entry.name.includes(".partial") || known) continue;
      local.push({ id: entry.name, version: null, source: "state_directory", status: "present" });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return [...bundled, ...published, ...local.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))];
}

async function list(_options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const rows = await datasets(context);
  context.emit({ schema_version: 1, datasets: rows });
  const lines = rows.map(({ id, version, source, status, size_bytes: size }) => ({
    dataset: String(id),
    version: version === null ? "" : String(version),
    source: String(source).replaceAll("_", " "),
    status: String(status).replaceAll("_", " "),
    size: size === undefined ? "" : formatBytes(Number(size)),
  }));
  const columns = [{ key: "dataset" }, { key: "version" }, { key: "source" }, { key: "status" }];
  context.print(formatTable(lines, [...columns, { key: "size", align: "right" as const }]));
}

interface FetchOptions {
  sha256?: string;
  acceptUnpinned?: boolean;
}

async function fetchDataset(id: string, options: FetchOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { BUNDLED_DATASETS } = await import("../../artifact/bundled_datasets.ts");
  const { stateDir } = await context.workspace();
  await knownDataset(id);
  if (!Object.hasOwn(BUNDLED_DATASETS, id)) {
    const [fetching, { fetchProgress }] = await Promise.all([
      import("../../fetch/datasets.ts"),
      import("../fetch_progress.ts"),
    ]);
    const onProgress = fetchProgress(context);
    const { folder, fetched, record } = await fetching.fetchDataset(id, { ...options, stateDir, onProgress });
    const status = fetched ? "fetched" : "present";
    context.emit({ schema_version: 1, id, status, folder, record });
    const digest = record === null ? "" : `\n  sha256 of the set: ${record.sha256}`;
    context.print(`${context.paint("green", status)}  ${id}\n  ${folder}${digest}`);
    return;
  }
  const { fetchBundledDataset, isBundledDatasetPresent } = await import("../../artifact/bundled.ts");
  const present = isBundledDatasetPresent(id, { stateDir });
  const folder = present ? null : await fetchBundledDataset(id, { stateDir });
  context.emit({ schema_version: 1, id, status: present ? "present" : "fetched", folder });
  context.print(present ? `${id} is present` : `${context.paint("green", "fetched")}  ${id}\n  ${folder}`);
}

/** @throws SvcError `not_found` with the nearest name */
async function knownDataset(id: string): Promise<void> {
  const { BUNDLED_DATASETS } = await import("../../artifact/bundled_datasets.ts");
  const { PUBLISHED_DATASETS, publishedDataset } = await import("../../artifact/published_datasets.ts");
  if (Object.hasOwn(BUNDLED_DATASETS, id) || publishedDataset(id) !== undefined) return;
  const { didYouMean } = await import("../../contract/nearest.ts");
  const hint = didYouMean(id, [...Object.keys(BUNDLED_DATASETS), ...PUBLISHED_DATASETS.map((known) => known.id)]);
  throw new SvcError("not_found", `Cannot find a data set named ${id}`, { hint });
}

async function verify(id: string | undefined, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { BUNDLED_DATASETS, isBundledDatasetPresent, readBundledFile } = await import("../../artifact/bundled.ts");
  const { PUBLISHED_DATASETS } = await import("../../artifact/published_datasets.ts");
  const { fetchedDataset, verifyDataset } = await import("../../fetch/datasets.ts");
  const { stateDir } = await context.workspace();
  if (id !== undefined) await knownDataset(id);
  const rows: JsonObject[] = [];
  for (const dataset of Object.keys(BUNDLED_DATASETS)) {
    if (id !== undefined && id !== dataset) continue;
    if (id === undefined && !isBundledDatasetPresent(dataset, { stateDir })) {
      rows.push({ id: dataset, path: null, status: "not_fetched" });
      continue;
    }
    for (const path of Object.keys(BUNDLED_DATASETS[dataset].files)) {
      rows.push({ id: dataset, path, ...await verifyFile(() => readBundledFile(dataset, path, { stateDir })) });
    }
  }
  for (const dataset of PUBLISHED_DATASETS) {
    const asked = id === dataset.id || id === dataset.folder;
    if (!asked && (id !== undefined || fetchedDataset(stateDir, dataset) === null)) continue;
    for (const file of verifyDataset(stateDir, dataset.id)) rows.push({ id: dataset.id, ...file });
  }
  const sound = rows.every(({ status }) => status === "ok" || status === "not_fetched");
  context.emit({ schema_version: 1, status: sound ? "valid" : "invalid", files: rows });
  for (const { id: dataset, path, status, message } of rows) {
    const color = status === "ok" ? "green" : status === "not_fetched" ? "yellow" : "red";
    const place = path === null ? dataset : `${dataset}/${path}`;
    context.print(`${context.paint(color, String(status))}  ${place}${message === undefined ? "" : `: ${message}`}`);
  }
  if (!sound) context.exitCode = EXIT.differs;
}

async function verifyFile(read: () => Promise<Uint8Array>): Promise<JsonObject> {
  try {
    await read();
    return { status: "ok" };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { status: error.code === "boundary_hash_mismatch" ? "differs" : "missing", message: error.message };
  }
}

interface ManifestOptions {
  id?: string;
  version: string;
  out?: string;
  force?: boolean;
}

async function makeManifest(folder: string, options: ManifestOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { makeImageManifest } = await import("../../artifact/dataset_manifest.ts");
  const { writeFileAtomic } = await import("../../artifact/ledger.ts");
  const manifest = await makeImageManifest(folder, { id: options.id, version: options.version });
  const text = prettyJson(manifest);
  const path = options.out ?? join(folder, "manifest.json");
  if (!options.force) {
    const taken = await Deno.lstat(path).then(() => true, () => false);
    if (taken) {
      throw new SvcError("manifest_exists", `Cannot write ${path}: it exists`, { hint: "Add --force to replace it" });
    }
  }
  writeFileAtomic(path, new TextEncoder().encode(text));
  const sha256 = sha256Hex(text);
  const images = (manifest.samples as unknown[]).length;
  context.emit({ schema_version: 1, path, sha256, id: manifest.id, image_count: images });
  context.print(`${path}\n  ${images} images\n  manifest_sha256: ${sha256}`);
}

async function validateManifest(
  file: string,
  options: { files: boolean; decode?: boolean },
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const { checkManifestFiles, parseImageManifest } = await import("../../artifact/dataset_manifest.ts");
  const { attachLocations, excerpt } = await import("../../recipe/positions.ts");
  const { readJson } = await import("../../recipe/json_reader.ts");
  const bytes = await readFile(file);
  const text = new TextDecoder().decode(bytes);
  context.excerpt = (location) => excerpt(text, location);
  // The recipe reader knows lines and repeated keys; manifests are JSON as well.
  const { locate } = readJson(text, file);
  const refuse = (found: Diagnostic[]): never => {
    throw new SvcError("dataset_manifest_invalid", `Cannot use the image-dataset manifest ${file}`, {
      diagnostics: attachLocations(found, locate),
    });
  };
  let manifest: ReturnType<typeof parseImageManifest>;
  try {
    manifest = parseImageManifest(bytes);
  } catch (error) {
    if (error instanceof SvcError && error.diagnostics.length > 0) refuse(error.diagnostics);
    throw error;
  }
  const found = options.files ? await checkManifestFiles(manifest, dirname(file), { decode: options.decode }) : [];
  if (found.length > 0) refuse(found);
  const splits = Object.fromEntries(Object.entries(manifest.splits).map(([name, ids]) => [name, ids.length]));
  const sha256 = sha256Hex(bytes);
  context.emit({
    schema_version: 1,
    status: "valid",
    id: manifest.id,
    version: manifest.version,
    sha256,
    sample_count: manifest.samples.length,
    splits,
    files_checked: options.files,
    diagnostics: [],
  });
  const counts = Object.entries(splits).map(([name, count]) => `${name} ${count}`).join(", ");
  context.print(
    `${context.paint("green", "valid")}  ${manifest.id}: ${manifest.samples.length} samples (${counts})\n` +
      `  manifest_sha256: ${sha256}`,
  );
}

async function readFile(file: string): Promise<Uint8Array> {
  try {
    return await Deno.readFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new SvcError("file_not_found", `Cannot find the manifest ${file}`, { hint: "Check the path" });
    }
    if (!(error instanceof Deno.errors.IsADirectory)) throw error;
    throw new SvcError("file_not_found", `Cannot read ${file} as a manifest: it is a folder`, {
      hint: `Name the file in it: ${join(file, "manifest.json")}`,
    });
  }
}
