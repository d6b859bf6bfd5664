/** `svc adapter`: external code in folders, its permissions, and scaffolds to start from. */
import { adapters } from "../../api/calls/adapters.ts";
import { SCAFFOLD_KINDS, scaffoldTest } from "../../adapter/scaffold.ts";
import { type AdapterInspection, GRANTED_BY, permissionsText } from "../../adapter/types.ts";
import { type PermissionSet } from "../../adapter/manifest_schema.ts";
import { visibleLine } from "../../contract/escape.ts";
import { quoted } from "../../study/engine/command.ts";
import { commandOf, commandsOf } from "../call_commands.ts";
import { type CommandSpec, flag } from "../command.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";

const failed = ({ diagnostics }: AdapterInspection) => diagnostics.some(({ severity }) => severity === "error");

const callCommands = commandsOf("adapter", adapters, {
  scaffold: {
    notes: `Kinds\n  ${SCAFFOLD_KINDS.join(", ").replace(/ (text_dataset|python-codec)/g, "\n  $1")}`,
    examples: ["svc adapter scaffold bits my-codec", "svc --adapter my-codec recipe run my-codec/recipe.yaml"],
    json: (written) => ({ schema_version: 1, status: "written", ...written }),
    show({ kind, name, files }, { args: [, folder], context }) {
      const shown = quoted(folder);
      return `${context.paint("green", "written")}  ${name} in ${folder}: ${files.join(", ")}\n` +
        `  test  (cd ${shown} && ${scaffoldTest(kind)})\n` +
        `  run   svc --adapter ${shown} recipe run ${quoted(`${folder.replace(/\/+$/, "")}/recipe.yaml`)}`;
    },
  },
  validate: {
    options: {
      import: flag("--no-import", "do not load the code (by default it is loaded once in its sandbox)"),
    },
    examples: ["svc adapter validate my-codec", "svc adapter validate my-codec --no-import"],
    call: ({ options }, perform) => perform({ load_modules: options.import }),
    json: ({ name, version, folder_sha256, operations, diagnostics }, { options }) => ({
      schema_version: 1,
      status: "valid",
      name,
      version,
      folder_sha256,
      operations: operations.map(({ id }) => id),
      imported: options.import,
      diagnostics,
    }),
    show({ name, version, folder_sha256, operations }, { context }) {
      const ids = operations.map(({ id }) => id).join(", ");
      return `${context.paint("green", "valid")}  ${name} ${version}: ${ids}\n  folder_sha256: ${folder_sha256}`;
    },
    exit: (inspection) => failed(inspection) ? EXIT.refused : EXIT.ok,
  },
  inspect: {
    examples: ["svc adapter inspect my-codec", "svc adapter inspect my-codec --json"],
    show: (inspection, { context }) => describe(inspection, context),
    exit: (inspection) => failed(inspection) ? EXIT.refused : EXIT.ok,
  },
  untrust: {
    examples: ["svc adapter untrust my-codec"],
    json: ({ path, name }) => ({ schema_version: 1, status: "untrusted", path, name }),
    show: ({ path, name }, { context }) => `${name} is no longer in ${context.shownPath(path)}`,
  },
  list: {
    examples: ["svc --adapter my-codec adapter list", "SVC_ADAPTER_PATHS=my-codec svc adapter list --json"],
    json: (adapters) => ({ schema_version: 1, adapters }),
    show(adapters, { context }) {
      if (adapters.length === 0) {
        return "no adapters: name folders with --adapter or in SVC_ADAPTER_PATHS, or begin one with\n" +
          "  svc adapter scaffold bits my-codec";
      }
      const rows = adapters.map((each) => ({
        adapter: each.name ?? each.folder,
        version: each.version,
        status: each.status,
        operations: each.operations.map(({ id }) => id).join(", "),
        requests: permissions(each.permissions_requested),
        withheld: permissions(each.permissions_missing),
      }));
      context.print(formatTable(rows, Object.keys(rows[0])));
    },
    exit: (adapters) => adapters.some(failed) ? EXIT.refused : EXIT.ok,
  },
});

export const adapterCommands: CommandSpec[] = [
  ...callCommands,
  commandOf(adapters.trust, { name: "adapter trust", usage: "<folder>", without: ["folder_sha256"] }, {
    options: {
      yes: flag("--yes", "do not ask for confirmation"),
    },
    notes:
      "The grant is the user's: it is in ~/.config/svc/trust.json, or in $XDG_CONFIG_HOME/svc or the file $SVC_TRUST,\n" +
      "and a svc_trust.json of a project grants nothing. For one command only: --grant my-codec:net=models.example.org:443",
    examples: ["svc adapter trust my-codec", "svc adapter trust my-codec --yes --note 'reviewed'"],
    async call({ svc, args: [folder], options: { yes, unsandboxed }, context }, perform) {
      const { name, version, permissions_requested, folder_sha256 } = await svc.adapters.usable(folder);
      const requests = permissions(permissions_requested) + (unsandboxed ? ", and all of your rights" : "");
      context.print(`${name} ${version} requests ${requests}\n  folder_sha256: ${folder_sha256}`);
      const question = `Grant ${requests} to ${name}, until its folder changes?`;
      const hint = `It requests ${requests}; add --yes to grant that`;
      if (!context.confirmed(yes, question, `Cannot trust ${name} without being asked`, hint)) return null;
      // The grant is for the digest that was shown.
      return await perform({ folder_sha256: folder_sha256! });
    },
    json: (trusted) => ({ schema_version: 1, status: trusted === null ? "unchanged" : "trusted", ...trusted }),
    show: (trusted, { context }) =>
      trusted === null
        ? "granted nothing"
        : `${context.paint("green", "trusted")}  ${trusted.name} in ${context.shownPath(trusted.path)}`,
  }),
];

/** An inspection as text: identity, requested permissions, contents. */
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
  if (found.python !== null) {
    lines.push(`python    ${[found.python.interpreter, ...found.python.requires].map(visibleLine).join(", ")}`);
  }
  if (found.limits !== null) {
    lines.push(`limits    ${found.limits.timeout_s} s a call, ${found.limits.memory_mb} MiB of memory`);
  }
  lines.push(`requests  ${permissions(found.permissions_requested)}`);
  if (permissions(found.permissions_requested) !== "nothing") {
    lines.push(`granted   ${permissions(found.permissions_granted)}  (${GRANTED_BY[found.grant_source]})`);
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
    text += "\n" + formatTable(rows, ["operation", "wraps", "callable", "module_sha256"]);
  }
  if (found.models.length > 0) {
    const rows = found.models.map(({ id, path, sha256 }) => ({ model: id, path, sha256: sha256.slice(0, 12) }));
    text += "\n" + formatTable(rows, ["model", "path", "sha256"]);
  }
  if (found.files.length > 0) {
    const rows = found.files.map(({ path, size_bytes, sha256 }) => ({
      file: path,
      size: formatBytes(size_bytes),
      sha256: sha256.slice(0, 12),
    }));
    text += "\n" + formatTable(rows, ["file", right("size"), "sha256"]);
  }
  return text;
}

const permissions = (set: PermissionSet) => visibleLine(permissionsText(set));
