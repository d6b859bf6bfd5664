/** Calls an adapter's functions as its sandbox would, without one: models run in the ordinary sessions. */
import { readYaml } from "../../lib/recipe/yaml_reader.ts";
import { isObject } from "../../lib/contract/value.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { openOnnxSession } from "../../lib/onnx/session.ts";
import type { ArrayValue, Context } from "../../adapters/text_classifier/svc_types.ts";
import "../support/networks.ts";

/** A context over the models that the manifest of an adapter lists. */
export function contextOf(adapter: string, seed = 0): Context {
  const folder = new URL(`../../adapters/${adapter}/`, import.meta.url);
  const { value } = readYaml(Deno.readTextFileSync(new URL("svc_adapter.yaml", folder)), "svc_adapter.yaml");
  const models = isObject(value) ? value.models as { id: string; path: string; sha256: string }[] : [];
  return {
    signal: new AbortController().signal,
    models: {},
    seed,
    report_progress() {},
    async infer(model, feeds) {
      const { path, sha256 } = models.find(({ id }) => id === model)!;
      const session = await openOnnxSession(await Deno.readFile(new URL(path, folder)), { sha256 });
      try {
        const given = Object.entries(feeds).map((
          [name, { dtype, data, shape }],
        ) => [name, ndarray(dtype, data, shape)]);
        return await session.run(Object.fromEntries(given)) as Record<string, ArrayValue>;
      } finally {
        await session.release();
      }
    },
  };
}
