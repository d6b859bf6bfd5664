/**
 * Trainable components: operations with reference modes and a learned mode that runs a trained artifact.
 *
 * `defineSlot` builds the operation from the specific parts of a component: reference modes, tensors of its artifact
 * and their mathematics. Differentiability, backends, materialisations, artifact parameters with their checks, the ABI
 * and the withholding of secret inputs follow from the declaration. All tensors of an artifact are float32; complex
 * arrays have a last axis of real and imaginary part.
 */
import type { NdArray } from "../numeric/array/ndarray.ts";
import { defineOperation } from "./define.ts";
import { type Code, SvcError } from "./error.ts";
import type {
  Differentiability,
  Materialization,
  Operation,
  OperationAbi,
  OperationDefinition,
  OperationResult,
  Outputs,
  ParameterProblem,
  Ports,
  Requirement,
  RunContext,
  Runner,
} from "./operation.ts";
import type { JsonObject } from "./value.ts";
import { z } from "./zod.ts";

/** The mode that runs a trained artifact. */
export const LEARNED_ARTIFACT = "learned_artifact";
const SHA256 = /^[0-9a-f]{64}$/;

type Shapes = Readonly<Record<string, readonly (number | string)[]>>;

/** Calls the artifact; names, dtypes, shapes and finiteness of its outputs are checked. */
export interface ArtifactCall<Feeds extends Shapes, Found extends Shapes> {
  (
    feeds: { readonly [Name in keyof Feeds]: NdArray },
  ): Promise<{ readonly [Name in keyof Found]: NdArray & { readonly data: Float32Array } }>;
  /** Whether the artifact has an optional input. */
  takes(name: keyof Feeds & string): boolean;
}

/** A reference mode. */
export interface SlotMode<Problem, Result, Context> {
  /** Name of its materialisation; absent for a mode that stands for code in training, to which exports bind. */
  implementation?: string;
  /** Default numpy. */
  backend?: string;
  /** Runners with the materialisation; default both executing runners. */
  runners?: readonly Runner[];
  /** Why no release implements it yet. */
  planned?: string;
  /** Label in artifacts; default the name of the mode. */
  label?: string;
  /** The secret input of this mode; no other mode receives it. */
  reveals?: string;
  run?(problem: Problem, context: Context): Result | Promise<Result>;
}

/** The learned mode. */
export interface SlotArtifact<Feeds extends Shapes, Found extends Shapes, Problem, Result, Context> {
  /** Component of a package, its role, and its entry point. */
  component: { id: string; role: string; entrypoint: string };
  /** Tensors of the entry point; a text in a shape is a dimension with one size per call. */
  inputs: Feeds;
  outputs: Found;
  /** Inputs and outputs that an artifact may lack. */
  optional?: readonly ((keyof Feeds | keyof Found) & string)[];
  /** Meaning of each tensor: content, unit, sign; trainers read it. */
  meaning?: { readonly [Name in keyof Feeds | keyof Found]?: string };
  /** Operation inputs from which the tensors are computed; default all required inputs. */
  requires?: readonly string[];
  /** Parameters besides the mode that the learned mode fixes. */
  binding?: JsonObject;
  /** Further fields of the ABI. */
  abi?: JsonObject;
  /** Default `portable_trained_artifact_runtime`. */
  implementation?: string;
  /** Code of the finding about a missing digest; default `params_conflict`. */
  digestCode?: Code;
  /** Rows (axis 0) per call of the model. */
  rows: number | ((context: Context) => number);
  run(problem: Problem, call: ArtifactCall<Feeds, Found>, context: Context): Promise<Result>;
}

type SlotParams<Params extends z.ZodRawShape, Name extends string, Mode extends string> =
  & z.output<z.ZodObject<Params & ReturnType<typeof artifactParameters>>>
  & { [N in Name]: Mode | typeof LEARNED_ARTIFACT };

/** The context of a mode: without the artifact, and without secret inputs of other modes. */
export type SlotContext<
  In extends Ports,
  Opt extends Ports,
  Params extends z.ZodRawShape,
  Name extends string,
  Mode extends string,
> = Omit<RunContext<In, Opt, z.ZodObject>, "params" | "learned"> & {
  readonly params: SlotParams<Params, Name, Mode>;
  readonly mode: Mode | typeof LEARNED_ARTIFACT;
  /** Label of the mode in artifacts. */
  readonly label: string;
};

export interface SlotDefinition<
  In extends Ports,
  Opt extends Ports,
  Out extends Outputs,
  Params extends z.ZodRawShape,
  Name extends string,
  Mode extends string,
  Feeds extends Shapes,
  Found extends Shapes,
  Problem,
  Result,
  Context extends { params: unknown } = SlotContext<In, Opt, Params, Name, NoInfer<Mode>>,
