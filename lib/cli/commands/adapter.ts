/** `svc adapter`: folders with models and codecs of one's own, what they ask for, and what they are granted. */
import { relative } from "node:path";
import type { AdapterInspection, PermissionSet } from "../../adapter/types.ts";
import { type Diagnostic, SvcError } from "../../contract/error.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { Command } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { formatBytes, formatTable } from "../table.ts";

export function adapterCommands(program: Command): void {
  const adapter = program.command("adapter").description("models and codecs of one's own, in folders");

  adapter.command("scaffold <kind> <folder>")
    .description("write a working adapter to start from: manifest, code, tests, a recipe")
    .option("--name <name>", "name of the adapter (default: that of the folder)")
    .addHelpText(
      "after",
      "\nKinds\n  bits, indices, latents, deepjscc_symbols, classification_dataset, classification_metric\n" +
        "\nExamples\n  svc adapter scaffold bits my-codec\n" +
        "  svc --adapter my-codec recipe run my-codec/recipe.yaml\n",
    )
    .action(scaffold);

  adapter.command("validate <folder>")
    .description("check an adapter: manifest, modules, digests; exit 3 with every finding and its line")
    .option("--no-import", "leave the code alone; else it is loaded once, in its sandbox, with what it was granted")
    .addHelpText("after", "\nExamples\n  svc adapter validate my-codec\n  svc adapter validate my-codec --no-import\n")
    .action(validate);

  adapter.command("inspect <folder>")
    .description("show what an adapter asks for and is granted, its operations, files and digests; runs nothing of it")
    .addHelpText("after", "\nExamples\n  svc adapter inspect my-codec\n  svc adapter inspect my-codec --json\n")
    .action(inspect);

  adapter.command("trust <folder>")
    .description("grant an adapter what it asks for, as long as its folder stays as it is (svc_trust.json)")
    .option("--yes", "do not ask")
    .option("--note <text>", "why, for whoever reads the file")
    .addHelpText(
      "after",
      "\nExamples\n  svc adapter trust my-codec\n  svc adapter trust my-codec --yes --note 'reviewed'\n" +
        "\nFor one command only: --grant my-codec:net=models.example.org:443\n",
    )
    .action(trust);

  adapter.command("untrust <folder>")
    .description("take back what svc_trust.json grants to an adapter; names it where the folder is gone")
    .addHelpText("after", "\nExamples\n  svc adapter untrust my-codec\n")
    .action(untrust);

  adapter.command("list")
    .description("list the adapters of --adapter and SVC_ADAPTER_PATHS")
    .addHelpText(
      "after",
      "\nExamples\n  svc --adapter my-codec adapter list\n  SVC_ADAPTER_PATHS=my-codec svc adapter list --json\n",
    )
    .action(list);
}

/** What is known of a folder, with the grants of the command line. */
async function inspectionOf(context: CliContext, folder: string): Promise<AdapterInspection> {
  const { inspectAdapter } = await import("../../adapter/inspect.ts");
  const { projectRoot } = await context.workspace();
  const { grants } = await context.adapters();
  return inspectAdapter({ folder, grants }, { projectRoot });
}

/** Findings on standard error, the errors as an exit code. */
function noteFindings(context: CliContext, diagnostics: readonly Diagnostic[]): void {
  for (const item of diagnostics) context.note(formatDiagnostic(item, context.paintError));
  if (diagnostics.some(({ severity }) => severity === "error")) context.exitCode = EXIT.refused;
}

