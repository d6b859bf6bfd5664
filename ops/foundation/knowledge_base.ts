/**
 * A versioned base of facts that sender and receiver both know before transmission.
 *
 * Facts are triples in a normal form: white space trimmed and collapsed, no repeated triple. An object may have
 * `qualifiers`, a list such as `["before noon"]`. The version of a base with
 * facts from the recipe ends in the digest of these facts.
 */
import { KNOWLEDGE_BASE } from "../../lib/contract/kinds.ts";
import {
  canonicalJson,
  defineOperation,
  type JsonObject,
  messageOf,
  type ParameterProblem,
  parseJson,
  sha256Json,
  usedWhen,
  type Value,
  z,
} from "../api.ts";
import { distinctFacts, type Fact, knowledgeArtifact, type KnowledgeBase, readFact } from "../_semantic_state.ts";
import { SEMANTIC_TEXT_SMOKE_KB, SEMANTIC_TEXT_SMOKE_KB_VERSION } from "../_semantic_text_smoke_kb.ts";

const FORM = 'Write a list such as [{"subject": "rain", "predicate": "falls from", "object": "clouds"}]';

export default defineOperation({
  id: "foundation.knowledge_base",
  name: "Knowledge base source",
  description: "Emits a base of fact triples: built in, empty, or written in the recipe",
  outputs: { kb: KNOWLEDGE_BASE },
  params: z.strictObject({
    facts_json: z.string().default("").describe(
      "JSON list of facts, {subject, predicate, object} or [subject, predicate, object]: the content of inline_json, " +
        "appended to semantic_text_smoke_kb",
    ).meta(usedWhen({ kb_id: ["semantic_text_smoke_kb", "inline_json"] })),
    kb_id: z.enum(["semantic_text_smoke_kb", "empty", "inline_json"]).default("semantic_text_smoke_kb").describe(
      "built-in knowledge base, an empty one, or the facts of inline_json",
    ),
    max_builtin_concepts: z.int().nonnegative().default(12).describe("number of built-in concepts, with their facts")
      .meta(usedWhen({ kb_id: "semantic_text_smoke_kb" })),
  }),
  outputMetadataGuarantees: { kb: { keys: ["knowledge_base"] } },
  check({ kb_id, facts_json }) {
    const place = ["facts_json"];
    if (facts_json.trim() === "") {
      if (kb_id !== "inline_json") return [];
      return [{ message: "Cannot use a knowledge base without facts", place, hint: `${FORM}, or set kb_id to empty` }];
    }
    if (kb_id === "empty") {
      const hint = "Set kb_id to inline_json, or remove facts_json";
      return [{ message: "Cannot add facts to the empty knowledge base", place, hint }];
    }
    const { problem } = parseFacts(facts_json);
    return problem === undefined ? [] : [{ code: "params_invalid", message: problem, place, hint: FORM }];
  },
  run({ params: { kb_id, facts_json, max_builtin_concepts } }) {
    const known = kb_id === "semantic_text_smoke_kb" ? SEMANTIC_TEXT_SMOKE_KB.slice(0, max_builtin_concepts) : [];
    const { facts: own } = parseFacts(facts_json);
    const digest = own.length > 0 ? sha256Json(own.map((fact): JsonObject => ({ ...fact }))).slice(0, 12) : undefined;
    const kb: KnowledgeBase = {
      id: kb_id,
      version: [kb_id === "semantic_text_smoke_kb" ? SEMANTIC_TEXT_SMOKE_KB_VERSION : `${kb_id}-v1`, digest]
        .filter((part) => part !== undefined).join("+"),
      concepts: [...new Set([...known.map(([concept]) => concept), ...own.map(({ subject }) => subject)])],
      facts: distinctFacts([...known.flatMap(([, facts]) => facts), ...own]),
    };
    return { outputs: { kb: knowledgeArtifact(kb) } };
  },
});

/** The facts of a JSON list in their normal form, or the first problem. */
function parseFacts(text: string): { facts: Fact[]; problem?: ParameterProblem["message"] } {
  if (text.trim() === "") return { facts: [] };
  let list: Value;
  try {
    list = parseJson(text);
  } catch (error) {
    return { facts: [], problem: `Cannot read the facts: ${messageOf(error)}` };
  }
  if (!Array.isArray(list)) return { facts: [], problem: "Cannot read the facts: they are not a list" };
  const facts: Fact[] = [];
  for (const [index, item] of list.entries()) {
    const triple = Array.isArray(item) && item.length === 3
      ? { subject: item[0], predicate: item[1], object: item[2] }
      : item;
    const fact = normalised(readFact(triple));
    if (fact === undefined) {
      return { facts: [], problem: `Cannot read fact ${index + 1} as a triple: ${canonicalJson(item).slice(0, 80)}` };
    }
    facts.push(fact);
  }
  return { facts: distinctFacts(facts) };
}

/** Trims and collapses white space; undefined for a triple with an empty part. */
function normalised(fact: Fact | undefined): Fact | undefined {
  if (fact === undefined) return undefined;
  const [subject, predicate, object, ...qualifiers] = [
    fact.subject,
    fact.predicate,
    fact.object,
    ...fact.qualifiers ?? [],
  ].map((part) => part.normalize("NFC").replace(/\s+/gu, " ").trim());
  if ([subject, predicate, object, ...qualifiers].includes("")) return undefined;
  return { subject, predicate, object, ...(qualifiers.length > 0 ? { qualifiers } : {}) };
}
