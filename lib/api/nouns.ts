/** All calls by noun and verb, for what is derived from every one of them. */
import type { AnyCall } from "./call.ts";
import { adapters } from "./calls/adapters.ts";
import { artifacts } from "./calls/artifacts.ts";
import { benchmarks } from "./calls/benchmarks.ts";
import { data } from "./calls/data.ts";
import { models } from "./calls/models.ts";
import { recipes } from "./calls/recipes.ts";
import { research } from "./calls/research.ts";
import { runs } from "./calls/runs.ts";
import { system } from "./calls/system.ts";
import { templates } from "./calls/templates.ts";
import { training } from "./calls/training.ts";
import { validation } from "./calls/validation.ts";

export const NOUNS: Readonly<Record<string, Readonly<Record<string, AnyCall>>>> = {
  adapters,
  artifacts,
  benchmarks,
  data,
  models,
  recipes,
  research,
  runs,
  system,
  templates,
  training,
  validation,
};
