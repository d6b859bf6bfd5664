"""Prints texts as JSON Lines, and writes their bits: ../text_cross_entropy.csv by the formula of lib/numeric/coding/text_model.ts,
../text_corpus_entropy.csv by the same formula with one split as the corpus, and ../text_huffman.csv by Huffman's construction.

Run: python3 make_text_set.py > text_set.jsonl; svc data make-manifest text_set.jsonl --id text_set --out text_set.json --force
Each text takes the bytes of its information content, rounded up.
"""
import heapq
import json
import math
import pathlib
import random
import re

here = pathlib.Path(__file__).parent
corpus = json.loads((here / "../../../ops/codec/_english_corpus.json").read_text())["paragraphs"]
draw = random.Random(44)
words = sorted({word for paragraph in corpus for word in re.findall("[a-z]+", paragraph)})
texts = [("letters", "".join(draw.choice("abcdefghijklmnopqrstuvwxyz ") for _ in range(2000))) for _ in range(2)]
texts += [("words", " ".join(draw.choice(words) for _ in range(400))) for _ in range(2)]
texts += [("bytes", "".join(chr(draw.randrange(0x20, 0x7F)) for _ in range(2000))) for _ in range(2)]
rows = [json.dumps({"id": f"{split}_{k}", "split": split, "text": text}) for k, (split, text) in enumerate(texts)]
print("\n".join(rows))

END, SYMBOLS = 256, 257


def context(data, at, order):
    return tuple(data[at - back] if at >= back else 0 for back in range(1, order + 1))


def counted(sentences, most):
    counts = {}
    for sentence in sentences:
        data = sentence.encode()
        for at in range(len(data) + 1):
            for order in range(most + 1):
                seen = counts.setdefault(context(data, at, order), {})
                symbol = data[at] if at < len(data) else END
                seen[symbol] = seen.get(symbol, 0) + 1
    return counts


english = [sentence for paragraph in corpus for sentence in re.split(r"(?<=[.!?]) ", paragraph)]
of_split = {split: [text for name, text in texts if name == split] for split in ("letters", "words", "bytes")}


def information(text, order, counts):
    data, bits = text.encode(), 0
    for at in range(len(data) + 1):
        p = [1 / SYMBOLS] * SYMBOLS
        for k in range(order + 1):
            seen = counts.get(context(data, at, k))
            if seen is None:
                break
            total = sum(seen.values()) + len(seen)
            p = [(seen.get(symbol, 0) + len(seen) * p[symbol]) / total for symbol in range(SYMBOLS)]
        # Whole counts of at least 1 out of 2^16; the remainder goes to the most probable symbol.
        parts = [1 + math.floor(value * (2**16 - SYMBOLS)) for value in p]
        parts[p.index(max(p))] += 2**16 - sum(parts)
        bits -= math.log2(parts[data[at] if at < len(data) else END] / 2**16)
    return bits


def huffman_bits(corpus, coded):
    """Bits of texts in whole bytes. Of equal weights the tree that was there first is joined first; each symbol counts once more."""
    weights = [1] * SYMBOLS
    for text in corpus:
        for symbol in [*text.encode(), END]:
            weights[symbol] += 1
    heap, lengths = [(weight, symbol, [symbol]) for symbol, weight in enumerate(weights)], [0] * SYMBOLS
    heapq.heapify(heap)
    for order in range(SYMBOLS, 2 * SYMBOLS - 1):
        (a, _, left), (b, _, right) = heapq.heappop(heap), heapq.heappop(heap)
        for symbol in left + right:
            lengths[symbol] += 1
        heapq.heappush(heap, (a + b, order, left + right))
    return sum(8 * math.ceil(sum(lengths[symbol] for symbol in [*text.encode(), END]) / 8) for text in coded)


def whole(split, order, counts):
    return sum(8 * math.ceil(information(text, order, counts) / 8) for text in of_split[split])


def write(name, head, points):
    (here / f"../{name}.csv").write_text("\n".join([f"{head},metric,expected", *points]) + "\n")


counts = counted(english, 3)
write("text_cross_entropy", "data.split,sender.order",
      [f"{split},{order},codec.bit_count,{whole(split, order, counts)}" for split in of_split for order in range(4)])
points = []
for known in ("letters", "words"):
    counts = counted(of_split[known], 6)
    points += [f"{known},{split},{order},codec.bit_count,{whole(split, order, counts)}"
               for split in ("letters", "words") for order in (2, 4, 6)]
write("text_corpus_entropy", "corpus.split,data.split,sender.order", points)
write("text_huffman", "corpus.split,data.split",
      [f"{known},{split},codec.bit_count,{huffman_bits(of_split[known], of_split[split])}" for known in of_split for split in of_split])
