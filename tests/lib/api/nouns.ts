/** All calls by noun and verb, for what is derived from every one of them. */
import type { AnyCall } from "../../../lib/api/call.ts";
import { adapters } from "../../../lib/api/calls/adapters.ts";
import { artifacts } from "../../../lib/api/calls/artifacts.ts";
import { benchmarks } from "../../../lib/api/calls/benchmarks.ts";
import { data } from "../../../lib/api/calls/data.ts";
import { models } from "../../../lib/api/calls/models.ts";
import { recipes } from "../../../lib/api/calls/recipes.ts";
import { research } from "../../../lib/api/calls/research.ts";
import { runs } from "../../../lib/api/calls/runs.ts";
import { system } from "../../../lib/api/calls/system.ts";
import { templates } from "../../../lib/api/calls/templates.ts";
import { training } from "../../../lib/api/calls/training.ts";
import { validation } from "../../../lib/api/calls/validation.ts";

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
