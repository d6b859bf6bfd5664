/**
 * Backend names: aliases, meaning, and whether this program can execute them. `python`, `numpy` and `python_numpy` all
 * name the portable implementation, which is always available. A backend never falls back to another.
 */
import type { Requirement, Runner } from "../contract/operation.ts";

const PORTABLE = ["numpy", "python", "python_numpy"];

const ALIASES: Readonly<Record<string, string>> = {
  ort: "onnxruntime",
  onnx: "onnxruntime",
  native: "cpp",
  "c++": "cpp",
  cpp_native: "cpp",
};

export const BACKENDS: readonly string[] = [
  ...PORTABLE,
  "cpp",
  "onnxruntime",
  "phylib",
  "codeclib",
  "torch",
  "tensorflow",
  "openvino",
  "external",
  "blackbox",
  "none",
];

/** Selector values that leave the choice to the declared order. */
export const AUTOMATIC: readonly string[] = ["auto", "", "automatic", "default"];

/** Resolves aliases; a portable name becomes the declared one. */
export function backendNamed(name: string, declared: Iterable<string> = []): string {
  const canonical = ALIASES[name.toLowerCase()] ?? name;
  if (!PORTABLE.includes(canonical)) return canonical;
  const names = new Set(declared);
  if (names.has(canonical)) return canonical;
  return PORTABLE.find((portable) => names.has(portable)) ?? canonical;
}

/** Requirement of every step on `cpp`. */
export const NATIVE_EXTENSION = { kind: "native", id: "cpp_native" } as const satisfies Requirement;

/**
 * The reason why a backend cannot execute under a runner, or null when it can.
 * @param asked whether the author named it instead of leaving the choice to the declared order
 */
export function backendMissing(backend: string, runner: Runner, asked: boolean): string | null {
  switch (backend) {
    case "cpp":
      return asked ? null : "the native extension runs only on request";
    case "torch":
    case "tensorflow":
      return runner === "differentiable_export"
        ? null
        : `${backend} is a target of exported training code and does not run here`;
    case "openvino":
    case "blackbox":
    case "none":
      return `the name ${backend} is reserved and has no runtime`;
    default:
      return null;
  }
}
