/**
 * Semantic states over a binary symmetric channel, against counting: a state of n bits survives bit errors of probability p
 * with probability (1 - p)^n; with checksums the whole payload survives, or none of it.
 */
import assert from "node:assert/strict";
import semanticStatePayload from "../../../ops/foundation/semantic_state_payload.ts";
import packets from "../../../ops/channel/packets.ts";
import { type SemanticState, statesArtifact, statesOf } from "../../../ops/_semantic_state.ts";
import { bitsArtifact, bitsOf } from "../../../lib/artifact/values.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { runOperation } from "../harness.ts";

const [encode, decode] = semanticStatePayload;

const [packetize, , check] = packets;

const STATES = Array.from({ length: 400 }, (_, i): SemanticState => ({
  id: `s${i}`,
  concepts: ["heavy", "rain", "reach", "lisbon", `word${i}`],
  entities: ["Lisbon", "45 kilometres per hour"],
  facts: [{ subject: "heavy rain", predicate: "will reach", object: "Lisbon", origin: "source" }],
}));

function flipped(input: InputArtifact, probability: number, seed: number) {
  const errors = Generator.seeded(seed).random(bitsOf(input).length);
  const bits = bitsOf(input).map((bit, i) => bit ^ Number(errors[i] < probability));
  return { kind: "channel.payload_bits.numpy", ...bitsArtifact(bits, input.metadata, "payload.bits") };
}

const sent = async () =>
  (await runOperation(encode, { inputs: { state: statesArtifact(STATES, "text") } })).outputs.bits;

async function received(bits: Parameters<typeof runOperation>[1]) {
  const { outputs } = await runOperation(decode, bits!);
  return statesOf(outputs.state);
}

const unharmed = (states: readonly SemanticState[]) =>
  states.filter((state, i) => canonicalJson({ ...state } as never) === canonicalJson({ ...STATES[i] } as never)).length;

Deno.test("without checksums each state survives as its own bits do", async () => {
  const bits = await sent(), probability = 3e-4;
  const count = unharmed(await received({ inputs: { bits: flipped(bits, probability, 5) } }));
  // Ids come from the trusted layout: errors in their letters do not show.
  const spans = bits.metadata.state_spans as [number, number][];
  const survival = spans.map(([, bytes], i) => (1 - probability) ** (8 * (bytes - STATES[i].id.length)));
  const expected = survival.reduce((sum, p) => sum + p, 0);
  const deviation = Math.sqrt(survival.reduce((sum, p) => sum + p * (1 - p), 0));
  assert.ok(expected > 200 && expected < 300);
  assert.ok(Math.abs(count - expected) < 4 * deviation, `${count} of ${STATES.length}, expected ${expected}`);
});

Deno.test("with checksums one lost packet costs all states, and none is read wrongly", async () => {
  const { outputs: { bits } } = await runOperation(packetize, {
    inputs: { bits: await sent() },
    params: { packet_payload_bits: 4096 },
  });
  const kept = new Set<number>();
  for (let seed = 0; seed < 6; seed++) {
    const probability = [0, 2e-7, 1e-6, 1e-5, 1e-4, 1e-3][seed];
    const { outputs } = await runOperation(check, { inputs: { bits: flipped(bits, probability, seed) } });
    const states = await received({ inputs: { bits: outputs.bits } });
    assert.ok([0, STATES.length].includes(unharmed(states)));
    assert.ok(unharmed(states) > 0 || states.every(({ concepts }) => concepts.length === 0));
    kept.add(unharmed(states));
  }
  assert.equal(kept.size, 2);
});
