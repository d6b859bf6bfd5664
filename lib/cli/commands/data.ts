/** `svc data`: datasets, and manifests of images, texts and bits. */
import { data, type VerifiedDatasetFile } from "../../api/calls/data.ts";
import { lineCount, LINES_MANIFEST_KIND, linesIn, type TextLinesManifest } from "../../artifact/text_lines.ts";
import { isObject, type JsonObject, toNumber } from "../../contract/value.ts";
import { commandsOf, optionsFrom } from "../call_commands.ts";
import { type CommandSpec, flag } from "../command.ts";
import { exchangeFaces } from "../exchange.ts";
import { fetchProgress } from "../fetch_progress.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";
import { counted } from "./recipe.ts";

/** Number and kind of what a manifest lists. */
function contentOf(manifest: JsonObject): [number, "image" | "text" | "payload"] {
  const { kind, samples, items } = manifest;
  if (Array.isArray(items)) return [items.length, "payload"];
  if (kind === LINES_MANIFEST_KIND) return [lineCount(manifest as unknown as TextLinesManifest), "text"];
  return [(samples as unknown[]).length, kind === "svc.text_dataset_manifest" ? "text" : "image"];
}

const splitSizes = (manifest: JsonObject): Record<string, number> =>
  Object.fromEntries(
    Object.entries(manifest.splits as Record<string, unknown[]>).map(([name, members]) => [
      name,
      manifest.kind === LINES_MANIFEST_KIND ? linesIn(members as number[][]) : members.length,
    ]),
  );

const areSound = (files: readonly VerifiedDatasetFile[]): boolean =>
  files.every(({ status }) => status === "ok" || status === "not_fetched");

