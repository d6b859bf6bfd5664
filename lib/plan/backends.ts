/**
 * Backend names: what they stand for, how people spell them, and whether this program can execute them.
 *
 * `python`, `numpy` and `python_numpy` all name the portable implementation and are always there; a name never falls
 * back to another.
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

/** What every step on `cpp` asks of the machine. */
export const NATIVE_EXTENSION = { kind: "native", id: "cpp_native" } as const satisfies Requirement;

/**
 * Why a backend cannot execute under a runner, or null when it can.
 *
 * @param asked whether the author named it, in place of leaving the choice to the declared order
 */
export function backendMissing(backend: string, runner: Runner, asked: boolean): string | null {
  switch (backend) {
    case "cpp":
      return asked ? null : "the native extension runs only where it is asked for";
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
