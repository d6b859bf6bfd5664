"""Trains a small masked language model on the short reports of adapters/text_classifier/training/corpus.py.

Tokens are lower-case words and punctuation marks, as the tokenizer written here splits them; a word outside the vocabulary is
[UNK]. A convolutional network reads the tokens, so that texts of any length can be filled:

    x = E[ids];  x += conv(relu(norm(x))) with kernel 5 and dilations 1, 2, 4, 1;  logits = W·norm(x) + b

Training masks each word with a probability of 0.15, at least one in a sentence, and replaces another 0.1 of the words with [UNK].
The corpus splits templates: no test sentence shares its template with a training sentence. Candidates are two trainings of
one network that differ in the seed. Rule: greatest share of right words on validation sentences, one masked word in each.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-masked-lm-v1/training/train.py
"""

import base64
import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from onnx import TensorProto
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path[:0] = [str(HERE.parents[1] / "training"), str(HERE.parents[3] / "adapters" / "text_classifier" / "training")]
from corpus import sentences  # noqa: E402
from onnx_graph import HalfGraph, halve  # noqa: E402
from records import digest, tensor, wilson, write_components, write_curve, write_json  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"sentences": 61, "validation": 62, "evaluation": 63}
STEPS, BATCH, LEARNING_RATE, EVERY = 1200, 48, 4e-3, 200
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNKNOWN, START, END, MASK = range(5)
DILATIONS = (1, 2, 4, 1)
CANDIDATES = {"seed_61": {"width": 64, "seed": 61}, "seed_71": {"width": 64, "seed": 71}}


def words_of(text):
    return re.findall(r"\w+|[^\w\s]", text.lower())


class Network(nn.Module):
    """ids [batch, token] -> logits [batch, token, vocabulary]."""

    def __init__(self, vocabulary: int, width: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.convs = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2 * d, dilation=d) for d in DILATIONS)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = self.embedding(ids).transpose(1, 2)
        for conv in self.convs:
            x = x + conv(torch.relu(normal(x)))
        return self.out(normal(x).transpose(1, 2))


def normal(x):
    """Scales each token to a mean square of 1."""
    return x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-6)


def to_onnx(network) -> bytes:
    g = HalfGraph("masked_lm")
    ids = g.input("input_ids", ["batch", "token"], TensorProto.INT64)
    table = g.constant("embedding.weight", network.embedding.weight.detach().numpy())
    x = g.node("Transpose", [g.node("Gather", [table, ids])], perm=[0, 2, 1])

    def scaled(value):
        mean = g.node("ReduceMean", [g.node("Mul", [value, value])], axes=[1], keepdims=1)
        return g.node("Div", [value, g.node("Sqrt", [g.node("Add", [mean, g.constant("eps", 1e-6)])])])

    for i, conv in enumerate(network.convs):
        x = g.node("Add", [x, g.conv(g.node("Relu", [scaled(x)]), conv, f"convs.{i}")])
    g.linear(g.node("Transpose", [scaled(x)], perm=[0, 2, 1]), network.out, "out", "logits")
    g.output("logits", ["batch", "token", network.out.out_features])
    return g.bytes({"task": "fill-mask", "author": "svc"})


def table_of(texts, number):
    """Ids [text, token] between [CLS] and [SEP], padded."""
    rows = [[START, *(number.get(w, UNKNOWN) for w in words_of(text)), END] for text in texts]
    table = np.full((len(rows), max(map(len, rows))), PAD)
    for row, ids in zip(table, rows):
        row[:len(ids)] = ids
    return table