> extends
  Omit<
    OperationDefinition<In, Opt, Out>,
    "params" | "check" | "requires" | "run" | "threadSafe" | "backends" | "materializations" | "differentiability"
  > {
  /** Parameters except the mode and those of the artifact. */
  params?: Params;
  gradient: Differentiability["gradient"];
  /** Implementations of exported training code, by framework. */
  exports: Readonly<Record<string, string>>;
  mode: {
    /** Name of the mode parameter, default `mode`. */
    parameter?: Name;
    default: NoInfer<Mode>;
    description?: string;
    /** Order of the modes in the schema; default that of the materialisations. */
    order?: readonly NoInfer<Mode>[];
  };
  /** Default `true`; `false` has a comment with the shared state. */
  threadSafe?: boolean;
  /** Reads the inputs, for all modes. */
  read(context: Context): Problem;
  modes: { readonly [M in Mode]: SlotMode<Problem, Result, Context> };
  learned: SlotArtifact<Feeds, Found, Problem, Result, Context>;
  /** Builds the outputs, for all modes. */
  result(value: Result, problem: Problem, context: Context): OperationResult<Out>;
  /** Findings besides those about the artifact and the secret input. */
  check?(params: Context["params"], connected: ReadonlySet<string>): ParameterProblem[];
  requires?(params: Context["params"]): Requirement[];
}

/**
 * Declares a trainable component.
 * @returns an operation whose contract has the ABI of its artifacts
 */
export function defineSlot<
  Mode extends string,
  const Feeds extends Shapes,
  const Found extends Shapes,
  Problem,
  Result,
  const In extends Ports = Record<never, never>,
  const Opt extends Ports = Record<never, never>,
  const Out extends Outputs = Record<never, never>,
  Params extends z.ZodRawShape = Record<never, never>,
  Name extends string = "mode",
>(slot: SlotDefinition<In, Opt, Out, Params, Name, Mode, Feeds, Found, Problem, Result>): Operation {
  return defineOperation(operationOf(slot as AnySlot));
}

type AnyContext = SlotContext<Ports, Ports, z.ZodRawShape, string, string>;
type AnySlot = SlotDefinition<Ports, Ports, Outputs, z.ZodRawShape, string, string, Shapes, Shapes, unknown, unknown>;

function operationOf(slot: AnySlot): OperationDefinition<Ports, Ports, Outputs> {
  const { params, gradient, exports: _, mode, read, modes, learned, result, check, threadSafe = true, ...shared } =
    slot;
  const { parameter = "mode", order = Object.keys(modes) } = mode;
  const choice = z.enum([...order, LEARNED_ARTIFACT]).default(mode.default);
  const materializations = materializationsOf(slot, parameter);
  const backendsOf = (wanted: Runner) => [
    ...new Set(materializations.filter(({ runner }) => runner === wanted).map(({ backend }) => backend)),
  ];
  const secret = Object.entries({ ...slot.inputs, ...slot.optionalInputs })
    .filter(([, port]) => "secret" in port).map(([name]) => name);
  return {
    ...shared,
    params: z.strictObject({
      [parameter]: choice.describe(mode.description ?? "reference method, or learned_artifact: a trained artifact"),
      ...params,
      ...params !== undefined && "artifact_entrypoint" in params
        ? {}
        : artifactParameters(learned.component.entrypoint, parameter),
    }),
    differentiability: { framework: "torch", gradient, trainable_params: true, exportable: true },
    backends: {
      benchmark_run: backendsOf("benchmark_run"),
      dataset_capture: backendsOf("dataset_capture"),
      differentiable_export: backendsOf("differentiable_export"),
    },
    materializations,
    trainedArtifactAbi: abiOf(slot, parameter),
    threadSafe,
    check(given, connected) {
      const values = given as AnyContext["params"], chosen = values[parameter], reveals = modes[chosen]?.reveals;
      return [
        ...(chosen === LEARNED_ARTIFACT ? digestProblems(values, learned.digestCode) : []),
        ...(reveals === undefined || connected.has(reveals) ? [] : [{
          code: "input_missing" as const,
          message: `Cannot use ${parameter} ${chosen} without the input ${reveals}`,
          place: [parameter],
          hint: `Connect ${reveals}, or choose another ${parameter}`,
        }]),
        ...check?.(values, connected) ?? [],
      ];
    },
    async run(context) {
      const chosen = String(context.params[parameter]), reference = modes[chosen];
      const shown = Object.entries(context.inputs)
        .filter(([name]) => name === reference?.reveals || !secret.includes(name));
      const own: AnyContext = Object.create(context, {
        inputs: { value: Object.fromEntries(shown) },
        mode: { value: chosen },
        label: { value: reference?.label ?? chosen },
      });
      const problem = read(own);
      if (chosen === LEARNED_ARTIFACT) {
        const rows = typeof learned.rows === "number" ? learned.rows : learned.rows(own);
        const call = Object.assign(
          (feeds: Record<string, NdArray>) => context.learned.run(feeds, { rows }),
          { takes: (name: string) => context.learned.takes(name) },
        );
        return result(await learned.run(problem, call as ArtifactCall<Shapes, Shapes>, own), problem, own);
      }
      if (reference?.run !== undefined) return result(await reference.run(problem, own), problem, own);
      throw new SvcError(
        "operation_failed",
        `Cannot run ${slot.id} with ${parameter} ${chosen}: it is not implemented`,
      );
    },
  };
}

