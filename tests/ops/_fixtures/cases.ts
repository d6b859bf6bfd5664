/** Conformance cases in YAML, whose inputs, files and models are functions of the module beside it. */
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { readYaml } from "../../../lib/recipe/yaml_reader.ts";

/** Parts of cases by name. */
interface Parts {
  inputs?: Record<string, NonNullable<ConformanceCase["inputs"]>>;
  files?: Record<string, NonNullable<ConformanceCase["files"]>>;
  model?: Record<string, NonNullable<ConformanceCase["model"]>>;
  models?: Record<string, NonNullable<ConformanceCase["models"]>>;
}
type Written = { [Part in keyof Parts]?: string } & Pick<ConformanceCase, "name" | "params" | "stochastic">;
export type Cases = Record<string, readonly ConformanceCase[] | { skip: string }>;

/** Reads the cases of a module: a list of cases, or `skip` with a reason, by operation. */
export function casesOf(module: string, parts: Parts): Cases {
  const url = new URL(module.replace(/\.ts$/, ".yaml"));
  const named = (part: keyof Parts, name: string | undefined) => {
    if (name === undefined) return {};
    const found = parts[part]?.[name];
    if (found === undefined) throw new Error(`${url.pathname} names the ${part} ${name}, which its module lacks`);
    return { [part]: found };
  };
  const document = readYaml(Deno.readTextFileSync(url), url.pathname).value as unknown;
  return Object.fromEntries(
    Object.entries(document as Record<string, Written[] | { skip: string }>).map(([operation, cases]) => [
      operation,
      "skip" in cases ? cases : cases.map(({ inputs, files, model, models, ...rest }) => ({
        ...rest,
        ...named("inputs", inputs),
        ...named("files", files),
        ...named("model", model),
        ...named("models", models),
      })),
    ]),
  );
}
