/** Single code blocks of 5G NR: code words against NumPy, checks, and refusals. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../../lib/contract/hash.ts";
import { type BaseGraph, INFORMATION_COLUMNS } from "../../../../lib/numeric/coding/nr_ldpc/base_graph.ts";
import { codeBlock, type CodeBlockOptions } from "../../../../lib/numeric/coding/nr_ldpc/code_block.ts";
import stored from "../../../data/physical/nr_code_blocks.json" with { type: "json" };

/** The message of make_nr_code_blocks.py. */
const message = (size: number) => Uint8Array.from({ length: size }, (_, i) => (i * i * 13 + i * 7 + 5) % 1009 % 2);

Deno.test("code words are those of an encoder written from TS 38.212 in NumPy, and their checks hold", () => {
  assert.equal(stored.words.length, 12);
  for (
    const { message_bits, coded_bits, num_bits_per_symbol, base_graph, lifting_size, used, sha256 } of stored.words
  ) {
    const name = `${message_bits} ${coded_bits}`, [graph, size] = used;
    const code = codeBlock({
      messageBits: message_bits,
      codedBits: coded_bits,
      bitsPerSymbol: num_bits_per_symbol,
      baseGraph: base_graph === 0 ? undefined : base_graph as BaseGraph,
      liftingSize: lifting_size || undefined,
    });
    const word = code.encode(message(message_bits)), { starts, columns } = code;
    assert.equal(sha256Hex(Uint8Array.from(code.order, (bit) => word[bit])), sha256, name);
    const rows = (starts.length - 1) / size;
    assert.deepEqual(
      [code.length, word.length],
      Array(2).fill((INFORMATION_COLUMNS[graph as BaseGraph] + rows) * size),
    );
    // The core, and a row for each further column with a sent bit.
    const parity = Math.max(...code.order) + 1 - INFORMATION_COLUMNS[graph as BaseGraph] * size;
    assert.equal(rows, Math.max(4, Math.ceil(parity / size)), name);
    for (let i = 0; i + 1 < starts.length; i++) {
      assert.equal(columns.subarray(starts[i], starts[i + 1]).reduce((sum, bit) => sum ^ word[bit], 0), 0, name);
    }
  }
});

Deno.test("a block that its graph does not hold or send is refused", () => {
  const refused: [Partial<CodeBlockOptions>, RegExp][] = [
    [{ messageBits: 101, codedBits: 100 }, /rate above 1/],
    [{ messageBits: 4000, codedBits: 20000 }, /: base_graph 2 holds 3840 bits/],
    [{ messageBits: 8449, codedBits: 9000 }, /: base_graph 1 holds 8448 bits/],
    [{ liftingSize: 8, baseGraph: 2 }, /: lifting_size 8 of base_graph 2 holds 80 bits/],
    [{ liftingSize: 52 }, /: lifting_size 52 of base_graph 2 does not send the first 104 bits/],
    [{ bitsPerSymbol: 8 }, /: num_bits_per_symbol is 8/],
  ];
  for (const [options, message] of refused) {
    const asked = { messageBits: 100, codedBits: 300, bitsPerSymbol: 1, ...options };
    assert.throws(() => codeBlock(asked), { name: "RangeError", message });
  }
});
