"""BERTScore and cosine of sentences by a tiny language model. Writes ../bert_score_pairs.csv and ../sentence_similarity_pairs.csv, the
folder text_embedder with the model, and sentence pairs as JSON Lines.

Run: python3 measure_text_embedding.py <folder>, with NumPy 2.4.6, PyTorch 2.13.0 and onnx 1.23.1; then, for both files of the folder,
svc data make-manifest <folder>/pairs_reference.jsonl --id pairs_reference --out pairs_reference.json --force

The model has one layer of attention and random weights: it tells whether the scores are computed as published, nothing about texts. The
vectors are those of PyTorch in double precision, the scores NumPy's, after Zhang et al., BERTScore, ICLR 2020, section 3: greedy matching,
weights log((N + 1) / (n + 1)) of the references or 1, none for [CLS] and [SEP], which may be matched. It shares no code with the program.
"""
import json
import pathlib
import random
import re
import sys

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
CORPUS = json.loads((HERE / "../../../ops/codec/_english_corpus.json").read_text())["paragraphs"]
WIDTH, HEADS, LONGEST, WORDS, PAIRS = 24, 2, 96, 150, 16
BASELINE, CONTEXT = 0.25, 77  # of CLIP: longer sentences are cut before their end token


def split(text):
    return re.findall(r"[a-z0-9]+|[^\sa-z0-9]", text.lower())


def pairs():
    """Sentences, and the same with words left out, doubled, exchanged and replaced."""
    draw = random.Random(71)
    sentences = [s for p in CORPUS for s in re.split(r"(?<=[.!?]) ", p) if 5 < len(split(s)) < 22 and s.isascii()]
    words = sorted({word for s in sentences for word in split(s) if word.isalpha()})
    found = []
    for reference in draw.sample(sentences, PAIRS):
        candidate = reference.split()
        for _ in range(1 + draw.randrange(5)):
            at = draw.randrange(len(candidate) - 1)
            kind = draw.randrange(4)
            candidate[at:at + 2] = [candidate[at + 1:at + 2], candidate[at:at + 1] * 2 + candidate[at + 1:at + 2],
                                    candidate[at:at + 2][::-1], [draw.choice(words), candidate[at + 1]]][kind]
        found.append((reference, " ".join(candidate)))
    return found


def vocabulary():
    """Special tokens, characters, continued characters, then the most frequent words."""
    seen = {}
    for paragraph in CORPUS:
        for word in split(paragraph):
            seen[word] = seen.get(word, 0) + 1
    characters = sorted({c for word in seen for c in word})
    words = [word for word in sorted(seen, key=lambda word: (-seen[word], word)) if len(word) > 1][:WORDS]
    return {token: place for place, token in enumerate(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *characters, *("##" + c for c in characters if c.isalnum()), *words])}


def encode(text, vocab):
    """Longest pieces first, as WordPiece."""
    ids = []
    for word in split(text):
        at = 0
        while at < len(word):
            end = next(end for end in range(len(word), at, -1) if ("##" if at else "") + word[at:end] in vocab)
            ids.append(vocab[("##" if at else "") + word[at:end]])
            at = end
    return [vocab["[CLS]"], *ids, vocab["[SEP]"]]


