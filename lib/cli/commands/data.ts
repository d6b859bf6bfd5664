/** `svc data`: datasets, and manifests of images, texts and bits. */
import type { JsonObject } from "../../contract/value.ts";
import { command, type CommandSpec, flag, text } from "../command.ts";
import { exchangeCommands } from "../exchange.ts";
import { fetchProgress } from "../fetch_progress.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";
import { counted } from "./recipe.ts";

/** Number and kind of what a manifest lists. */
function contentOf({ kind, samples, items }: JsonObject): [number, "image" | "text" | "payload"] {
  if (Array.isArray(items)) return [items.length, "payload"];
  return [(samples as unknown[]).length, kind === "svc.text_dataset_manifest" ? "text" : "image"];
}

export const dataCommands: CommandSpec[] = [
  command({
    usage: "data list",
    summary: "list bundled, stored and known published datasets",
    call: ({ svc }) => svc.data.list(),
    json: (datasets) => ({ schema_version: 1, datasets }),
    show(datasets) {
      const rows = datasets.map(({ id, version, source, status, size_bytes: size }) => ({
        dataset: id,
        version: version ?? "",
        source: source.replaceAll("_", " "),
        status: status.replaceAll("_", " "),
        size: size === undefined ? "" : formatBytes(Number(size)),
      }));
      return formatTable(rows, ["dataset", "version", "source", "status", right("size")]);
    },
  }),
  command({
    usage: "data fetch <id>",
    summary: "download a dataset; one of the two commands that use the network",
    options: {
      sha256: text("--sha256 <digest>", "expected digest of the dataset, as in fetch.json"),
      acceptUnpinned: flag("--accept-unpinned", "accept a dataset without a known digest and pin its digest"),
    },
    notes: "An interrupted download continues. Runs never use the network.",
    examples: ["svc data fetch kodak --accept-unpinned", "svc data fetch kodak --sha256 <digest>"],
    call: ({ svc, args: [id], options, context }) =>
      svc.data.fetch(id, { ...options, onProgress: fetchProgress(context) }),
    json: ({ id, folder, fetched, record }) => ({
      schema_version: 1,
      id,
      status: fetched ? "fetched" : "present",
      folder,
      ...(record === null ? {} : { record }),
    }),
    show({ id, folder, fetched, record }, { context }) {
      if (folder === null) return `${id} is present`;
      const digest = record === null ? "" : `\n  sha256 of the set: ${record.sha256}`;
      return `${context.paint("green", fetched ? "fetched" : "present")}  ${id}\n  ${folder}${digest}`;
    },
  }),
  command({
    usage: "data verify [id]",
    summary: "verify the hashes of bundled and fetched datasets; exit 6 on a difference",
    async call({ svc, args: [id] }) {
      const files = await svc.data.verify(id);
      const sound = files.every(({ status }) => status === "ok" || status === "not_fetched");
      return { status: sound ? "valid" : "invalid", files };
    },
    show: ({ files }, { context }) =>
      files.map(({ id, path, status, message }) => {
        const color = status === "ok" ? "green" : status === "not_fetched" ? "yellow" : "red";
        const place = path === null ? id : `${id}/${path}`;
        return `${context.paint(color, status)}  ${place}${message === undefined ? "" : `: ${message}`}`;
      }).join("\n"),
    exit: ({ status }) => status === "valid" ? EXIT.ok : EXIT.differs,
  }),
  command({
    usage: "data make-manifest <path>",
    summary: "write a manifest of images, texts or bits and print its SHA-256",
    options: {
      id: text("--id <id>", "dataset id (default: the name of the folder or file)"),
      version: text("--version <version>", "dataset version (default: 1)"),
      out: text("--out <file>", "where to write it (default: manifest.json in the folder, or beside the file)"),
      lines: flag("--lines", "each line of a .txt file is a text"),
      column: text("--column <name>", "column of a CSV file, or field of JSON Lines, with the text (default: text)"),
      bits: flag("--bits", "read the file as bits: .bits and .txt as lines of 0 and 1, else eight bits a byte"),
      force: flag("--force", "replace an existing file"),
    },
    notes:
      "A folder of PNG and JPEG files gives images; .txt, .jsonl and .csv files, and folders of .txt files, texts;\n" +
      ".npy, .bin and .bits files bit payloads for source.bit_manifest.",
    examples: [
      "svc data make-manifest photos --id my_photos",
      "svc data make-manifest sentences.txt --lines",
      "svc data make-manifest captions.csv --column caption",
      "svc data make-manifest payload.npy",
    ],
    call: ({ svc, args: [path], options }) =>
      svc.data.makeManifest(path, { ...options, version: options.version ?? "1" }),
    json: ({ path, sha256, manifest }) => {
      const [count, what] = contentOf(manifest);
      // A manifest of bits has no id of its own: recipes name its items.
      const named = manifest.id === undefined
        ? { item_ids: (manifest.items as JsonObject[]).map(({ id }) => id) }
        : { id: manifest.id };
      return { schema_version: 1, path, sha256, ...named, [`${what}_count`]: count };
    },
    show({ path, sha256, manifest }) {
      const [count, what] = contentOf(manifest);
      return `${path}\n  ${counted(count, what)}\n  manifest_sha256: ${sha256}`;
    },
  }),
  command({
    usage: "data validate-manifest <file>",
    summary: "check a manifest of images or texts: schema, splits, ancestry, and its files; exit 3 with every finding",
    options: {
      files: flag("--no-files", "do not read the files"),
      decode: flag("--decode", "also decode the images whose samples are hashed"),
    },
    async call({ svc, args: [file], options, context }) {
      const { excerpt } = await import("../../recipe/positions.ts");
      const text = await Deno.readTextFile(file).catch(() => "");
      context.excerpt = (location) => excerpt(text, location);
      return await svc.data.checkManifest(file, options);
    },
    json: ({ manifest, sha256, warnings }, { options: { files } }) => ({
      schema_version: 1,
      status: "valid",
      id: manifest.id,
      version: manifest.version,
      sha256,
      sample_count: manifest.samples.length,
      splits: Object.fromEntries(Object.entries(manifest.splits).map(([name, ids]) => [name, ids.length])),
      files_checked: files,
      diagnostics: warnings,
    }),
    show({ manifest: { id, samples, splits }, sha256, warnings }, { context }) {
      context.findings(warnings);
      const counts = Object.entries(splits).map(([name, ids]) => `${name} ${ids.length}`).join(", ");
      return `${context.paint("green", "valid")}  ${id}: ${samples.length} samples (${counts})\n` +
        `  manifest_sha256: ${sha256}`;
    },
  }),
  ...exchangeCommands("data", "datasets of the state directory", "kodak", {
    push: (svc, store, { ids }, options) => svc.data.push(store, ids, options),
    pull: (svc, store, ids, options) => svc.data.pull(store, ids, options),
  }),
];
