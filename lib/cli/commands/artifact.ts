/** `svc artifact`: trained networks as packages that are checked, named by their digest, and kept. */
import { relative } from "node:path";
import { type Diagnostic, SvcError } from "../../contract/error.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { ArtifactDetail, ArtifactRow, ArtifactStore } from "../../training/store.ts";
import type { EntrypointValue, TrainedManifest } from "../../training/types.ts";
import { yamlMember } from "../../recipe/text_writer.ts";
import { type Command, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { formatBytes, formatTable, type TableFormat } from "../table.ts";

const DIGITS = 12;

export function artifactCommands(program: Command): void {
  const artifact = program.command("artifact")
    .description("package, import, list, show, verify and remove trained networks");

  artifact.command("package <folder>")
    .description(
      "complete the manifest of a folder with ONNX files, check all of it, and write a reproducible ZIP file",
    )
    .option("--operation <id>", "operation whose slot the network fills; repeat for a joint codec", collect, [])
    .option("--out <file>", "where to write the ZIP file (default: <id>.zip beside the folder)")
    .option("--force", "replace a ZIP file that holds something else")
    .addHelpText(
      "after",
      "\nThe folder holds the networks and, maybe, a trained_artifact.yaml or trained_artifact.template.yaml. Digests are" +
        "\nfilled in; entrypoints, roles and the slot contract follow from the operations where they are left out." +
        "\n\nExamples\n  svc artifact package my_receiver --operation demodulation.neural_receiver_adapter" +
        "\n  svc artifact package my_receiver --out my_receiver.zip\n",
    )
    .action(packageFolder);

  artifact.command("import <package>")
    .description("check a package (ZIP file, folder or manifest) and put it into the managed store")
    .option("--label <text>", "name for people")
    .option("--operation <id>", "refuse it unless it fills the slot of this operation")
    .addHelpText("after", "\nExamples\n  svc artifact import my_receiver.zip --label 'second try'\n")
    .action(importPackage);

  artifact.command("list")
    .description("list the artifacts of the store, the project and the program; each is hashed")
    .option("--operation <id>", "only those that fill the slot of this operation")
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md"]).default("table"))
    .addHelpText("after", "\nExamples\n  svc artifact list --operation demodulation.neural_receiver_adapter\n")
    .action(list);

  artifact.command("show <artifact>")
    .description("show an artifact, by id, digest or path: networks, entrypoints, selection, and how to bind it")
    .addHelpText("after", "\nExamples\n  svc artifact show qpsk-iq-receiver-v1\n")
    .action(show);

  artifact.command("verify <artifact>")
    .description("hash every file again and repeat every check; exit 6 when something is wrong")
    .addHelpText("after", "\nExamples\n  svc artifact verify 3f2a9c\n  svc artifact verify my_receiver.zip\n")
    .action(verify);

  artifact.command("remove <artifacts...>")
    .description("remove artifacts from the managed store")
    .option("--yes", "do not ask")
    .addHelpText("after", "\nExamples\n  svc artifact remove 3f2a9c --yes\n")
    .action(remove);
}

const collect = (value: string, values: string[]): string[] => [...values, value];

async function storeOf(context: CliContext) {
  const { artifactStore } = await import("../../training/store.ts");
  return artifactStore(await context.workspace(), await context.registry());
}

/** @throws SvcError `unknown_operation` with the nearest name */
async function knownOperation(context: CliContext, id: string | undefined): Promise<void> {
  if (id !== undefined) (await context.registry()).get(id);
}

function noteFindings(context: CliContext, diagnostics: readonly JsonObject[]): void {
  for (const item of diagnostics) context.note(formatDiagnostic(item as unknown as Diagnostic, context.paintError));
}

/** The parameters that bind an artifact, as they stand in a recipe. */
function bindingOf(row: ArtifactRow, manifest: TrainedManifest, index: number, store: ArtifactStore): JsonObject {
  const { params, runtime_entrypoint } = manifest.compatible_operations[index];
  const root = row.place === "project" ? store.projectRoot : row.place === "program" ? store.programRoot : undefined;
  const path = row.place === "store"
    ? `.svc/trained_artifacts/${row.package_sha256}`
    : root === undefined
    ? row.path
    : relative(root, row.path).replaceAll("\\", "/");
  return {
    ...(params as JsonObject | undefined),
    artifact_manifest_path: path,
    artifact_package_sha256: row.package_sha256,
    artifact_entrypoint: runtime_entrypoint,
  };
}

interface PackageCommandOptions {
  operation: string[];
  out?: string;
  force?: boolean;
}

async function packageFolder(folder: string, options: PackageCommandOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { packageTrainedArtifact } = await import("../../training/pack.ts");
  for (const id of options.operation) await knownOperation(context, id);
  const { contractOf } = await storeOf(context);
  const made = packageTrainedArtifact(folder, {
    contractOf,
    operations: options.operation,
    out: options.out,
    force: options.force,
  });
  context.emit({ schema_version: 1, ...made });
  noteFindings(context, made.diagnostics);
  const files = `${made.file_count} files, ${formatBytes(made.size_bytes)}`;
  context.print(`${context.paint("green", "packaged")}  ${made.id}: ${made.archive} (${files})`);
  if (made.written.length > 0) context.print(`  written in the folder: ${made.written.join(", ")}`);
  context.print(`  artifact_package_sha256: ${made.package_sha256}`);
  context.print(`  runtime_component_set_sha256: ${made.runtime_component_set_sha256}`);
}

async function importPackage(
  from: string,
  options: { label?: string; operation?: string },
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const { importTrainedArtifact } = await import("../../training/store.ts");
  await knownOperation(context, options.operation);
  const { outcome, artifact, package_file_sha256, unlisted } = importTrainedArtifact(
    from,
    await storeOf(context),
    options,
  );
  context.emit({ schema_version: 1, outcome, package_file_sha256, unlisted, artifact });
  noteFindings(context, artifact.diagnostics);
  context.print(`${context.paint("green", outcome)}  ${artifact.id}: ${artifact.name}`);
  context.print(`  ${artifact.path}`);
  context.print(`  artifact_package_sha256: ${artifact.package_sha256}`);
  if (unlisted.length > 0) context.note(`Left out, because the manifest does not list them: ${unlisted.join(", ")}`);
}

async function list(options: { operation?: string; format: TableFormat }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { listTrainedArtifacts } = await import("../../training/store.ts");
  await knownOperation(context, options.operation);
  const rows = listTrainedArtifacts(await storeOf(context), options);
  if (context.json) return context.emit({ schema_version: 1, artifacts: rows });
  if (rows.length === 0 && options.format === "table") {
    return context.note("No artifacts here. Bring one with: svc artifact import <package>");
  }
  const lines = rows.map((row) => ({
    artifact: row.id,
    digest: options.format === "table" ? (row.package_sha256 ?? "").slice(0, DIGITS) : row.package_sha256,
    status: row.status,
    place: row.place,
    source: row.source_class,
    size: options.format === "table" ? formatBytes(row.size_bytes) : row.size_bytes,
    operations: row.operations.join(", "),
  }));
  const columns = ["artifact", "digest", "status", "place", "source"].map((key) => ({ key }));
  context.print(
    formatTable(lines, [...columns, { key: "size", align: "right" }, { key: "operations" }], options.format),
  );
}

function detailDocument({ row, inspected }: ArtifactDetail): JsonObject {
  return {
    schema_version: 1,
    artifact: row,
    manifest: inspected.manifest,
    identity: inspected.identity,
    package_file_sha256: inspected.package_file_sha256,
    publication_readiness: inspected.readiness,
    files: [...inspected.files].map(([path, file]) => ({ path, ...file })),
    models: Object.fromEntries(
      [...inspected.graphs].map(([id, graph]) => [id, graph as unknown as JsonObject]),
    ),
  };
}

async function show(reference: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { showTrainedArtifact } = await import("../../training/store.ts");
  const store = await storeOf(context);
  const detail = showTrainedArtifact(reference, store);
  context.emit(detailDocument(detail));
  const { row, inspected } = detail;
  const { manifest, identity, graphs, readiness } = inspected;
  context.print(`${context.paint("bold", row.id)}  ${row.name}${row.label === null ? "" : ` (${row.label})`}`);
  context.print(`  ${statusText(context, row.status)}, ${row.source_class.replaceAll("_", " ")}, ${row.path}`);
  if (typeof manifest?.description === "string") context.print(`  ${manifest.description}`);
  if (identity !== null) context.print(`  artifact_package_sha256: ${identity.package_sha256}`);
  noteFindings(context, row.diagnostics);
  if (manifest === null) return;
  context.print("");
  context.print(formatTable(
    manifest.components.map(({ id, role, path }) => {
      const graph = graphs.get(id);
      return {
        component: id,
        role,
        file: path,
        size: formatBytes(inspected.files.get(path)?.size_bytes ?? 0),
        nodes: graph?.nodeCount ?? null,
        parameters: graph?.parameterCount ?? null,
        opset: graph?.opsets[""] ?? null,
      };
    }),
    [
      ...["component", "role", "file"].map((key) => ({ key })),
      ...["size", "nodes", "parameters", "opset"].map((key) => ({ key, align: "right" as const })),
    ],
  ));
  for (const { id, inputs, outputs } of manifest.runtime.entrypoints) {
    context.print(`\nentrypoint ${context.paint("bold", id)}`);
    for (const [sign, values] of [["in ", inputs], ["out", outputs]] as const) {
      for (const value of values) context.print(`  ${sign} ${valueText(value)}`);
    }
  }
  if (readiness !== null) {
    const chosen = readiness.selected_candidate_id === null ? "" : `, selected ${readiness.selected_candidate_id}`;
    context.print(`\npublication ${readiness.status}${chosen}`);
    for (const issue of readiness.issues) context.print(`  ${issue.message}`);
  }
  manifest.compatible_operations.forEach(({ operation }, index) => {
    context.print(`\nto use it in a step of ${context.paint("bold", operation)}`);
    context.print(`  ${yamlMember("params", bindingOf(row, manifest, index, store), 2)}`);
  });
}

function statusText(context: CliContext, status: string): string {
  return context.paint(status === "ready" ? "green" : status === "unavailable" ? "yellow" : "red", status);
}

function valueText({ name, dtype, shape, semantic }: EntrypointValue): string {
  return `${name}  ${dtype} [${shape.join(", ")}]  ${semantic}`;
}

async function verify(reference: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { verifyTrainedArtifact } = await import("../../training/store.ts");
  const report = verifyTrainedArtifact(reference, await storeOf(context));
  context.emit({ schema_version: 1, ...report });
  const sound = report.status === "valid";
  context.print(
    `${context.paint(sound ? "green" : "red", report.status)}  ${report.id}: ${report.files.length} files hashed\n` +
      `  artifact_package_sha256: ${report.package_sha256 ?? "-"}`,
  );
  for (const item of report.diagnostics) {
    context.print(formatDiagnostic(item as unknown as Diagnostic, context.paint));
  }
  if (!sound) context.exitCode = EXIT.differs;
}

async function remove(references: string[], options: { yes?: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { removeTrainedArtifact, showTrainedArtifact } = await import("../../training/store.ts");
  const { stateDir } = await context.workspace();
  const rows = references.map((reference) => showTrainedArtifact(reference, { stateDir }).row);
  const names = rows.map(({ id, package_sha256 }) => `${id} (${package_sha256?.slice(0, DIGITS)})`).join(", ");
  if (!options.yes) {
    if (!Deno.stdin.isTerminal() || context.json) {
      throw new SvcError("usage_invalid", `Cannot remove ${rows.length} artifacts without being asked`, {
        hint: "Add --yes",
      });
    }
    if (!confirm(`Remove ${names}?`)) return;
  }
  const removed = rows.map((row) => removeTrainedArtifact(row.package_sha256 ?? row.path, { stateDir }));
  context.emit({ schema_version: 1, removed });
  context.print(`removed ${names}`);
}
