/** Datasets: those of the program, of the state directory, published ones, and manifests of images, texts and bits. */
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import type { DataContents, DataFolder } from "../../artifact/data_files.ts";
import type { DataSet } from "../../artifact/data_sets.ts";
import type { ImageManifest, MakeManifestOptions } from "../../artifact/dataset_manifest.ts";
import type { ImageArchive } from "../../artifact/image_archive.ts";
import type { TextManifest } from "../../artifact/text_manifest.ts";
import type { MakeLinesOptions } from "../../artifact/text_lines_file.ts";
import type { TextLinesManifest } from "../../artifact/text_lines.ts";
import type { MakeTextOptions } from "../../artifact/text_manifest_files.ts";
import type { FetchDatasetOptions } from "../../fetch/datasets.ts";
import { checkPath, confine } from "../../artifact/confine.ts";
import { entryInfo, exists, isFolder } from "../../artifact/path_kind.ts";
import { readBounded } from "../../artifact/read_file.ts";
import { type Code, type Diagnostic, isWarning, SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { prettyJson } from "../../contract/json.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { isObject, type JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { call, camelKeys, type Origin } from "../call.ts";
import { documentOf, OBJECT, ownWarnings } from "../documents.ts";
import { pullCall, pushCall } from "../exchange_calls.ts";
import { flag, text } from "../fields.ts";

/** A dataset that the program knows or that lies in the state directory. */
export interface DatasetRow extends JsonObject {
  id: string;
  version: string | null;
  source: "bundled" | "published" | "state_directory";
  status: "present" | "not_fetched" | "bring_your_own";
}

/** A file of a dataset whose bytes were hashed again. */
export interface VerifiedDatasetFile extends JsonObject {
  id: string;
  path: string | null;
  status: string;
}

/** A manifest that was written. */
export interface WrittenManifest {
  path: string;
  sha256: string;
  manifest: JsonObject;
  /** Files that were left out or have a fault. */
  warnings: Diagnostic[];
}

/** A manifest that was written, without its samples. */
interface MadeManifest extends Pick<WrittenManifest, "path" | "sha256"> {
  /** Of the dataset; null for bit payloads. */
  id: string | null;
  kind: string;
  sample_count: number | null;
  warnings: string[];
}

/** A manifest that was read, with its digest. */
export interface CheckedManifest {
  manifest: ImageManifest | TextManifest | TextLinesManifest;
  sha256: string;
  /** What does not keep it from being used. */
  warnings: Diagnostic[];
}

type DatasetImages = {
  dataset: string;
  available: boolean;
  images: { id: string; width: number; height: number; sha256: string | null }[];
  /** The command that brings a dataset that is not available. */
  fetch?: string;
};

/** Of a file that becomes a manifest of bits. */
const MAX_BITS_BYTES = 2 ** 28;
/** Of a file that is described, as of one that an operation reads. */
const MAX_DATA_BYTES = 2 ** 30;

const SETS = z.object({
  sets: z.array(documentOf<DataSet>(z.object({ path: z.string(), kind: z.string(), state: z.string() }))),
  truncated: z.boolean(),
});

const projectFiles = () => import("../../artifact/data_files.ts");
const bundledSets = () => import("../../artifact/bundled.ts");
const publishedSets = () => import("../../artifact/published_datasets.ts");
const fetchedSets = () => import("../../fetch/datasets.ts");

export const data = {
  /** The datasets that are known here, and whether each is present. */
  list: call("List bundled, stored and known published datasets", {
    cli: {},
    async run({ workspace: { stateDir } }): Promise<DatasetRow[]> {
      const { BUNDLED_DATASETS, isBundledDatasetPresent } = await bundledSets();
      const { PUBLISHED_DATASETS, publishedDataset } = await publishedSets();
      const { datasetFolder, fetchedDataset } = await fetchedSets();
      const bundled = Object.values(BUNDLED_DATASETS).map(({ id, version, splits, files }): DatasetRow => ({
        id,
        version,
        source: "bundled",
        status: isBundledDatasetPresent(id, { stateDir }) ? "present" : "not_fetched",
        file_count: Object.keys(files).length,
        size_bytes: Object.values(files).reduce((sum, file) => sum + file.size_bytes, 0),
        splits: Object.fromEntries(Object.entries(splits).map(([name, ids]) => [name, [...ids]])),
      }));
      const published = PUBLISHED_DATASETS.map((dataset): DatasetRow => {
        const record = fetchedDataset(stateDir, dataset);
        const sizes = Object.values(record?.files ?? {}).map(({ size_bytes }) => Number(size_bytes));
        const fetchable = Object.keys(dataset.files).length > 0;
        return {
          id: dataset.id,
          version: dataset.version,
          source: "published",
          status: isFolder(datasetFolder(stateDir, dataset)) ? "present" : fetchable ? "not_fetched" : "bring_your_own",
          ...(record === null ? {} : {
            sha256: record.sha256,
            file_count: sizes.length,
            size_bytes: sizes.reduce((sum, size) => sum + size, 0),
          }),
        };
      });
      const known = (name: string) => Object.hasOwn(BUNDLED_DATASETS, name) || publishedDataset(name) !== undefined;
      const local = foldersOf(join(stateDir, "datasets"))
        .filter((name) => !name.includes(".partial") && !known(name))
        .map((id): DatasetRow => ({ id, version: null, source: "state_directory", status: "present" }));
      return [...bundled, ...published, ...local];
    },
  }),

  /**
   * Brings a dataset to this machine. It uses the network, unless the program has the files beside it.
   * @throws SvcError `not_found` with the nearest name, `dataset_unavailable`, `usage_invalid`, `artifact_hash_mismatch`
   */
  fetch: call("Download a dataset; one of the two commands that use the network", {
    fields: {
      id: z.string(),
      sha256: text("expected digest of the dataset, as in fetch.json", "digest"),
      accept_unpinned: flag("accept a dataset without a known digest and pin its digest"),
    },
    args: ["id"],
    cli: { usage: "<id>" },
    async run(
      { workspace: { stateDir } },
      { id, ...fields },
      means: Omit<FetchDatasetOptions, "stateDir" | "sha256" | "acceptUnpinned">,
    ): Promise<{ id: string; folder: string | null; fetched: boolean; record: JsonObject | null }> {
      await checkKnown(id);
      const { BUNDLED_DATASETS, fetchBundledDataset, isBundledDatasetPresent } = await bundledSets();
      if (!Object.hasOwn(BUNDLED_DATASETS, id)) {
        return { id, ...await (await fetchedSets()).fetchDataset(id, { ...camelKeys(fields), ...means, stateDir }) };
      }
      const fetched = !isBundledDatasetPresent(id, { stateDir });
      const folder = fetched ? await fetchBundledDataset(id, { stateDir }) : null;
      return { id, folder, fetched, record: null };
    },
  }),

  /** Hashes the files of bundled and fetched datasets again; of all when none is named. @throws SvcError `not_found` */
  verify: call("Verify the hashes of bundled and fetched datasets", {
    fields: { id: z.string().optional() },
    args: ["id"],
    cli: { usage: "[id]", exits: "exit 6 on a difference" },
    async run({ workspace: { stateDir } }, { id }): Promise<VerifiedDatasetFile[]> {
      if (id !== undefined) await checkKnown(id);
      const { BUNDLED_DATASETS, isBundledDatasetPresent, readBundledFile } = await bundledSets();
      const { PUBLISHED_DATASETS } = await publishedSets();
      const { fetchedDataset, verifyDataset } = await fetchedSets();
      const rows: VerifiedDatasetFile[] = [];
      for (const dataset of Object.keys(BUNDLED_DATASETS)) {
        if (id !== undefined && id !== dataset) continue;
        if (id === undefined && !isBundledDatasetPresent(dataset, { stateDir })) {
          rows.push({ id: dataset, path: null, status: "not_fetched" });
          continue;
        }
        for (const path of Object.keys(BUNDLED_DATASETS[dataset].files)) {
          const verdict = await readBundledFile(dataset, path, { stateDir }).then(
            () => ({ status: "ok" }),
            hashVerdict,
          );
          rows.push({ id: dataset, path, ...verdict });
        }
      }
      for (const dataset of PUBLISHED_DATASETS) {
        const asked = id === dataset.id || id === dataset.folder;
        if (!asked && (id !== undefined || fetchedDataset(stateDir, dataset) === null)) continue;
        for (const file of verifyDataset(stateDir, dataset.id)) rows.push({ id: dataset.id, ...file });
      }
      return rows;
    },
  }),

  /** The files of a folder of the project, folders first, at most 500. @throws SvcError `path_forbidden`, `not_found`, `usage_invalid` */
  files: call("List the files of a folder of the project", {
    fields: { folder: z.string().default("").describe("relative to the project; empty for the project") },
    args: ["folder"],
    output: documentOf<DataFolder>(z.object({ folder: z.string(), files: z.array(OBJECT), truncated: z.boolean() })),
    refuses: [400, 403, 404],
    http: { route: "get /api/data/files", returns: "Files by name, folders first, at most 500" },
    run: async ({ workspace }, { folder }) => (await projectFiles()).dataFolder(workspace.projectRoot, folder),
  }),

  /** What a file of the project holds, or thumbnails of the images of a folder. @throws SvcError as `files`, and those of the format */
  preview: call("Show what a file holds: lines, spectrum, power-delay profile, thumbnails of images", {
    fields: { path: z.string().describe("file or folder, relative to the project") },
    args: ["path"],
    output: documentOf<DataContents>(z.object({ path: z.string(), kind: z.string(), preview: OBJECT.nullable() })),
    refuses: [400, 403, 404],
    http: { route: "get /api/data/preview", returns: "Description and preview" },
    run: async ({ workspace }, { path }) => await (await projectFiles()).dataContents(workspace.projectRoot, path),
  }),

  /** The data of the project that sources can read, and whether they changed since their manifests were written. */
  sets: call("List the data of the project that sources can read: manifests, recordings and files of arrays", {
    output: SETS,
    http: {
      route: "get /api/data/sets",
      returns: "Each with its state: manifests are compared with their files, up to 256 MiB of them",
    },
    cli: {},
    run: async ({ workspace }) => (await projectFiles()).dataSets(workspace.projectRoot),
  }),

  /**
   * The images of a dataset with an image-dataset manifest: a bundled one, one of the state directory, or a folder.
   * @throws SvcError `not_found` with the nearest name, `path_forbidden`, `dataset_manifest_invalid`, `boundary_hash_mismatch`
   */
  images: call("List the images of a dataset", {
    fields: {
      id: z.string().describe("id of a bundled dataset, or of one in the state directory"),
      dataset_dir: text("folder of the project with an image-dataset manifest", "folder"),
    },
    args: ["id"],
    output: documentOf<DatasetImages>(
      z.object({ dataset: z.string(), available: z.boolean(), images: z.array(OBJECT) }),
    ),
    refuses: [400, 403, 404],
    http: { route: "get /api/datasets/images", returns: "Images, or how to fetch them", names: { id: "dataset" } },
    cli: { usage: "<id>" },
    async run({ workspace: { projectRoot, stateDir } }, { id, dataset_dir }): Promise<DatasetImages> {
      const [{ BUNDLED_DATASETS, isBundledDatasetPresent, readBundledFile }, { parseImageManifest }, pictures] =
        await Promise.all([
          bundledSets(),
          import("../../artifact/dataset_manifest.ts"),
          import("../../artifact/image_file.ts"),
        ]);
      const { decodeImage, MAX_IMAGE_FILE_BYTES } = pictures;
      const bundled = dataset_dir === undefined && Object.hasOwn(BUNDLED_DATASETS, id);
      if (bundled && !isBundledDatasetPresent(id, { stateDir })) {
        return { dataset: id, available: false, images: [], fetch: `svc data fetch ${id}` };
      }
      const stored = join(stateDir, "datasets");
      if (!bundled && dataset_dir === undefined && entryInfo(join(stored, checkPath(id))) === null) {
        await checkKnown(id);
        throw new SvcError("not_found", `Cannot find a bundled dataset named ${id}`);
      }
      const root = bundled
        ? ""
        : confine(dataset_dir === undefined ? stored : projectRoot, dataset_dir ?? id, "not_found");
      // A manifest names further files: none of them may lie outside of its folder.
      const read = (path: string) =>
        bundled
          ? readBundledFile(id, path, { stateDir })
          : readBounded(confine(root, path, "not_found"), MAX_IMAGE_FILE_BYTES, path);
      const { root: below, samples } = parseImageManifest(await read("manifest.json"));
      const images: DatasetImages["images"] = [];
      for (const { sample_id, path, sha256 } of samples) {
        const { width, height } = decodeImage(await read(below === "." ? path : `${below.replace(/\/$/, "")}/${path}`));
        images.push({ id: sample_id, width, height, sha256: sha256 ?? null });
      }
      return { dataset: id, available: true, images };
    },
  }),

  /**
   * Writes a manifest: of texts for .txt, JSON Lines and CSV files and folders of .txt files, of bit payloads for .npy, .bin
   * and .bits files, of images for other folders and for files of MNIST (IDX) and CIFAR-10, which become PNG files.
   * @throws SvcError `manifest_exists` without `force`, `text_manifest_invalid`, `dataset_manifest_invalid`,
   *   `boundary_value_invalid`, `boundary_shape_invalid`
   */
  makeManifest: call("Write the manifest of a file or folder of images, texts or bits, with the digest that pins it", {
    fields: {
      path: z.string().min(1).describe("file or folder; over HTTP relative to the project"),
      id: text("dataset id (default: the name of the folder or file)", "id"),
      version: z.union([z.string(), z.number()]).optional().describe("dataset version (default: 1)"),
      split: text("name of the split of all samples, or of texts whose row names none (default: test)", "name"),
      out: text("where to write it (default: manifest.json in the folder, or beside the file)", "file"),
      lines: flag("each line of a .txt file is a text"),
      sentences: flag("each sentence is a text"),
      line_ranges: flag("name ranges of lines of the file in place of their texts: for files of any size"),
      splits: text("lines of each split, with --line-ranges: train:1-1900000,test:1900001-", "name:lines"),
      parallel: text("file of translations, line by line: lines that are empty in either file are left out", "file"),
      column: text("column of a CSV file, or field of JSON Lines, with the text (default: text)", "name"),
      bits: flag("read the file as bits: .bits and .txt as lines of 0 and 1, else eight bits a byte"),
      skip_unreadable: flag("name image files that cannot be read, and leave them out"),
      force: flag("replace an existing file"),
    },
    args: ["path"],
    output: documentOf<MadeManifest>(
      z.object({
        path: z.string(),
        sha256: z.string(),
        sample_count: z.int().nullable(),
        warnings: z.array(z.string()),
      }),
    ),
    refuses: [400, 403, 404],
    http: {
      route: "post /api/data/manifests",
      returns: "The manifest, with the digest that pins it",
      only: ["path", "skip_unreadable"],
    },
    publish: ({ path, sha256, manifest: { id, kind, samples }, warnings }: WrittenManifest): MadeManifest => ({
      path,
      sha256,
      id: typeof id === "string" ? id : null,
      kind: String(kind),
      sample_count: Array.isArray(samples) ? samples.length : null,
      warnings: warnings.map(({ message }) => message),
    }),
    cli: { usage: "<path>", without: ["split"] },
    findings: ownWarnings,
    async run(
      { workspace: { projectRoot } },
      { path: named, out, force, bits = false, skip_unreadable, ...options },
      { confined }: Origin,
    ): Promise<WrittenManifest> {
      const path = confined ? (await projectFiles()).projectPlace(projectRoot, named) : named;
      const warnings: Diagnostic[] = [];
      const folder = isFolder(path);
      if (options.parallel !== undefined && (folder || bits || options.sentences || options.column !== undefined)) {
        throw new SvcError("usage_invalid", "Cannot use --parallel with a folder, --bits, --sentences or --column", {
          hint: "Name two files whose lines correspond",
        });
      }
      if (!options.line_ranges && options.splits !== undefined) {
        throw new SvcError("usage_invalid", "Cannot use --splits without --line-ranges");
      }
      out ??= folder
        ? join(path, "manifest.json")
        : join(dirname(path), `${basename(path, options.parallel === undefined ? extname(path) : "")}.manifest.json`);
      const elsewhere = resolve(dirname(out)) !== resolve(folder ? path : dirname(path));
      const { manifest, files } = await describe(path, {
        ...options,
        bits: bits && !folder,
        inline: elsewhere,
        skipUnreadable: skip_unreadable,
        onWarning: (finding) => warnings.push(finding),
      });
      const { writeFileAtomic } = await import("../../artifact/write_file.ts");
      const { inside, makeUserFolder, writeFile } = await import("../../artifact/inside.ts");
      const places = [...files].map(([name, bytes]) => [join(dirname(out), name), bytes] as const);
      const taken = [out, ...places.map(([place]) => place)].find(exists);
      if (!force && taken !== undefined) {
        throw new SvcError("manifest_exists", `Cannot write ${taken}: it exists`, {
          hint: "Add --force to replace it",
        });
      }
      for (const folder of new Set(places.map(([place]) => dirname(place)))) makeUserFolder(folder);
      // Whole datasets have tens of thousands of images. The manifest holds their digests, and alone waits for the disk.
      for (const [name, bytes] of files) writeFile(inside(dirname(out), name), bytes);
      const text = prettyJson(manifest);
      writeFileAtomic(out, text);
      const written = confined ? relative(projectRoot, out).replaceAll("\\", "/") : out;
      return { path: written, sha256: sha256Hex(text), manifest, warnings };
    },
  }),

  /**
   * Checks a manifest of images or texts: schema, splits, ancestry and, unless `files` is false, its files.
   * @throws SvcError `file_not_found`, `dataset_manifest_invalid` or `text_manifest_invalid` with every problem at its line
   */
  checkManifest: call("Check a manifest of images or texts: schema, splits, ancestry, and its files", {
    fields: {
      file: z.string(),
      files: z.boolean().default(true).describe("read the files"),
      decode: flag("also decode the images whose samples are hashed"),
    },
    args: ["file"],
    cli: { name: "data validate-manifest", usage: "<file>", exits: "exit 3 with every finding" },
    findings: ownWarnings,
    async run(_core, { file, files, decode }): Promise<CheckedManifest> {
      const { checkManifestFiles, parseImageManifest } = await import("../../artifact/dataset_manifest.ts");
      const { checkImageManifest } = await import("../../artifact/dataset_manifest_rules.ts");
      const { TEXT_MANIFEST_KIND, textOfSample } = await import("../../artifact/text_manifest.ts");
      const { isLines, LINES_MANIFEST_KIND, parseTexts } = await import("../../artifact/text_lines.ts");
      const { attachLocations } = await import("../../recipe/positions.ts");
      const { readJson } = await import("../../recipe/json_reader.ts");
      const bytes = await readManifest(file);
      // The recipe reader keeps lines and columns; it also rejects repeated keys.
      const { locate, value } = readJson(new TextDecoder().decode(bytes), file);
      const texts = isObject(value) && (value.kind === TEXT_MANIFEST_KIND || value.kind === LINES_MANIFEST_KIND);
      const refuse = (found: Diagnostic[]): never => {
        const [code, what]: [Code, string] = texts
          ? ["text_manifest_invalid", "text"]
          : ["dataset_manifest_invalid", "image"];
        throw new SvcError(code, `Cannot use the ${what}-dataset manifest ${file}`, {
          diagnostics: attachLocations(found, locate),
        });
      };
      try {
        if (texts) {
          const manifest = parseTexts(bytes);
          if (isLines(manifest)) {
            if (files) (await import("../../artifact/text_lines_file.ts")).checkLinesFile(manifest, dirname(file));
          } else {
            for (const sample of files ? manifest.samples : []) {
              await textOfSample(sample, file, (path) => readManifest(path));
            }
          }
          return { manifest, sha256: sha256Hex(bytes), warnings: [] };
        }
        const manifest = parseImageManifest(bytes);
        const found = files ? await checkManifestFiles(manifest, dirname(file), { decode }) : [];
        if (found.length > 0) refuse(found);
        const warnings = attachLocations(checkImageManifest(manifest).filter(isWarning), locate);
        return { manifest, sha256: sha256Hex(bytes), warnings };
      } catch (error) {
        if (error instanceof SvcError && error.diagnostics.length > 0) refuse(error.diagnostics);
        throw error;
      }
    },
  }),

  /** Describes a file of data, with the digest that pins it. @throws SvcError `file_not_found`, `usage_invalid`, and those of the format */
  inspect: call("Describe a recording or a file of arrays, with the digest that pins it", {
    fields: { file: z.string() },
    args: ["file"],
    cli: { usage: "<file>" },
    async run(_core, { file }): Promise<JsonObject> {
      const [{ inspectData }, { fileSource }] = await Promise.all([
        import("../../artifact/data_inspect.ts"),
        import("../../artifact/byte_source.ts"),
      ]);
      using opened = new DisposableStack();
      return await inspectData(file, (path) => {
        if (!exists(path)) {
          throw new SvcError("file_not_found", `Cannot find the file ${path}`, { hint: "Check the path" });
        }
        // The user may name a link; one beside it, which the pair of a recording needs, is not followed.
        const place = path === file ? Deno.realPathSync(path) : path;
        return opened.use(fileSource(place, MAX_DATA_BYTES, path));
      });
    },
  }),

  /** Sends datasets of the state directory to an object store, `s3://bucket/prefix`; all without ids. @throws SvcError as `runs.push` */
  push: pushCall("datasets", "datasets of the state directory"),

  /** Receives datasets of the state directory from an object store, verified before they appear. @throws SvcError as `runs.pull` */
  pull: pullCall("datasets", "datasets of the state directory"),
};

/** The manifest of a file or folder, and the files that belong to it. */
async function describe(
  path: string,
  { bits, line_ranges, ...options }: MakeTextOptions & MakeLinesOptions & MakeManifestOptions & {
    bits: boolean;
    line_ranges?: boolean;
  },
): Promise<{ manifest: JsonObject; files: ReadonlyMap<string, Uint8Array> }> {
  const files = new Map<string, Uint8Array>();
  if (line_ranges) {
    if (isFolder(path) || bits || options.sentences || options.column !== undefined || options.inline) {
      throw new SvcError(
        "usage_invalid",
        "Cannot use --line-ranges for anything but one text file, beside its manifest",
        {
          hint: "Leave out --bits, --sentences, --column, and an --out in another folder",
        },
      );
    }
    return { manifest: (await import("../../artifact/text_lines_file.ts")).makeLinesManifest(path, options), files };
  }
  const [{ holdsTexts, makeTextManifest }, { holdsBits, makeBitManifest }] = await Promise.all([
    import("../../artifact/text_manifest_files.ts"),
    import("../../artifact/bit_manifest_file.ts"),
  ]);
  const archives = exists(path) && !bits && options.parallel === undefined ? await archivesOf(path) : [];
  if (archives.length > 0) {
    const { makeArchiveManifest } = await import("../../artifact/image_archive.ts");
    return makeArchiveManifest(archives, isFolder(path) ? { id: basename(resolve(path)), ...options } : options);
  }
  if (exists(path) && !isFolder(path) && (bits || holdsBits(path))) {
    const bytes = await readBounded(await Deno.realPath(path), MAX_BITS_BYTES, path);
    return makeBitManifest(bytes, basename(path), !options.inline);
  }
  if (holdsTexts(path) || options.parallel !== undefined) return { manifest: makeTextManifest(path, options), files };
  const { makeImageManifest } = await import("../../artifact/dataset_manifest.ts");
  return { manifest: await makeImageManifest(path, options), files };
}

/** The files of images of published datasets: one, or those of a folder, of which a packed one stands behind its unpacked one. */
async function archivesOf(path: string): Promise<ImageArchive[]> {
  const { archiveBytes, holdsImages, labelsFile } = await import("../../artifact/image_archive.ts");
  const read = async (file: string) =>
    archiveBytes(await readBounded(await Deno.realPath(file), MAX_BITS_BYTES, file), file);
  const names = isFolder(path) ? [...Deno.readDirSync(path)].map(({ name }) => join(path, name)).sort() : [path];
  const found = names.filter((name) =>
    holdsImages(name) && !(name.endsWith(".gz") && names.includes(name.slice(0, -3)))
  );
  return await Promise.all(found.map(async (file) => {
    const beside = labelsFile(file), labels = beside !== null && exists(beside) ? await read(beside) : undefined;
    return { path: file, bytes: await read(file), labels };
  }));
}

/** @throws SvcError `not_found` with the nearest name */
async function checkKnown(id: string): Promise<void> {
  const { BUNDLED_DATASETS } = await import("../../artifact/bundled_datasets.ts");
  const { PUBLISHED_DATASETS, publishedDataset } = await publishedSets();
  if (Object.hasOwn(BUNDLED_DATASETS, id) || publishedDataset(id) !== undefined) return;
  const hint = didYouMean(id, [...Object.keys(BUNDLED_DATASETS), ...PUBLISHED_DATASETS.map((known) => known.id)]);
  throw new SvcError("not_found", `Cannot find a dataset named ${id}`, { hint });
}

function hashVerdict(error: unknown): { status: string; message: string } {
  if (!(error instanceof SvcError)) throw error;
  return { status: error.code === "boundary_hash_mismatch" ? "differs" : "missing", message: error.message };
}

function foldersOf(path: string): string[] {
  if (!isFolder(path)) return [];
  return [...Deno.readDirSync(path)].filter((entry) => entry.isDirectory).map(({ name }) => name).sort();
}

async function readManifest(file: string): Promise<Uint8Array> {
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
