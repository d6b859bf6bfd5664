"""Prints texts as JSON Lines, and writes ../text_cross_entropy.csv: their bits by the formula of lib/numeric/coding/text_model.ts.

Run: python3 make_text_set.py > text_set.jsonl; svc data make-manifest text_set.jsonl --id text_set --out text_set.json --force
Each text takes the bytes of its information content, rounded up.
"""
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


counts = {}
for paragraph in corpus:
    for sentence in re.split(r"(?<=[.!?]) ", paragraph):
        data = sentence.encode()
        for at in range(len(data) + 1):
            for order in range(4):
                seen = counts.setdefault(context(data, at, order), {})
                symbol = data[at] if at < len(data) else END
                seen[symbol] = seen.get(symbol, 0) + 1


def information(text, order):
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


points = [
    f"{split},{order},codec.bit_count,{sum(8 * math.ceil(information(text, order) / 8) for of, text in texts if of == split)}"
    for split in ("letters", "words", "bytes")
    for order in range(4)
]
(here / "../text_cross_entropy.csv").write_text("\n".join(["data.split,sender.order,metric,expected", *points]) + "\n")