export const dataCommands: CommandSpec[] = commandsOf("data", data, {
  list: {
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
  },
  fetch: {
    notes: "An interrupted download continues. Runs never use the network.",
    examples: ["svc data fetch kodak --accept-unpinned", "svc data fetch kodak --sha256 <digest>"],
    means: ({ context }) => ({ onProgress: fetchProgress(context) }),
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
  },
  verify: {
    json: (files) => ({ schema_version: 1, status: areSound(files) ? "valid" : "invalid", files }),
    show: (files, { context }) =>
      files.map(({ id, path, status, message }) => {
        const color = status === "ok" ? "green" : status === "not_fetched" ? "yellow" : "red";
        const place = path === null ? id : `${id}/${path}`;
        return `${context.paint(color, status)}  ${place}${message === undefined ? "" : `: ${message}`}`;
      }).join("\n"),
    exit: (files) => areSound(files) ? EXIT.ok : EXIT.differs,
  },
  sets: {
    remarks: {
      truncated: ({ truncated }) => truncated ? "There is more than is listed" : null,
      sets: ({ sets }) => sets.length > 0 ? null : "No data here yet. Start with: svc data make-manifest <path>",
    },
    show({ sets }) {
      if (sets.length === 0) return;
      const rows = sets.map(({ path, kind, id, sample_count: samples, state }) => ({
        data: path,
        kind,
        id: id ?? "",
        samples,
        state: state.replaceAll("_", " "),
      }));
      return formatTable(rows, ["data", "kind", "id", right("samples"), "state"]);
    },
  },
  images: {
    examples: ["svc data images svc_sample_images", "svc data images faces --dataset-dir photos"],
    show: ({ available, images, fetch }) =>
      available
        ? formatTable(images.map(({ id: image, width, height }) => ({ image, width, height })), [
          "image",
          right("width"),
          right("height"),
        ])
        : `not fetched: ${fetch}`,
  },
  makeManifest: {
    notes:
      "A folder of PNG and JPEG files gives images; .txt, .jsonl and .csv files, and folders of .txt files, texts;\n" +
      ".npy, .bin and .bits files bit payloads for source.bit_manifest. Files NAME-images-idx3-ubyte (MNIST; .gz too)\n" +
      "and data_batch_1.bin or test_batch.bin (CIFAR-10), or a folder of them, become PNG files in folders by label,\n" +
      "with their manifest.",
    examples: [
      "svc data make-manifest photos --id my_photos",
      "svc data make-manifest sentences.txt --lines",
      "svc data make-manifest europarl-v7.de-en.en --parallel europarl-v7.de-en.de --line-ranges",
      "svc data make-manifest captions.csv --column caption",
      "svc data make-manifest payload.npy",
      "svc data make-manifest t10k-images-idx3-ubyte.gz --id mnist",
      "svc data make-manifest cifar-10-batches-bin --id cifar10",
    ],
    json: ({ path, sha256, manifest, warnings }) => {
      const [count, what] = contentOf(manifest);
      // A manifest of bits has no id of its own: recipes name its items.
      const named = manifest.id === undefined
        ? { item_ids: (manifest.items as JsonObject[]).map(({ id }) => id) }
        : { id: manifest.id };
      const found = warnings.length === 0 ? {} : { diagnostics: warnings };
      return { schema_version: 1, path, sha256, ...named, [`${what}_count`]: count, ...found };
    },
    show({ path, sha256, manifest }) {
      const [count, what] = contentOf(manifest);
      return `${path}\n  ${counted(count, what)}\n  manifest_sha256: ${sha256}`;
    },
  },
  inspect: {
    examples: ["svc data inspect recording.sigmf-meta", "svc data inspect channels.npz"],
    show: ({ path, arrays, units, delay_profile, ...facts }) =>
      [
        String(path),
        ...Object.entries(facts).map(([name, value]) =>
          `  ${name}: ${Array.isArray(value) ? value.join(", ") : value}`
        ),
        ...(Array.isArray(arrays) ? arrays as { name: string; dtype: string; shape: number[] }[] : [])
          .map(({ name, dtype, shape }) => {
            const unit = isObject(units) && units[name] !== undefined ? `, ${units[name]}` : "";
            return `  ${name} ${dtype} [${shape.join(", ")}]${unit}`;
          }),
        ...(isObject(delay_profile) ? profileLines(delay_profile) : []),
      ].join("\n"),
  },
  checkManifest: {
    options: {
      files: flag("--no-files", "do not read the files"),
      ...optionsFrom({ decode: data.checkManifest.fields.decode }),
    },
    async call({ args: [file], context }, perform) {
      const { excerpt } = await import("../../recipe/positions.ts");
      const text = await Deno.readTextFile(file).catch(() => "");
      context.excerpt = (location) => excerpt(text, location);
      return await perform();
    },
    json: ({ manifest, sha256, warnings }, { options: { files } }) => ({
      schema_version: 1,
      status: "valid",
      id: manifest.id,
      version: manifest.version,
      sha256,
      sample_count: contentOf(manifest)[0],
      splits: splitSizes(manifest),
      files_checked: files,
      diagnostics: warnings,
    }),
    show({ manifest, sha256 }, { context }) {
      const counts = Object.entries(splitSizes(manifest)).map(([name, count]) => `${name} ${count}`).join(", ");
      return `${context.paint("green", "valid")}  ${manifest.id}: ${contentOf(manifest)[0]} samples (${counts})\n` +
        `  manifest_sha256: ${sha256}`;
    },
  },
  ...exchangeFaces("data", "kodak"),
});

/** Delays of a profile that are printed. */
const SHOWN_DELAYS = 12;

/** The strongest delays of a power-delay profile, by delay. */
function profileLines({ x, x_unit, level_db }: JsonObject): string[] {
  const levels = (level_db as number[]).map(toNumber);
  const rows = (x as number[]).map((delay, at) => ({ delay: toNumber(delay), level: levels[at] }))
    .sort((a, b) => b.level - a.level || a.delay - b.delay).slice(0, SHOWN_DELAYS).sort((a, b) => a.delay - b.delay);
  // 3 / (F Δf) is three of the unit 1 / (F Δf).
  const unit = String(x_unit).replace(/^1 /, "");
  const head = `  power-delay profile of the first sample, the ${rows.length} strongest of ${levels.length} delays:`;
  return [
    head,
    ...rows.map(({ delay, level }) => `    ${Number(delay.toPrecision(6))} ${unit}  ${level.toFixed(1)} dB`),
  ];
}