def tokenizer(vocab):
    special = {name: {"id": name, "ids": [vocab[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    around = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": vocab[name], "content": name, "lstrip": False, "normalized": False, "rstrip": False,
                          "single_word": False, "special": True} for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True, "strip_accents": None},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": around, "pair": around, "special_tokens": special},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
    }


class Network(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.words, self.places = nn.Embedding(tokens, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, input_ids, attention_mask):
        places = torch.cumsum(torch.ones_like(input_ids), 1) - 1
        hidden = self.words(input_ids) + 0.3 * self.places(places)
        q, k, v = (part(hidden).unflatten(2, (HEADS, -1)).transpose(1, 2) for part in (self.query, self.key, self.value))
        level = q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5 + (attention_mask[:, None, None] - 1) * 1e9
        mixed = (torch.softmax(level, 3) @ v).transpose(1, 2).flatten(2)
        return self.norm(hidden + self.out(mixed))


class Embedder(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network, self.projection = network, nn.Linear(WIDTH, 16)

    def forward(self, input_ids, attention_mask):
        return self.projection(self.network(input_ids, attention_mask).mean(1))


def bert_score(candidate, reference, weight):
    (ids, x), (others, y) = candidate, reference
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, y))
    cosines = x @ y.T
    w, u = (np.array([weight(token) for token in list_]) for list_ in (ids, others))
    precision, recall = (cosines.max(1) * w).sum() / w.sum(), (cosines.max(0) * u).sum() / u.sum()
    return np.array([2 * precision * recall / (precision + recall), precision, recall])


torch.manual_seed(71)
texts, vocab = pairs(), vocabulary()
network = Network(len(vocab)).eval()
embedder = Embedder(network).eval()
folder = HERE / "text_embedder"
(folder / "onnx").mkdir(parents=True, exist_ok=True)
(folder / "tokenizer.json").write_text(json.dumps(tokenizer(vocab)) + "\n")
names, example = ["input_ids", "attention_mask"], (torch.ones(1, 8, dtype=torch.long),) * 2
for part, file, output in ((network, "model", "last_hidden_state"), (embedder, "text_model", "text_embeds")):
    axes = {name: {1: "token"} for name in [*names, "last_hidden_state"]}
    torch.onnx.export(part, example, folder / f"onnx/{file}.onnx", input_names=names, output_names=[output],
                      dynamic_axes={name: axes[name] for name in [*names, output] if name in axes}, dynamo=False)
for side, name in enumerate(("reference", "candidate")):
    rows = [json.dumps({"id": f"pair_{i:02}", "split": "test", "text": pair[side]}) for i, pair in enumerate(texts)]
    (pathlib.Path(sys.argv[1]) / f"pairs_{name}.jsonl").write_text("\n".join(rows) + "\n")
embedder.double()
embedded, sentences = [], []
for pair in texts:
    for text in pair:
        ids = encode(text, vocab)
        short = ids if len(ids) <= CONTEXT else [*ids[:CONTEXT - 1], ids[-1]]
        whole, cut = ((torch.tensor([row]), torch.ones(1, len(row), dtype=torch.long)) for row in (ids, short))
        with torch.no_grad():
            embedded.append((ids, network(*whole)[0].numpy()))
            sentences.append(embedder(*cut)[0].numpy())
references, candidates = embedded[::2], embedded[1::2]
outer = {vocab["[CLS]"], vocab["[SEP]"]}
counts = {token: sum(token in ids for ids, _ in references) for ids, _ in references for token in ids}
weights = {"equal": lambda token: 0.0 if token in outer else 1.0,
           "idf": lambda token: 0.0 if token in outer else np.log((PAIRS + 1) / (counts.get(token, 0) + 1))}
rows = []
for name, weight in weights.items():
    scores = np.mean([bert_score(*both, weight) for both in zip(candidates, references)], 0)
    for baseline in (0.0, BASELINE):
        for metric, value in zip(("", "_precision", "_recall"), (scores - baseline) / (1 - baseline)):
            rows.append(f"{name},{baseline},semantic.bert_score{metric},{value:.8g}")
(HERE / "../bert_score_pairs.csv").write_text("\n".join(["bert_score.weighting,bert_score.baseline,metric,expected", *rows]) + "\n")
cosines = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(sentences[::2], sentences[1::2])]
rows = [f"embedding.cosine_{name},{value:.8g}" for name, value in (("mean", np.mean(cosines)), ("min", min(cosines)), ("max", max(cosines)))]
(HERE / "../sentence_similarity_pairs.csv").write_text("\n".join(["metric,expected", *rows]) + "\n")
