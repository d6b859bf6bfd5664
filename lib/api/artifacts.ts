/** Trained artifacts: packages of ONNX networks that are checked, named by their digest, and kept in the store. */
import type { PackagedArtifact, PackageOptions } from "../training/pack.ts";
import type { ModelParity } from "../training/parity.ts";
import type {
  ArtifactDetail,
  ArtifactRow,
  ArtifactStore,
  ArtifactVerification,
  ImportedArtifact,
} from "../training/store.ts";
import type { SessionCore } from "./core.ts";

export interface ReferenceOptions {
  /** Whether a reference may be a path; true when left out. */
  paths?: boolean;
}

export class Artifacts {
  constructor(private readonly core: SessionCore) {}

  /** The store of the session, compared with its operations. */
  async store(options: ReferenceOptions = {}): Promise<ArtifactStore & Required<Pick<ArtifactStore, "contractOf">>> {
    const { artifactStore } = await import("../training/store.ts");
    return { ...artifactStore(this.core.workspace, await this.core.registry()), ...options };
  }

  /**
   * The artifacts of the store, the project and the program; each is hashed.
   * @param options `operation` keeps those that fit the trainable component of this operation
   * @throws SvcError `unknown_operation` with the nearest id
   */
  async list({ operation }: { operation?: string } = {}): Promise<ArtifactRow[]> {
    await this.#known(operation);
    return (await import("../training/store.ts")).listTrainedArtifacts(await this.store(), { operation });
  }

  /** An artifact by id, digest or path. @throws SvcError `artifact_not_found` */
  async show(reference: string, options: ReferenceOptions = {}): Promise<ArtifactDetail> {
    return (await import("../training/store.ts")).showTrainedArtifact(reference, await this.store(options));
  }

  /** An artifact of the store. @throws SvcError `artifact_not_found` */
  async stored(reference: string): Promise<ArtifactRow> {
    const { stateDir } = this.core.workspace;
    return (await import("../training/store.ts")).showTrainedArtifact(reference, { stateDir }).row;
  }

  /** Hashes an artifact again and repeats every check. @throws SvcError `artifact_not_found` */
  async verify(reference: string, options: ReferenceOptions = {}): Promise<ArtifactVerification> {
    return (await import("../training/store.ts")).verifyTrainedArtifact(reference, await this.store(options));
  }

  /**
   * Checks a package and puts it into the store.
   * @param from ZIP file, folder, manifest, or the bytes of a ZIP file
   * @throws SvcError `unknown_operation`, or codes `artifact_*` with every problem
   */
  async import(
    from: string | Uint8Array,
    options: { label?: string; operation?: string; filename?: string } = {},
  ): Promise<ImportedArtifact> {
    await this.#known(options.operation);
    const { importTrainedArtifact } = await import("../training/store.ts");
    return await importTrainedArtifact(from, await this.store(), options);
  }

  /**
   * Completes the manifest of a folder with ONNX files and writes a reproducible ZIP file.
   * Models with stored inputs (`<component>.parity.npz`) must first reproduce the stored outputs.
   * @param options `operations` are those whose trainable components the network fills
   * @returns the package, and the largest difference of each model that was compared
   * @throws SvcError `unknown_operation`, or codes `artifact_*` with every problem
   */
  async package(
    folder: string,
    options: Omit<PackageOptions, "contractOf"> = {},
  ): Promise<PackagedArtifact & { parity: ModelParity[] }> {
    for (const id of options.operations ?? []) await this.#known(id);
    const { contractOf } = await this.store();
    const parity = await (await import("../training/parity.ts")).checkParity(folder);
    const { packageTrainedArtifact } = await import("../training/pack.ts");
    return { ...await packageTrainedArtifact(folder, { ...options, contractOf }), parity };
  }

  /** Removes an artifact from the store. @throws SvcError `artifact_not_found` */
  async remove(reference: string): Promise<ArtifactRow> {
    const { removeTrainedArtifact } = await import("../training/store.ts");
    return removeTrainedArtifact(reference, { stateDir: this.core.workspace.stateDir });
  }

  async #known(operation: string | undefined): Promise<void> {
    if (operation !== undefined) (await this.core.registry()).get(operation);
  }
}
