/** `svc artifact`: trained networks as packages that are checked, named by their digest, and kept in the store. */
import { relative } from "../../contract/paths.ts";
import { artifacts } from "../../api/calls/artifacts.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { ArtifactDetail, ArtifactRow, ArtifactStore } from "../../training/store.ts";
import type { EntrypointValue, TrainedManifest } from "../../training/types.ts";
import { commandOf, commandsOf } from "../call_commands.ts";
import { type CommandSpec, flag, list, TABLE_FORMAT } from "../command.ts";
import type { CliContext } from "../context.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";

const DIGITS = 12;

const callCommands = commandsOf("artifact", artifacts, {
  package: {
    options: {
      operation: list(
        "--operation <id>",
        "operation whose trainable component the network fills; repeat for a joint codec",
      ),
    },
    notes: "The folder holds the networks and, optionally, a trained_artifact.yaml or trained_artifact.template.yaml." +
      "\nDigests are filled in; entrypoints, roles and the slot contract follow from the operations where they are absent." +
      "\nA model with <component>.parity.npz must reproduce its stored outputs to 1e-5 of their peak.",
    examples: [
      "svc artifact package my_receiver --operation demodulation.neural_receiver_adapter",
      "svc artifact package my_receiver --out my_receiver.zip",
    ],
    call: ({ options: { operation: operations } }, perform) => perform({ operations }),
    show(made, { context }) {
      const files = `${made.file_count} files, ${formatBytes(made.size_bytes)}`;
      return [
        `${context.paint("green", "packaged")}  ${made.id}: ${made.archive} (${files})`,
        ...(made.written.length > 0 ? [`  written in the folder: ${made.written.join(", ")}`] : []),
        ...made.parity.map(({ model, largest_relative_difference: difference }) =>
          `  parity of ${model}: at most ${difference.toExponential(1)} of the peak`
        ),
        `  artifact_package_sha256: ${made.package_sha256}`,
        `  runtime_component_set_sha256: ${made.runtime_component_set_sha256}`,
      ].join("\n");
    },
  },
  import: {
    examples: ["svc artifact import my_receiver.zip --label 'second try'"],
    json: ({ outcome, package_file_sha256, unlisted, artifact }) => ({
      schema_version: 1,
      outcome,
      package_file_sha256,
      unlisted,
      artifact,
    }),
    remarks: {
      unlisted: ({ unlisted }) =>
        unlisted.length === 0 ? null : `Left out, because the manifest does not list them: ${unlisted.join(", ")}`,
    },
    show: ({ outcome, artifact }, { context }) =>
      `${context.paint("green", outcome)}  ${artifact.id}: ${artifact.name}\n  ${artifact.path}\n` +
      `  artifact_package_sha256: ${artifact.package_sha256}`,
  },
  list: {
    options: { format: TABLE_FORMAT },
    examples: ["svc artifact list --operation demodulation.neural_receiver_adapter"],
    json: (artifacts) => ({ schema_version: 1, artifacts }),
    // `artifact verify` prints those of one.
    printed: () => [],
    remarks: {
      artifacts: ({ length }, { options: { format } }) =>
        length > 0 || format !== "table" ? null : "No artifacts here. Import one with: svc artifact import <package>",
    },
    show(artifacts, { options: { format } }) {
      if (artifacts.length === 0 && format === "table") return;
      const rows = artifacts.map((row) => ({
        artifact: row.id,
        digest: format === "table" ? (row.package_sha256 ?? "").slice(0, DIGITS) : row.package_sha256,
        status: row.status,
        place: row.place,
        source: row.source_class,
        size: format === "table" ? formatBytes(row.size_bytes) : row.size_bytes,
        operations: row.operations.join(", "),
      }));
      const columns = ["artifact", "digest", "status", "place", "source", right("size"), "operations"];
      return formatTable(rows, columns, format);
    },
  },
  show: {
    examples: ["svc artifact show qpsk-iq-receiver-v1"],
    json: (detail) => detailDocument(detail),
    async show(detail, { svc, context }) {
      await showDetail(detail, detail.licence?.split("\n", 8) ?? [], await svc.artifacts.store(), context);
    },
  },
  verify: {
    examples: ["svc artifact verify 3f2a9c", "svc artifact verify my_receiver.zip"],
    printed: () => [],
    show: ({ status, id, files, package_sha256, diagnostics }, { context: { paint } }) =>
      [
        `${paint(status === "valid" ? "green" : "red", status)}  ${id}: ${files.length} files hashed`,
        `  artifact_package_sha256: ${package_sha256 ?? "-"}`,
        ...diagnostics.map((item) => formatDiagnostic(item, paint)),
      ].join("\n"),
    exit: ({ status }) => status === "valid" ? EXIT.ok : EXIT.differs,
  },
});

