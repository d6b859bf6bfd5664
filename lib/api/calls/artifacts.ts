/** Trained artifacts: packages of ONNX networks that are checked, named by their digest, and kept in the store. */
import { z } from "../../contract/zod.ts";
import type { ArtifactDetail, ArtifactRow, ArtifactStore, ArtifactVerification } from "../../training/store.ts";
import { call } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { documentOf, ownDiagnostics, rowFindings } from "../documents.ts";
import { flag, text, texts } from "../fields.ts";

const REFERENCE = { artifact: z.string().describe("id, digest or path") };
/** Paths name files of the user, so the network has none. */
const LOCAL = { ...REFERENCE, paths: z.boolean().default(true).describe("accept a path as the reference") };

const storing = () => import("../../training/store.ts");

/** An artifact without its place on this machine. */
const published = ({ path: _path, ...row }: ArtifactRow) => row;

/** The store, compared with the operations. */
async function storeOf(core: SessionCore, paths = true) {
  return { ...(await storing()).artifactStore(core.workspace, await core.registry()), paths };
}

/** @throws SvcError `unknown_operation` with the nearest id */
async function known(core: SessionCore, ...operations: readonly (string | undefined)[]): Promise<void> {
  for (const id of operations) if (id !== undefined) (await core.registry()).get(id);
}

export const artifacts = {
  /**
   * Completes the manifest of a folder with ONNX files and writes a reproducible ZIP file. Models with stored inputs
   * (`<component>.parity.npz`) must first reproduce the stored outputs.
   * @returns the package, and the largest difference of each model that was compared
   * @throws SvcError `unknown_operation`, or codes `artifact_*` with every problem
   */
  package: call("Complete and check the manifest of a folder with ONNX files, and write a reproducible ZIP file", {
    fields: {
      folder: z.string(),
      operations: texts("operations whose trainable components the network fills"),
      out: text("where to write the ZIP file (default: <id>.zip beside the folder)", "file"),
      force: flag("replace a ZIP file with other contents"),
    },
    args: ["folder"],
    cli: { usage: "<folder>", without: ["operations"] },
    findings: ownDiagnostics,
    async run(core, { folder, ...options }) {
      await known(core, ...options.operations ?? []);
      const { contractOf } = await storeOf(core);
      const parity = await (await import("../../training/parity.ts")).checkParity(folder);
      const { packageTrainedArtifact } = await import("../../training/pack.ts");
      return { ...await packageTrainedArtifact(folder, { ...options, contractOf }), parity };
    },
  }),

  /**
   * Checks a package and puts it into the store; `bytes` are those of a ZIP file in place of a path.
   * @throws SvcError `unknown_operation`, or codes `artifact_*` with every problem
   */
  import: call("Check a package (ZIP file, folder or manifest) and add it to the store", {
    fields: {
      package: z.string(),
      label: text("display name"),
      operation: text("refuse a package that does not fit the trainable component of this operation", "id"),
    },
    args: ["package"],
    cli: { usage: "<package>" },
    findings: ({ artifact }: { artifact: ArtifactRow }) => artifact.diagnostics,
    async run(core, { package: from, ...options }, { bytes }: { bytes?: Uint8Array }) {
      await known(core, options.operation);
      const { importTrainedArtifact } = await storing();
      const filename = bytes === undefined ? undefined : from;
      return await importTrainedArtifact(bytes ?? from, await storeOf(core), { ...options, filename });
    },
  }),

  /** The artifacts of the store, the project and the program; each is hashed. @throws SvcError `unknown_operation` */
  list: call("List and hash the artifacts of the store, the project and the program", {
    fields: { operation: text("only those that fit the trainable component of this operation", "id") },
    output: z.object({ artifacts: z.array(documentOf<ReturnType<typeof published>>()) }),
    refuses: [404],
    http: { route: "get /api/trained-artifacts", returns: "A row each" },
    cli: {},
    tool: true,
    publish: (rows: ArtifactRow[]) => ({ artifacts: rows.map(published) }),
    findings: (rows: ArtifactRow[]) => rows.flatMap(({ id, diagnostics }) => rowFindings(id, diagnostics)),
    async run(core, { operation }): Promise<ArtifactRow[]> {
      await known(core, operation);
      return (await storing()).listTrainedArtifacts(await storeOf(core), { operation });
    },
  }),

  /** An artifact by id, digest or path. @throws SvcError `artifact_not_found` */
  show: call("Show an artifact, by id, digest or path: networks, entrypoints, selection, and how to bind it", {
    fields: LOCAL,
    args: ["artifact"],
    output: z.object({ id: z.string(), status: z.string(), operations: z.array(z.string()) }),
    refuses: [404],
    http: { route: "get /api/trained-artifacts/:artifact", returns: "Its row", fixed: { paths: false } },
    publish: ({ row }: ArtifactDetail) => published(row),
    findings: ({ row }: ArtifactDetail) => row.diagnostics,
    cli: { usage: "<artifact>", without: ["paths"] },
    run: async (core, { artifact, paths }): Promise<ArtifactDetail> =>
      (await storing()).showTrainedArtifact(artifact, await storeOf(core, paths)),
  }),

  /** Hashes an artifact again and repeats every check. @throws SvcError `artifact_not_found` */
  verify: call("Verify hashes and checks of artifacts", {
    fields: LOCAL,
    args: ["artifact"],
    output: z.object({ status: z.enum(["valid", "invalid"]) }),
    refuses: [404],
    http: { route: "get /api/trained-artifacts/:artifact/verify", returns: "The report", fixed: { paths: false } },
    publish: ({ path: _path, ...report }: ArtifactVerification) => report,
    findings: ownDiagnostics,
    cli: { usage: "<artifact>", without: ["paths"], exits: "exit 6 when one fails" },
    run: async (core, { artifact, paths }): Promise<ArtifactVerification> =>
      (await storing()).verifyTrainedArtifact(artifact, await storeOf(core, paths)),
  }),

  /** Removes an artifact from the store. @throws SvcError `artifact_not_found` */
  remove: call("Remove an artifact from the managed store", {
    fields: REFERENCE,
    args: ["artifact"],
    findings: () => [],
    run: async ({ workspace: { stateDir } }, { artifact }): Promise<ArtifactRow> =>
      (await storing()).removeTrainedArtifact(artifact, { stateDir }),
  }),

  /** An artifact of the store. @throws SvcError `artifact_not_found` */
  stored: call("Find an artifact of the managed store", {
    fields: REFERENCE,
    args: ["artifact"],
    findings: () => [],
    run: async ({ workspace: { stateDir } }, { artifact }): Promise<ArtifactRow> =>
      (await storing()).showTrainedArtifact(artifact, { stateDir }).row,
  }),

  /** The store of the session, compared with its operations. */
  store: call("Open the store of trained artifacts", {
    run: async (core): Promise<ArtifactStore & Required<Pick<ArtifactStore, "contractOf">>> => await storeOf(core),
  }),
};
