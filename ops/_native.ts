/** The native extension, for operations planned on `cpp`. It is loaded on first use. */
import { messageOf, SvcError } from "../lib/contract/error.ts";
import type { OutputArtifact } from "../lib/contract/operation.ts";
import type { NativeKernels } from "../lib/numeric/native/kernels.ts";

/**
 * The kernels of the extension.
 * @throws SvcError `materialization_unavailable` with the reason; there is no fallback
 */
export async function nativeKernels(): Promise<NativeKernels> {
  const { nativeExtension } = await import("../lib/numeric/native/extension.ts");
  const { available, reason, hint } = nativeExtension();
  if (!available) throw new SvcError("materialization_unavailable", `Cannot run on cpp: ${reason}`, { hint });
  const { nativeKernels } = await import("../lib/numeric/native/kernels.ts");
  try {
    return nativeKernels();
  } catch (error) {
    throw new SvcError("materialization_unavailable", `Cannot run on cpp: ${messageOf(error)}`, {
      hint: "Run deno task build:native",
      cause: error,
    });
  }
}

/** An output of bits that records its data plane. */
export function madeNatively<Output extends OutputArtifact>(output: Output): Output {
  return { ...output, metadata: { ...output.metadata, data_plane_backend: "cpp_native" } };
}