export const artifactCommands: CommandSpec[] = [
  ...callCommands,
  commandOf(artifacts.remove, {
    name: "artifact remove",
    usage: "<artifacts...>",
    summary: "remove artifacts from the managed store",
  }, {
    options: { yes: flag("--yes", "do not ask for confirmation") },
    examples: ["svc artifact remove 3f2a9c --yes"],
    async call({ svc, args: [references], options: { yes }, context }) {
      const rows = await Promise.all(references.map((reference) => svc.artifacts.stored(reference)));
      const refusal = `Cannot remove ${rows.length} artifacts without being asked`;
      if (!context.confirmed(yes, `Remove ${rows.map(named).join(", ")}?`, refusal)) return [];
      return await Promise.all(rows.map((row) => svc.artifacts.remove(row.package_sha256 ?? row.path)));
    },
    json: (removed) => ({ schema_version: 1, removed }),
    show: (removed) => removed.length === 0 ? "removed nothing" : `removed ${removed.map(named).join(", ")}`,
  }),
];

const named = ({ id, package_sha256 }: ArtifactRow) => `${id} (${package_sha256?.slice(0, DIGITS)})`;

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

function detailDocument({ row, inspected, licence }: ArtifactDetail) {
  return {
    schema_version: 1,
    artifact: row,
    manifest: inspected.manifest,
    identity: inspected.identity,
    package_file_sha256: inspected.package_file_sha256,
    publication_readiness: inspected.readiness,
    licence,
    files: [...inspected.files].map(([path, file]) => ({ path, ...file })),
    models: Object.fromEntries(inspected.graphs),
  };
}

async function showDetail(
  { row, inspected }: ArtifactDetail,
  licence: readonly string[],
  store: ArtifactStore,
  context: CliContext,
): Promise<void> {
  const { manifest, identity, graphs, readiness } = inspected;
  context.print(`${context.paint("bold", row.id)}  ${row.name}${row.label === null ? "" : ` (${row.label})`}`);
  context.print(`  ${statusText(context, row.status)}, ${row.source_class.replaceAll("_", " ")}, ${row.path}`);
  if (typeof manifest?.description === "string") context.print(`  ${manifest.description}`);
  if (identity !== null) context.print(`  artifact_package_sha256: ${identity.package_sha256}`);
  for (const line of licence) context.print(`  ${line}`);
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
    ["component", "role", "file", right("size"), right("nodes"), right("parameters"), right("opset")],
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
  const { yamlText } = await import("../../recipe/yaml_write.ts");
  manifest.compatible_operations.forEach(({ operation }, index) => {
    context.print(`\nto use it in a step of ${context.paint("bold", operation)}`);
    context.print(yamlText({ params: bindingOf(row, manifest, index, store) }).trimEnd().replace(/^/gm, "  "));
  });
}

function statusText(context: CliContext, status: string): string {
  return context.paint(status === "ready" ? "green" : status === "unavailable" ? "yellow" : "red", status);
}

function valueText({ name, dtype, shape, semantic }: EntrypointValue): string {
  return `${name}  ${dtype} [${shape.join(", ")}]  ${semantic}`;
}
