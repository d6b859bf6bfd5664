/** Calls of a session that is opened for them alone. */
import {
  type BenchmarkOptions,
  type MatrixRunOptions,
  open,
  type RecipeInput,
  type SessionOptions,
} from "../../mod.ts";
import { refusal } from "../../lib/contract/error.ts";
import type { PackOptions, PackSource } from "../../lib/session/benchmarks.ts";

export async function runMatrix(recipe: RecipeInput, options: SessionOptions & MatrixRunOptions = {}) {
  await using svc = await open(options);
  return await svc.recipes.runMatrix(recipe, options);
}

export async function expandMatrix(recipe: RecipeInput, options: SessionOptions = {}) {
  await using svc = await open(options);
  return await svc.recipes.expand(recipe);
}

export async function runBenchmark(pack: string, options: SessionOptions & BenchmarkOptions = {}) {
  await using svc = await open(options);
  return await svc.benchmarks.run(pack, options);
}

export async function loadBenchmarkPack(pack: PackSource, options: SessionOptions & PackOptions = {}) {
  await using svc = await open(options);
  const loaded = await svc.benchmarks.load(pack, options);
  if (loaded.pack === null) {
    throw refusal("pack_invalid", `Cannot use the pack ${[pack].flat().join(", ")}`, loaded.diagnostics);
  }
  return loaded;
}

export async function lint(recipe: RecipeInput, options: SessionOptions = {}) {
  await using svc = await open(options);
  return await svc.recipes.lint(recipe);
}
