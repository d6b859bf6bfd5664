/** Common parameters of operations with a pretrained model, and their requirements. */
import { type ParameterProblem, z } from "../api.ts";

/**
 * @param defaultModel published name
 * @param options.when condition under which a model is used, for `x-svc-used-when`
 * @param options.bundled name of a bundled model of this kind
 */
export function pretrainedParams(
  defaultModel: string,
  { when, bundled }: { when?: Record<string, string>; bundled?: string } = {},
) {
  const meta = when === undefined ? {} : { "x-svc-used-when": when };
  const fetched = "published name of a fetched model, or a local folder of an ONNX export";
  return {
    model_id: z.string().min(1).default(defaultModel).meta(meta)
      .describe(bundled === undefined ? fetched : `${bundled}, the ${fetched}`),
    model_revision: z.string().regex(/^([0-9a-f]{40})?$/).default("").meta(meta)
      .describe("full commit of a fetched model; empty uses the fetched one"),
    device: z.string().min(1).default("cpu").meta(meta).describe("models run on the processor: cpu"),
  };
}

/** Findings about the device. */
export function checkDevice({ device }: { device?: string }): ParameterProblem[] {
  if (device === undefined || device === "cpu") return [];
  return [{
    code: "runtime_unavailable",
    message: `Cannot run a model on ${device}: models run on the processor`,
    place: ["device"],
    hint: "Set device to cpu",
  }];
}
