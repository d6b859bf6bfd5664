/**
 * Seeds: each step has its own stream derived from one master seed, and the origin of every seed is recorded.
 *
 * A derived seed is SHA-256 of the UTF-8 text `<master>|<namespace>|<step id>|<stream>`, the digest as a big-endian
 * integer, modulo 2^31 - 1. It depends on names only, not on the order of steps or on workers.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";

const MASTER_KEYS = ["seed", "experiment_seed", "ui_seed"] as const;
const MASTER_LIMIT = 2n ** 63n;
/** A Mersenne prime, for an even spread of digests. */
const MODULUS = 2147483647n;
/** The stream of an operation's `seed` parameter. */
const DEFAULT_STREAM = "default";

type Integer = number | bigint;

/** The seed of one stream of one step. Exported for tests. */
export function deriveSeed(master: Integer, namespace: string, stepId: string, stream = DEFAULT_STREAM): number {
  const digest = sha256Hex(`${master}|${namespace}|${stepId}|${stream}`);
  return Number(BigInt(`0x${digest}`) % MODULUS);
}

/** The master seed, as text, of a recipe whose name is part of its derived seeds; null without a seed, or with a namespace. */
export function masterOfName(metadata: JsonObject): string | null {
  const { seed_namespace: namespace } = metadata;
  if (typeof namespace === "string" && namespace.trim() !== "") return null;
  const key = MASTER_KEYS.find((candidate) => (metadata[candidate] ?? null) !== null);
  return key === undefined ? null : String(metadata[key]);
}

/** Derives the seeds of one recipe and records their origins. */
export class SeedPolicy {
  readonly #master: Integer | null;
  readonly #masterSource: string | null;
  readonly #namespace: string;
  readonly #namespaceSource: string;
  readonly #steps: JsonObject = {};

  /**
   * @param metadata of the recipe
   * @param name of the recipe, the namespace without `seed_namespace`
   * @param diagnostics receives `seed_invalid` for an invalid master seed or namespace
   */
  constructor(metadata: JsonObject, name: string, diagnostics: Diagnostic[]) {
    const key = MASTER_KEYS.find((candidate) => (metadata[candidate] ?? null) !== null);
    const given = key === undefined ? null : metadata[key];
    if (key !== undefined && !isSeed(given)) {
      diagnostics.push(
        diagnostic("seed_invalid", ["metadata", key], "Cannot use this value as the master seed", {
          hint: "Write an integer from 0 to 9223372036854775807",
        }),
      );
    }
    this.#master = isSeed(given) ? given : null;
    this.#masterSource = this.#master === null ? null : `recipe.metadata.${key}`;

    const namespace = metadata.seed_namespace ?? "";
    if (typeof namespace !== "string") {
      diagnostics.push(
        diagnostic("seed_invalid", ["metadata", "seed_namespace"], "Cannot use this value as the seed namespace", {
          hint: "Give a text",
        }),
      );
    }
    const trimmed = typeof namespace === "string" ? namespace.trim() : "";
    this.#namespace = trimmed === "" ? name : trimmed;
    this.#namespaceSource = trimmed === "" ? "recipe.name" : "metadata.seed_namespace";
  }

  /**
   * The concrete seed of a step: the author's, else one derived from the master seed, else the schema's default.
   * @param authored value of the step's `seed` parameter; null counts as unset
   * @param fallback default of the parameter's schema
   */
  seedOf(stepId: string, authored: Value | undefined, fallback: Value | undefined): Value {
    const [seed, source] = (authored ?? null) !== null
      ? [authored!, "authored"]
      : this.#master !== null
      ? [deriveSeed(this.#master, this.#namespace, stepId), "derived"]
      : [fallback ?? 0, "default"];
    this.#steps[stepId] = { seed, source, stream: DEFAULT_STREAM };
    return seed;
  }

  /** The record for summaries and manifests. */
  record(): JsonObject {
    return {
      schema_version: 1,
      master_seed: this.#master,
      master_seed_source: this.#masterSource,
      seed_namespace: this.#namespace,
      seed_namespace_source: this.#namespaceSource,
      derivation: "sha256-utf8-be-mod-2147483647",
      operation_param_seed_overrides_master: true,
      steps: this.#steps,
    };
  }
}

function isSeed(value: Value | undefined): value is Integer {
  return isInteger(value) && value >= 0 && value < MASTER_LIMIT;
}

/** The schema node of an operation's `seed` parameter, if any. */
export function seedNode(schema: JsonObject): JsonObject | undefined {
  const properties = schema.properties;
  const node = isObject(properties) && Object.hasOwn(properties, "seed") ? properties.seed : undefined;
  return isObject(node) ? node : undefined;
}