def trained(name, configuration, ids, vocabulary, examples, curve):
    torch.manual_seed(configuration["seed"])
    rng = np.random.default_rng(configuration["seed"])
    network = Network(vocabulary, configuration["width"])
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.1)
    running = 0.0
    for step in range(1, STEPS + 1):
        whole = ids[rng.integers(len(ids), size=BATCH)]
        given, drawn = whole.copy(), rng.random(whole.shape)
        drawn[whole <= END] = 2  # special tokens and words outside the vocabulary stay
        masked = (drawn < 0.15) | (drawn == drawn.min(1, keepdims=True))
        given[(drawn < 0.25) & ~masked] = UNKNOWN
        given[masked] = MASK
        logits = network(torch.from_numpy(given))[torch.from_numpy(masked)]
        loss = nn.functional.cross_entropy(logits, torch.from_numpy(whole[masked]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % EVERY == 0:
            share = sum(right(network, *examples)) / len(examples[0])
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / EVERY:.6f}",
                          "validation_objective": f"{share:.6f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return halve(network)


def masked_examples(pairs, seed):
    """One masked word of each text: (words, place of the word)."""
    rng = np.random.default_rng(seed)
    split = [words_of(text) for text, _ in pairs]
    places = [[i for i, word in enumerate(words) if word[0].isalnum()] for words in split]
    return split, [found[int(rng.integers(len(found)))] for found in places]


def right(network, split, places, number, names):
    """Whether the likeliest word, as the operation chooses it, is the masked one."""
    found = []
    is_word = torch.tensor([name not in SPECIAL and name[0].isalnum() for name in names])
    with torch.no_grad():
        for words, place in zip(split, places):
            ids = [START, *(number.get(w, UNKNOWN) for w in words), END]
            ids[place + 1] = MASK
            logits = network(torch.tensor([ids]))[0, place + 1]
            found.append(names[int(torch.where(is_word, logits, -torch.inf).argmax())] == words[place])
    return found


def by_template(split, places):
    """The rule of generator local_template: the word between the same neighbours in the batch, else a fixed word."""
    between = {}
    for words, place in zip(split, places):
        for part in (words[:place], words[place + 1:]):
            part = [w for w in part if w[0].isalnum()]
            for left, word, after in zip(part, part[1:], part[2:]):
                between.setdefault((left, after), word)
    found = []
    for words, place in zip(split, places):
        before, after = ([w for w in part if w[0].isalnum()] for part in (words[:place], words[place + 1:]))
        word = between.get((before[-1], after[0])) if before and after else None
        if word is None:
            word = "units" if before and before[-1].isdigit() else "the" if after else "it"
        found.append(word == words[place])
    return found


def by_counts(split, places, training):
    """The most frequent training word between the same neighbours, else after the same word, else of all."""
    both, left, every = {}, {}, Counter()
    for words in training:
        framed = ["<", *words, ">"]
        for before, word, after in zip(framed, framed[1:], framed[2:]):
            if word[0].isalnum():
                both.setdefault((before, after), Counter())[word] += 1
                left.setdefault(before, Counter())[word] += 1
                every[word] += 1
    found = []
    for words, place in zip(split, places):
        framed = ["<", *words, ">"]
        before, after = framed[place], framed[place + 2]
        counts = both.get((before, after)) or left.get(before) or every
        found.append(max(sorted(counts), key=counts.get) == words[place])
    return found


def tokenizer_of(names):
    added = [{"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, content in enumerate(SPECIAL)]
    special = lambda token: {"SpecialToken": {"id": token, "type_id": 0}}  # noqa: E731
    framed = [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": framed, "pair": framed, "special_tokens": {
            token: {"id": token, "ids": [i], "tokens": [token]} for i, token in ((START, "[CLS]"), (END, "[SEP]"))}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {name: i for i, name in enumerate(names)}},
    }


def main():
    pairs = sentences("train", 600, SEEDS["sentences"])
    known = sentences("train", 900, SEEDS["sentences"] + 1000)
    seen = {text for text, _ in pairs}
    populations = {
        "validation": sentences("validation", 100, SEEDS["validation"]),
        "known_wordings": [pair for pair in known if pair[0] not in seen][:1000],
        "new_wordings": sentences("test", 200, SEEDS["evaluation"]),
    }
    training = [words_of(text) for text, _ in pairs]
    names = [*SPECIAL, *sorted({word for words in training for word in words})]
    number = {name: i for i, name in enumerate(names)}
    ids = table_of([text for text, _ in pairs], number)
    examples = {name: masked_examples(found, SEEDS["evaluation"]) for name, found in populations.items()}

    curve, networks, objectives = [], {}, {}
    (HERE / "candidates").mkdir(exist_ok=True)
    judged = (*examples["validation"], number, names)
    for name, configuration in CANDIDATES.items():
        networks[name] = trained(name, configuration, ids, len(names), judged, curve)
        objectives[name] = sum(right(networks[name], *judged)) / len(judged[0])
        write_json(HERE / "candidates" / f"{name}.json", {"candidate": name, "configuration": configuration})
    selected = max(sorted(objectives), key=objectives.get)
    for name in set(networks) - {selected}:
        write_components(HERE / "candidates" / f"{name}.components.json", {"network": to_onnx(networks[name])})
    chosen = networks[selected]
    (HERE.parent / "model.onnx").write_bytes(to_onnx(chosen))
    write_curve(HERE / "loss_curve.csv", curve)
    write_json(HERE.parent / "tokenizer.json", tokenizer_of(names))
    write_json(HERE.parent / "tokenizer_config.json", {"mask_token": "[MASK]", "pad_token": "[PAD]", "unk_token": "[UNK]"})

    matrix = []
    for name in ("known_wordings", "new_wordings"):
        split, places = examples[name]
        methods = {"local_template": by_template(split, places), "neighbour_counts": by_counts(split, places, training)}
        for candidate, network in networks.items():
            methods[candidate] = right(network, split, places, number, names)
        outside = sum(words[place] not in number for words, place in zip(split, places))
        row = {"population": name, "sentences": len(split), "masked_word_outside_vocabulary": outside}
        for method, found in methods.items():
            row[method] = [sum(found) / len(found), *wilson(sum(found), len(found))]
        matrix.append(row)
        print(row, flush=True)
    sample = np.array([[START, *(number.get(w, UNKNOWN) for w in words_of("Heavy rain will reach Lisbon before noon.")), END]])
    sample[0, 4] = MASK
    with torch.no_grad():
        answer = chosen(torch.from_numpy(sample))
    write_json(HERE / "reference.json", {
        "inputs": {"input_ids": {"dtype": "int64", "shape": list(sample.shape),
                                 "data": base64.b64encode(sample.astype("<i8").tobytes()).decode()}},
        "outputs": {"logits": tensor(answer)}})
    validation, places = examples["validation"]
    write_json(HERE / "evaluation.json", {
        "objective": "share of right words, one masked word in each of 500 validation sentences", "selected": selected,
        "candidates": objectives, "parameters": sum(p.numel() for p in chosen.parameters()), "vocabulary": len(names),
        "population_sha256": digest(np.frombuffer(json.dumps([validation, places]).encode(), np.uint8)), "matrix": matrix,
    })


if __name__ == "__main__":
    main()
