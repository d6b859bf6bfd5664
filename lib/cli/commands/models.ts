/** `svc models`: the networks that operations name, those that come with the program and those that are fetched. */
import { type Command, Option } from "../commander.ts";
import { contextOf } from "../context.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable, type TableFormat } from "../table.ts";

export function modelsCommands(program: Command): void {
  const models = program.command("models").description("list, fetch and verify the models that operations name");

  models.command("list")
    .description("list the models of the program, the fetched ones, and published ones that are known")
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md"]).default("table"))
    .addHelpText("after", "\nExamples\n  svc models list\n  svc models list --json\n")
    .action(list);

  models.command("fetch <model>")
    .description("bring a model to this machine; one of the two commands that use the network")
    .option("--revision <commit>", "full commit of its repository; a branch can move")
    .option("--sha256 <digest>", "digest of the file, for a model at an address")
    .option("--from <source>", "repository (owner/name) or address that holds its files, instead of the known one")
    .option("--file <path>", "file to bring; repeat for several (default: those that operations read)", collect, [])
    .addHelpText(
      "after",
      "\nFiles go to <state directory>/models/<name>/<commit>/ with a fetch.json that holds the digest of each. A download" +
        "\nthat was cut goes on where it stopped. Runs never use the network." +
        "\n\nExamples" +
        "\n  svc models fetch openai/clip-vit-base-patch32 --revision <commit>" +
        "\n  svc models fetch my-org/net --revision <commit> --file model.onnx" +
        "\n  svc models fetch https://example.org/yolo.onnx --sha256 <digest>\n",
    )
    .action(fetch);

  models.command("verify [model]")
    .description("hash the files of fetched models again; exit 6 when one differs")
    .addHelpText("after", "\nExamples\n  svc models verify\n  svc models verify openai/clip-vit-base-patch32\n")
    .action(verify);
}

const collect = (value: string, values: string[]): string[] => [...values, value];

async function list({ format }: { format: TableFormat }, command: Command): Promise<void> {
  const context = contextOf(command);
  const [{ listModels }, { programRoot }] = await Promise.all([
    import("../../fetch/models.ts"),
    import("../../training/program_root.ts"),
  ]);
  const { stateDir } = await context.workspace();
  const models = listModels({ stateDir, programRoot: programRoot() });
  context.emit({ schema_version: 1, models });
  const rows = models.map(({ id, title, status, revision, size_bytes, remedy }) => ({
    model: id,
    what: title,
    status: status.replaceAll("_", " "),
    revision: revision === null ? "" : revision.slice(0, 12),
    size: size_bytes === null ? "" : formatBytes(size_bytes),
    // What follows the first comma is the same story for everyone; --json has it.
    remedy: remedy?.split(",")[0] ?? "",
  }));
  const columns = ["model", "what", "status", "revision"].map((key) => ({ key }));
  context.print(
    formatTable(rows, [...columns, { key: "size", align: "right" as const }, { key: "remedy" }], format),
  );
}

interface FetchOptions {
  revision?: string;
  sha256?: string;
  from?: string;
  file: string[];
}

async function fetch(model: string, { file, ...options }: FetchOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const [{ fetchModel }, { fetchProgress }] = await Promise.all([
    import("../../fetch/models.ts"),
    import("../fetch_progress.ts"),
  ]);
  const { stateDir } = await context.workspace();
  const { folder, fetched, record } = await fetchModel(model, {
    ...options,
    files: file,
    stateDir,
    onProgress: fetchProgress(context),
  });
  const status = fetched ? "fetched" : "present";
  context.emit({ schema_version: 1, id: model, status, folder, record });
  context.print(`${context.paint("green", status)}  ${model}\n  ${folder}`);
}

async function verify(model: string | undefined, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { verifyModels } = await import("../../fetch/models.ts");
  const { stateDir } = await context.workspace();
  const models = verifyModels(stateDir, model);
  const status = models.every((row) => row.status === "valid") ? "valid" : "invalid";
  context.emit({ schema_version: 1, status, models });
  if (models.length === 0) context.print("no model was fetched");
  for (const row of models) {
    const color = row.status === "valid" ? "green" : "red";
    context.print(`${context.paint(color, row.status)}  ${row.id}  ${row.revision.slice(0, 12)}`);
    for (const file of row.files) {
      if (file.status !== "ok") context.print(`  ${context.paint("red", file.status)}  ${file.path}`);
    }
  }
  if (status === "invalid") context.exitCode = EXIT.differs;
}
