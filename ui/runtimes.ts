/** What executes a backend of a contract. The reference of each operation is TypeScript, whatever its recorded name. */
const RUNTIMES: Readonly<Record<string, string>> = {
  python: "TypeScript",
  numpy: "TypeScript",
  phylib: "TypeScript",
  cpp: "native kernel",
  onnxruntime: "ONNX Runtime",
  torch: "PyTorch",
  external: "adapter",
};

/** The runtimes of backends in words. */
export const runtimesText = (backends: readonly string[] = []): string =>
  [...new Set(backends.map((name) => RUNTIMES[name] ?? name))].join(", ") || "–";
