/** Materialisations of backends, for operations of several groups. */
import type { Differentiability, JsonObject, Materialization, OperationDefinition } from "./api.ts";

const differentiability = (exportable: boolean) =>
(
  framework: Differentiability["framework"],
  gradient: Differentiability["gradient"],
  reason: string,
): Differentiability => ({ framework, gradient, trainable_params: false, exportable, reason });
/** Derivatives of an operation without trainable parameters, which training projects contain or leave out. */
export const exportable = differentiability(true), notExported = differentiability(false);

const NATIVE_NOTE = "Needs the native extension: deno task build:native";

/** One implementation of a backend under both executing runners. */
export function executed(
  backend: string,
  implementation: string,
  bindings: JsonObject = {},
  more: Pick<Materialization, "status" | "notes"> = {},
): Materialization[] {
  return (["benchmark_run", "dataset_capture"] as const).map((runner) => ({
    runner,
    backend,
    implementation,
    parameter_bindings: bindings,
    ...more,
  }));
}

/** The entry of the native extension; it needs the parameter, the built library and the permission. */
export function native(implementation: string, bindings: JsonObject = {}): Materialization[] {
  return executed("cpp", implementation, bindings, { notes: NATIVE_NOTE });
}

/** The entry of exported training code; `twin` of the operation says whether it is implemented. */
export function exported(backend: string, implementation: string, bindings: JsonObject = {}): Materialization {
  return { runner: "differentiable_export", backend, implementation, parameter_bindings: bindings };
}

/** Declarations of an operation in NumPy with a twin in PyTorch, which agree to 1e-6 + 1e-5 relative. */
export function numpyWithTwin(
  gradient: Differentiability["gradient"],
  reason: string,
): Pick<OperationDefinition, "differentiability" | "equivalence" | "formats" | "materializations" | "twin"> {
  return {
    differentiability: exportable("torch", gradient, reason),
    equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
    formats: { artifact: "npz", tensor: "torch.Tensor" },
    materializations: [...executed("numpy", "default"), exported("torch", "default")],
    twin: true,
  };
}
