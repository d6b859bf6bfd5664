/**
 * Backend names: what they stand for, how people spell them, and whether this program can execute them.
 *
 * `python`, `numpy` and `python_numpy` all name the portable implementation and are always there; a name never falls
 * back to another.
 */
import type { Runner } from "../contract/operation.ts";

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

/** Values of a selector that leave the choice to the declared order. */
export const AUTOMATIC: readonly string[] = ["auto", "", "automatic", "default"];

/** The name without its aliases; the portable names become the one that is declared. */
export function backendNamed(name: string, declared: Iterable<string> = []): string {
  const canonical = ALIASES[name.toLowerCase()] ?? name;
  if (!PORTABLE.includes(canonical)) return canonical;
  const names = new Set(declared);
  if (names.has(canonical)) return canonical;
  return PORTABLE.find((portable) => names.has(portable)) ?? canonical;
}

export const NATIVE_MISSING = "the native extension is not built";

/** Why a backend cannot execute under a runner, or null when it can. */
export function backendMissing(backend: string, runner: Runner): string | null {
  switch (backend) {
    case "cpp":
      return NATIVE_MISSING;
    case "torch":
    case "tensorflow":
      return runner === "differentiable_export"
        ? null
        : `${backend} is a target of exported training code, and nothing here executes it`;
    case "openvino":
    case "blackbox":
    case "none":
      return `the name ${backend} is reserved, and no runtime stands behind it`;
    default:
      return null;
  }
}
