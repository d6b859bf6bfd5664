/**
 * The plan cache, one per process, by the inputs of a plan: 128 entries with least-recently-used eviction. Concurrent
 * requests for one key share one build. A failed plan is not kept.
 */
import type { Diagnostic } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { ExecutionPlan, PlanCacheEvidence, StepRequirement } from "./types.ts";

export const KEY_SCHEMA_VERSION = 2;
const MAX_ENTRIES = 128;
/** Number of recipe names whose last key is kept to explain a miss. */
const MAX_NAMES = 1024;

/** Inputs of a plan; `sha256` covers the other fields. */
export interface PlanKey extends JsonObject {
  sha256: string;
  effective_recipe_sha256: string;
  operation_registry_sha256: string;
  planner_validation_sha256: string;
  runner: string;
  backend: string | null;
  implementation: string | null;
  enforce_execution_profile: boolean;
}

/** A plan with its recipe and its requirements. */
export interface PlanDraft {
  plan: ExecutionPlan;
  recipe: RecipeDocument;
  /** Whether planning changed the recipe. */
  changed: boolean;
  requirements: StepRequirement[];
  /** Warnings and infos. */
  diagnostics: Diagnostic[];
}

/** Outcome and reason of a look-up. */
export interface PlanLookup<Refused> {
  result: PlanDraft | Refused;
  outcome: "hit" | "miss" | "bypass";
  reason: string;
}

export interface PlanCacheStatistics extends JsonObject {
  hits: number;
  misses: number;
  bypasses: number;
  evictions: number;
  entry_count: number;
  inflight_count: number;
  max_entries: number;
}

export function planKey(members: Omit<PlanKey, "sha256">): PlanKey {
  return { sha256: sha256Json({ schema_version: KEY_SCHEMA_VERSION, ...members }) as string, ...members } as PlanKey;
}

export class PlanCache {
  readonly maxEntries: number;
  /** Most recently used last. */
  readonly #entries = new Map<string, PlanDraft>();
  readonly #inflight = new Map<string, Promise<PlanDraft | unknown>>();
  readonly #lastKeys = new Map<string, PlanKey>();
  readonly #seen = new WeakMap<Registry, number>();
  #generation = 0;
  #hits = 0;
  #misses = 0;
  #bypasses = 0;
  #evictions = 0;

  constructor(maxEntries: number = MAX_ENTRIES) {
    this.maxEntries = maxEntries;
  }

  /** Removes every plan; plans under construction are returned but not kept. */
  invalidate(): void {
    this.#generation++;
    this.#entries.clear();
    this.#inflight.clear();
  }

  /** Removes all plans after a registration since the last call with this registry. */
  observe(registry: Registry): void {
    const known = this.#seen.get(registry);
    if (known !== undefined && known !== registry.generation) this.invalidate();
    this.#seen.set(registry, registry.generation);
  }

  /**
   * Finds the plan of a key, or builds it.
   * @param name recipe name, which explains a miss
   * @param build builds the plan or refuses it
   */
  async obtain<Refused extends { status: "refused" }>(
    key: PlanKey,
    name: string,
    build: () => Promise<PlanDraft | Refused> | PlanDraft | Refused,
  ): Promise<PlanLookup<Refused>> {
    const known = this.#entries.get(key.sha256);
    if (known) {
      this.#entries.delete(key.sha256);
      this.#entries.set(key.sha256, known);
      this.#hits++;
      this.#remember(name, key);
      return { result: known, outcome: "hit", reason: "live" };
    }
    const running = this.#inflight.get(key.sha256) as Promise<PlanDraft | Refused> | undefined;
    if (running) {
      const result = await running;
      if (isDraft(result)) {
        this.#hits++;
        return { result, outcome: "hit", reason: "joined" };
      }
      this.#misses++;
      return { result, outcome: "miss", reason: this.#missReason(name, key) };
    }
    this.#misses++;
    const reason = this.#missReason(name, key);
    const generation = this.#generation;
    // Started in a microtask, so that a synchronous throw also rejects and is removed from the list.
    const building = Promise.resolve().then(build);
    this.#inflight.set(key.sha256, building);
    try {
      const result = await building;
      if (isDraft(result) && generation === this.#generation) this.#keep(key, name, result);
      return { result, outcome: "miss", reason };
    } finally {
      if (this.#inflight.get(key.sha256) === building) this.#inflight.delete(key.sha256);
    }
  }

  /** Builds without reading or storing. */
  async bypass<Refused>(build: () => Promise<PlanDraft | Refused> | PlanDraft | Refused): Promise<PlanLookup<Refused>> {
    this.#bypasses++;
    return { result: await build(), outcome: "bypass", reason: "disabled" };
  }

  /** The record `execution_plan.cache` of summaries and manifests. */
  evidence(
    lookup: { result: PlanDraft; outcome: "hit" | "miss" | "bypass"; reason: string },
    key: PlanKey,
    authoredSha256: string | null,
  ): PlanCacheEvidence {
    return {
      schema_version: 1,
      enabled: lookup.outcome !== "bypass",
      outcome: lookup.outcome,
      reason: lookup.reason,
      key_sha256: key.sha256,
      key_schema_version: KEY_SCHEMA_VERSION,
      plan_sha256: lookup.result.plan.sha256,
      effective_recipe_sha256: lookup.result.plan.recipe.sha256,
      authored_recipe_sha256: authoredSha256,
      operation_registry_sha256: key.operation_registry_sha256,
      planner_validation_sha256: key.planner_validation_sha256,
      entry_count: this.#entries.size,
      max_entries: this.maxEntries,
    };
  }

  statistics(): PlanCacheStatistics {
    return {
      hits: this.#hits,
      misses: this.#misses,
      bypasses: this.#bypasses,
      evictions: this.#evictions,
      entry_count: this.#entries.size,
      inflight_count: this.#inflight.size,
      max_entries: this.maxEntries,
    };
  }

  #keep(key: PlanKey, name: string, draft: PlanDraft): void {
    this.#entries.set(key.sha256, draft);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.maxEntries) break;
      this.#entries.delete(oldest);
      this.#evictions++;
    }
    this.#remember(name, key);
  }

  #remember(name: string, key: PlanKey): void {
    this.#lastKeys.delete(name);
    this.#lastKeys.set(name, key);
    for (const oldest of this.#lastKeys.keys()) {
      if (this.#lastKeys.size <= MAX_NAMES) break;
      this.#lastKeys.delete(oldest);
    }
  }

  /** The reason of a miss: the first field that differs from the last plan of the recipe name. */
  #missReason(name: string, key: PlanKey): string {
    const last = this.#lastKeys.get(name);
    if (last === undefined) return "first_plan";
    return Object.keys(key).find((member) => member !== "sha256" && key[member] !== last[member]) ?? "evicted";
  }
}

function isDraft(result: PlanDraft | { status: "refused" }): result is PlanDraft {
  return "plan" in result;
}

export const processPlanCache: PlanCache = new PlanCache();
