/** `svc models`: the networks that operations name, those of the program and those that are fetched. */
import { models } from "../../api/calls/models.ts";
import type { VerifiedModel } from "../../fetch/models.ts";
import { commandsOf } from "../call_commands.ts";
import { type CommandSpec, list, TABLE_FORMAT } from "../command.ts";
import { exchangeFaces } from "../exchange.ts";
import { fetchProgress } from "../fetch_progress.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";

export const modelsCommands: CommandSpec[] = commandsOf("models", models, {
  list: {
    options: { format: TABLE_FORMAT },
    examples: ["svc models list", "svc models list --json"],
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
  },
  fetch: {
    options: {
      file: list("--file <path>", "file to download; repeat for several (default: those that operations read)"),
    },
    notes: "Files are stored in <state directory>/models/<name>/<commit>/ with a fetch.json that holds the digest of " +
      "each.\nAn interrupted download continues. Runs never use the network.",
    examples: [
      "svc models fetch openai/clip-vit-base-patch32 --revision <commit>",
      "svc models fetch my-org/net --revision <commit> --file model.onnx",
      "svc models fetch https://example.org/yolo.onnx --sha256 <digest>",
    ],
    call: ({ options: { file: files } }, perform) => perform({ files }),
    means: ({ context }) => ({ onProgress: fetchProgress(context) }),
    json: ({ folder, fetched, record }, { args: [id] }) => ({
      schema_version: 1,
      id,
      status: fetched ? "fetched" : "present",
      folder,
      record,
    }),
    show: ({ folder, fetched }, { args: [id], context }) =>
      `${context.paint("green", fetched ? "fetched" : "present")}  ${id}\n  ${folder}`,
  },
  verify: {
    examples: ["svc models verify", "svc models verify openai/clip-vit-base-patch32"],
    json: (models) => ({ schema_version: 1, status: areValid(models) ? "valid" : "invalid", models }),
    show(models, { context: { paint } }) {
      if (models.length === 0) return "no model was fetched";
      return models.flatMap(({ id, status, revision, files }) => [
        `${paint(status === "valid" ? "green" : "red", status)}  ${id}  ${revision.slice(0, 12)}`,
        ...files.filter((file) => file.status !== "ok").map((file) => `  ${paint("red", file.status)}  ${file.path}`),
      ]).join("\n");
    },
    exit: (models) => areValid(models) ? EXIT.ok : EXIT.differs,
  },
  ...exchangeFaces("models", "openai/clip-vit-base-patch32"),
});

const areValid = (models: readonly VerifiedModel[]): boolean => models.every(({ status }) => status === "valid");
