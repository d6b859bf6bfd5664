/** Inputs of operations that name none: made from the kinds of their ports. */
import { bitsArtifact, imagesArtifact, symbolsArtifact, textsArtifact } from "../artifact/values.ts";
import { SvcError } from "../contract/error.ts";
import * as kinds from "../contract/kinds.ts";
import type { Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { ndarray } from "../numeric/array/ndarray.ts";
import { Generator } from "../numeric/random/random.ts";
import type { ConformanceCase } from "./case.ts";
import type { GivenInput } from "./run_operation.ts";

/** Seeded inputs of two sizes, of the first kind of each port. */
export function casesOf({ definition: { inputs = {} } }: Operation): ConformanceCase[] {
  return [1, 2].map((items) => ({
    name: `${items} item${items === 1 ? "" : "s"}`,
    inputs: () =>
      Object.fromEntries(
        Object.entries(inputs).map(([port, [kind]], index) => [port, sample(kind, items, BigInt(index + 1))]),
      ),
  }));
}

/** A seeded artifact of a kind. @throws SvcError `input_missing` for a kind that this program makes no inputs of */
function sample(kind: string, items: number, seed: bigint): GivenInput {
  const random = Generator.seeded(seed), count = 48 * items;
  const normal = (length: number) => Float32Array.from(random.standardNormal(length));
  const whole = (high: number, length: number) => random.integers(0, high, length, "uint8");
  const counts = { source_item_counts: Array<number>(items).fill(48) };
  const ids = Array.from({ length: items + 1 }, (_, index) => `item_${index}`);
  const rows = (more: (id: string) => JsonObject): GivenInput => ({
    kind,
    json: { kind: kinds.jsonKindName(kind), schema_version: 1, items: ids.map((id) => ({ id, ...more(id) })) },
  });
  switch (kind) {
    case kinds.PAYLOAD_BITS:
      return { kind, ...bitsArtifact(whole(2, count), counts, "payload.bits") };
    case kinds.BITS:
    case kinds.CODED_BITS:
    case kinds.DEMOD_BITS:
    case kinds.FRAMED_BITS:
      return { kind, ...bitsArtifact(whole(2, count), counts) };
    case kinds.SYMBOLS:
    case kinds.RX_SYMBOLS:
      return { kind, ...symbolsArtifact(normal(2 * count), counts) };
    case kinds.LLR:
      return { kind, array: ndarray("float32", normal(count)), metadata: counts };
    case kinds.IMAGES: {
      const shape = { count: items, height: 8, width: 8, channels: 3 };
      return { kind, ...imagesArtifact({ ...shape, dtype: "uint8", data: whole(256, items * 192) }) };
    }
    case kinds.INDICES: {
      const data = Int32Array.from(whole(16, count));
      return { kind, array: ndarray("int32", data, [items, 48]), metadata: { codebook_size: 16 } };
    }
    case kinds.LATENTS:
      return { kind, array: ndarray("float32", normal(count), [items, 48]), metadata: {} };
    case kinds.TEXTS:
      return { kind, ...textsArtifact(ids.map((id) => ({ id, text: `the text of ${id}` })), { text_ids: ids }) };
    case kinds.LABELS:
    case kinds.PREDICTIONS:
      return rows((id) => ({ label: id === ids[0] ? "a" : "b" }));
  }
  throw new SvcError("input_missing", `Cannot make an input of the kind ${kind}`, {
    hint:
      "Run the operation in a recipe; the suite makes bits, symbols, soft values, images, latents, indices, texts and labels",
  });
}
