/** `svc models`: the networks that operations name, those of the program and those that are fetched. */
import { command, type CommandSpec, list, TABLE_FORMAT, text } from "../command.ts";
import { exchangeCommands } from "../exchange.ts";
import { fetchProgress } from "../fetch_progress.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";

export const modelsCommands: CommandSpec[] = [
  command({
    usage: "models list",
    summary: "list bundled, fetched and known published models",
    options: { format: TABLE_FORMAT },
    examples: ["svc models list", "svc models list --json"],
    call: ({ svc }) => svc.models.list(),
    json: (models) => ({ schema_version: 1, models }),
    show(models, { options: { format } }) {
      const rows = models.map(({ id, title, status, revision, licence, size_bytes, remedy }) => ({
        model: id,
        what: title,
        status: status.replaceAll("_", " "),
        revision: revision === null ? "" : revision.slice(0, 12),
        licence: licence ?? "",
        size: size_bytes === null ? "" : formatBytes(size_bytes),
        // The part after the first comma is the same for all; --json has it.
        remedy: remedy?.split(",")[0] ?? "",
      }));
      return formatTable(rows, ["model", "what", "status", "revision", "licence", right("size"), "remedy"], format);
    },
  }),
  command({
    usage: "models fetch <model>",
    summary: "download a model; one of the two commands that use the network",
    options: {
      revision: text("--revision <commit>", "full commit of its repository; a branch can move"),
      sha256: text("--sha256 <digest>", "digest of the file, for a model at an address"),
      from: text(
        "--from <source>",
        "repository (owner/name) or address that holds its files, instead of the known one",
      ),
      file: list("--file <path>", "file to download; repeat for several (default: those that operations read)"),
    },
    notes: "Files are stored in <state directory>/models/<name>/<commit>/ with a fetch.json that holds the digest of " +
      "each.\nAn interrupted download continues. Runs never use the network.",
    examples: [
      "svc models fetch openai/clip-vit-base-patch32 --revision <commit>",
      "svc models fetch my-org/net --revision <commit> --file model.onnx",
      "svc models fetch https://example.org/yolo.onnx --sha256 <digest>",
    ],
    call: ({ svc, args: [id], options: { file: files, ...options }, context }) =>
      svc.models.fetch(id, { ...options, files, onProgress: fetchProgress(context) }),
    json: ({ folder, fetched, record }, { args: [id] }) => ({
      schema_version: 1,
      id,
      status: fetched ? "fetched" : "present",
      folder,
      record,
    }),
    show: ({ folder, fetched }, { args: [id], context }) =>
      `${context.paint("green", fetched ? "fetched" : "present")}  ${id}\n  ${folder}`,
  }),
  command({
    usage: "models verify [model]",
    summary: "verify the hashes of fetched models; exit 6 on a difference",
    examples: ["svc models verify", "svc models verify openai/clip-vit-base-patch32"],
    async call({ svc, args: [id] }) {
      const models = await svc.models.verify(id);
      return { status: models.every(({ status }) => status === "valid") ? "valid" : "invalid", models };
    },
    show({ models }, { context: { paint } }) {
      if (models.length === 0) return "no model was fetched";
      return models.flatMap(({ id, status, revision, files }) => [
        `${paint(status === "valid" ? "green" : "red", status)}  ${id}  ${revision.slice(0, 12)}`,
        ...files.filter((file) => file.status !== "ok").map((file) => `  ${paint("red", file.status)}  ${file.path}`),
      ]).join("\n");
    },
    exit: ({ status }) => status === "valid" ? EXIT.ok : EXIT.differs,
  }),
  ...exchangeCommands("models", "fetched models", "openai/clip-vit-base-patch32", {
    push: (svc, store, { ids }, options) => svc.models.push(store, ids, options),
    pull: (svc, store, ids, options) => svc.models.pull(store, ids, options),
  }),
];