/**
 * The parameters of the package: last, unless a component places them among its own. Other modes accept them without effect.
 *
 * @param selector parameter that chooses the mode
 */
export function artifactParameters(entrypoint: string, selector = "mode") {
  const used = { "x-svc-ui": { used_when: { [selector]: LEARNED_ARTIFACT } } };
  return {
    artifact_manifest_path: z.string().default("").meta(used)
      .describe("manifest or folder of the package in the project; empty for the store of imported packages"),
    artifact_package_sha256: z.string().default("").meta(used)
      .describe("SHA-256 of the package that learned_artifact runs"),
    artifact_entrypoint: z.string().default(entrypoint).meta(used).describe("entry point of that package"),
  };
}

function materializationsOf({ modes, learned, exports }: AnySlot, parameter: string): Materialization[] {
  const { implementation = "portable_trained_artifact_runtime" } = learned;
  const executing: AnySlot["modes"] = { ...modes, [LEARNED_ARTIFACT]: { implementation, backend: "onnxruntime" } };
  const placeholder = Object.keys(modes).find((name) => modes[name].implementation === undefined);
  return [
    ...Object.entries(executing).flatMap(([name, mode]): Materialization[] => {
      const { implementation, backend = "numpy", runners = ["benchmark_run", "dataset_capture"], planned } = mode;
      const status: Partial<Materialization> = planned === undefined ? {} : { status: "planned", notes: planned };
      const row = { backend, implementation, parameter_bindings: { [parameter]: name }, ...status };
      return implementation === undefined ? [] : runners.map((runner) => ({ runner, ...row }));
    }),
    ...Object.entries(exports).map(([backend, implementation]): Materialization => ({
      runner: "differentiable_export",
      backend,
      implementation,
      parameter_bindings: placeholder === undefined ? {} : { [parameter]: placeholder },
    })),
  ];
}

/** The field `trained_artifact_abi` of a contract. */
function abiOf({ inputs = {}, learned }: AnySlot, parameter: string): OperationAbi {
  const { component: { id, role, entrypoint }, requires = Object.keys(inputs), binding, abi } = learned;
  const meanings = learned.meaning as Readonly<Record<string, string>> | undefined;
  const optional: readonly string[] = learned.optional ?? [];
  const tensors = (shapes: Shapes): OperationAbi["inputs"] =>
    Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => {
        const meaning = meanings?.[name];
        return [name, {
          dtype: "float32",
          shape: [...shape],
          ...(meaning === undefined ? {} : { meaning }),
          ...(optional.includes(name) ? { optional: true } : {}),
        }];
      }),
    );
  return {
    component_id: id,
    component_role: role,
    entrypoint_id: entrypoint,
    inputs: tensors(learned.inputs),
    outputs: tensors(learned.outputs),
    required_operation_inputs: [...requires],
    binding_params: {
      [parameter]: LEARNED_ARTIFACT,
      ...binding,
      artifact_manifest_path: "trained_artifact.yaml",
      artifact_entrypoint: entrypoint,
    },
    ...abi,
  };
}

/** A trained artifact is always pinned by its digest. For a package named without a digest, the look-up reports it. */
function digestProblems(
  { artifact_manifest_path: path, artifact_package_sha256: sha256 }: AnyContext["params"],
  code?: Code,
): ParameterProblem[] {
  if (sha256 === "" ? path.trim() !== "" : SHA256.test(sha256)) return [];
  return [{
    code,
    message: sha256 === ""
      ? "Cannot run a trained artifact without artifact_package_sha256"
      : `Cannot read ${JSON.stringify(sha256)} as a SHA-256`,
    place: ["artifact_package_sha256"],
    hint: "Set the SHA-256 of the package, 64 lower-case hexadecimal digits; svc artifact list prints it",
  }];
}