async function scaffold(kindName: string, folder: string, options: { name?: string }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { scaffoldAdapter, scaffoldKind } = await import("../../adapter/scaffold.ts");
  const written = await scaffoldAdapter(scaffoldKind(kindName), folder, options);
  context.emit({ schema_version: 1, status: "written", ...written });
  const shown = quoted(folder);
  context.print(
    `${context.paint("green", "written")}  ${written.name} in ${folder}: ${written.files.join(", ")}\n` +
      `  test  (cd ${shown} && deno test)\n` +
      `  run   svc --adapter ${shown} recipe run ${quoted(`${folder.replace(/\/+$/, "")}/recipe.yaml`)}`,
  );
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

async function validate(folder: string, options: { import: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  const inspection = await inspectionOf(context, folder);
  const { diagnostics, operations } = inspection;
  if (inspection.status === "invalid") refuse(inspection);
  await tryToLoad(context, folder, options.import);
  context.emit({
    schema_version: 1,
    status: "valid",
    name: inspection.name,
    version: inspection.version,
    folder_sha256: inspection.folder_sha256,
    operations: operations.map(({ id }) => id),
    imported: options.import,
    diagnostics: diagnostics as unknown as JsonObject[],
  });
  noteFindings(context, diagnostics);
  const ids = operations.map(({ id }) => id).join(", ");
  context.print(
    `${context.paint("green", "valid")}  ${inspection.name} ${inspection.version}: ${ids}\n` +
      `  folder_sha256: ${inspection.folder_sha256}`,
  );
}

/** Brings the adapter beside the built-in operations, as a run would, and forgets it again. */
async function tryToLoad(context: CliContext, folder: string, loadModules: boolean): Promise<void> {
  const { createRegistry } = await import("../../../ops/registry.ts");
  const { loadAdapters } = await import("../../adapter/load.ts");
  const { projectRoot } = await context.workspace();
  const { grants } = await context.adapters();
  await loadAdapters(await createRegistry(), [{ folder }], { projectRoot, grants, loadModules });
}

/** @throws SvcError `adapter_manifest_invalid` with every finding */
function refuse({ folder, diagnostics }: AdapterInspection): never {
  throw new SvcError("adapter_manifest_invalid", `Cannot use ${folder} as an adapter`, { diagnostics });
}

async function inspect(folder: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const found = await inspectionOf(context, folder);
  context.emit({ schema_version: 1, ...found } as unknown as JsonObject);
  context.print(describe(found, context));
  noteFindings(context, found.diagnostics);
}

/** An inspection for people: who it is, what it wants, what it holds. */
function describe(found: AdapterInspection, { paint }: CliContext): string {
  const status = paint(found.status === "valid" ? "green" : "red", found.status);
  const lines = [
    `${paint("bold", found.name ?? "(no name)")} ${found.version ?? ""}  ${status}`,
    ...(found.description ? [found.description] : []),
    "",
    `folder    ${found.folder}`,
    `manifest  ${found.manifest_file ?? "(none)"}  ${found.manifest_sha256 ?? ""}`,
    `digest    ${found.folder_sha256 ?? "(none)"}`,
  ];
  if (found.limits !== null) {
    lines.push(`limits    ${found.limits.timeout_s} s a call, ${found.limits.memory_mb} MiB of memory`);
  }
  lines.push(`asks for  ${permissions(found.permissions_requested)}`);
  if (permissions(found.permissions_requested) !== NOTHING) {
    lines.push(`granted   ${permissions(found.permissions_granted)}  (${SOURCE[found.grant_source]})`);
    lines.push(`withheld  ${permissions(found.permissions_missing)}`);
  }
  let text = lines.join("\n").replace(/ +$/gm, "") + "\n";
  if (found.operations.length > 0) {
    const rows = found.operations.map(({ id, wraps, path, callable, module_sha256 }) => ({
      operation: id,
      wraps,
      callable: `${path}#${callable}`,
      module_sha256: module_sha256?.slice(0, 12) ?? "",
    }));
    text += "\n" + formatTable(rows, ["operation", "wraps", "callable", "module_sha256"].map((key) => ({ key })));
  }
  if (found.models.length > 0) {
    const rows = found.models.map(({ id, path, sha256 }) => ({ model: id, path, sha256: sha256.slice(0, 12) }));
    text += "\n" + formatTable(rows, ["model", "path", "sha256"].map((key) => ({ key })));
  }
  if (found.files.length > 0) {
    const rows = found.files.map(({ path, size_bytes, sha256 }) => ({
      file: path,
      size: formatBytes(size_bytes),
      sha256: sha256.slice(0, 12),
    }));
    text += "\n" + formatTable(rows, [{ key: "file" }, { key: "size", align: "right" }, { key: "sha256" }]);
  }
  return text;
}

const NOTHING = "nothing";
const SOURCE = { flag: "--grant", trust_file: "svc_trust.json", none: "nobody has granted anything" } as const;

/** Permissions in a line. */
function permissions(set: PermissionSet): string {
  const parts = (["net", "read", "env"] as const).flatMap((kind) => set[kind].map((value) => `${kind}=${value}`));
  return parts.length === 0 ? NOTHING : parts.join(" ");
}

interface TrustOptions {
  yes?: boolean;
  note?: string;
}

async function trust(folder: string, options: TrustOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { trustAdapter } = await import("../../adapter/write_trust.ts");
  const { inspectAdapter } = await import("../../adapter/inspect.ts");
  const { projectRoot } = await context.workspace();
  const found = inspectAdapter({ folder }, { projectRoot });
  if (found.status === "invalid") refuse(found);
  const requests = permissions(found.permissions_requested);
  context.print(`${found.name} ${found.version} asks for ${requests}\n  folder_sha256: ${found.folder_sha256}`);
  if (!options.yes) {
    if (!Deno.stdin.isTerminal() || context.json) {
      throw new SvcError("usage_invalid", `Cannot trust ${found.name} without being asked`, {
        hint: `It asks for ${requests}; add --yes to grant that`,
      });
    }
    if (!confirm(`Grant ${requests} to ${found.name}, as long as its folder stays as it is?`)) return;
  }
  const { path, entry } = trustAdapter(folder, {
    projectRoot,
    note: options.note,
    // What was shown is what is granted, however long the answer took.
    folderSha256: found.folder_sha256!,
  });
  context.emit({ schema_version: 1, status: "trusted", path, entry: entry as unknown as JsonObject });
  context.print(`${context.paint("green", "trusted")}  ${found.name} in ${relative(Deno.cwd(), path)}`);
}

async function untrust(folder: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { untrustAdapter } = await import("../../adapter/write_trust.ts");
  const { projectRoot } = await context.workspace();
  const { path, name } = untrustAdapter(folder, { projectRoot });
  context.emit({ schema_version: 1, status: "untrusted", path, name });
  context.print(`${name} is no longer in ${relative(Deno.cwd(), path)}`);
}

async function list(_options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const found: AdapterInspection[] = [];
  const { folders } = await context.adapters();
  for (const folder of folders) found.push(await inspectionOf(context, folder));
  context.emit({ schema_version: 1, adapters: found as unknown as JsonObject[] });
  if (found.length === 0) {
    return context.print(
      "no adapters: name folders with --adapter or in SVC_ADAPTER_PATHS, or begin one with\n" +
        "  svc adapter scaffold bits my-codec",
    );
  }
  const rows = found.map((each) => ({
    adapter: each.name ?? each.folder,
    version: each.version,
    status: each.status,
    operations: each.operations.map(({ id }) => id).join(", "),
    "asks for": permissions(each.permissions_requested),
    withheld: permissions(each.permissions_missing),
  }));
  const keys = ["adapter", "version", "status", "operations", "asks for", "withheld"];
  context.print(formatTable(rows, keys.map((key) => ({ key }))));
  noteFindings(context, found.flatMap(({ diagnostics }) => diagnostics));
}
