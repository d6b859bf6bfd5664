"""Trains the text classifier of this adapter: hashed words and character trigrams, one hidden layer, five classes.

Features: of every token (lower-cased maximal run of letters and digits) the word itself and the trigrams of `^word$`, each
as FNV-1a (32 bit, UTF-8) modulo 1024; counts under a square root, then unit length. Training drops 20 % of the words, so
that the classifier is trained for lost words on a channel. Rule: greatest validation accuracy under 20 % lost words, ties to the first
name.

    PYTHONPATH=<torch> python3 adapters/text_classifier/training/train.py
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(FOLDER.parents[1] / "recipes" / "models" / "training"))
from corpus import LABELS, sentences  # noqa: E402
from onnx_graph import Graph  # noqa: E402
from records import wilson, write_curve, write_json, write_reference  # noqa: E402

torch.set_num_threads(1)
BINS, EPOCHS, BATCH, DROP, LEARNING_RATE = 1024, 30, 32, 0.2, 3e-3
SHIPPED = 200  # number of the 1000 test sentences, with classes in turn, in reports.json
SEEDS = {"training": 51, "validation": 52, "test": 53, "words": 54}
CANDIDATES = {"linear": {"hidden": 0}, "hidden_16": {"hidden": 16}, "hidden_32": {"hidden": 32}}


def tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def bin_of(piece: str) -> int:
    value = 0x811C9DC5
    for byte in piece.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value % BINS


def features(words: list[str]) -> np.ndarray:
    counts = np.zeros(BINS, np.float64)
    for word in words:
        counts[bin_of(word)] += 1
        framed = f"^{word}$"
        for i in range(len(framed) - 2):
            counts[bin_of(framed[i:i + 3])] += 1
    values = np.sqrt(counts)
    return (values / max(np.linalg.norm(values), 1e-12)).astype(np.float32)


def table(pairs, drop, rng):
    """Features and label numbers; each word is lost with probability `drop`."""
    kept = [[w for w in tokens(text) if drop == 0 or rng.random() >= drop] for text, _ in pairs]
    return np.stack([features(words) for words in kept]), np.array([LABELS.index(label) for _, label in pairs])


class Classifier(nn.Module):
    """Features [batch, 1024] -> logits [batch, 5]."""

    def __init__(self, hidden: int):
        super().__init__()
        self.first = nn.Linear(BINS, hidden) if hidden else None
        self.last = nn.Linear(hidden or BINS, len(LABELS))

    def forward(self, x):
        return self.last(torch.relu(self.first(x)) if self.first else x)

    def to_onnx(self) -> bytes:
        graph = Graph("text_classifier")
        x = graph.input("features", ["batch", BINS])
        if self.first:
            x = graph.node("Relu", [graph.linear(x, self.first, "first")])
        graph.node("Softmax", [graph.linear(x, self.last, "last")], "scores", axis=1)
        graph.output("scores", ["batch", len(LABELS)])
        return graph.bytes()


def accuracy(model, x, labels):
    with torch.no_grad():
        right = int((model(torch.from_numpy(x)).argmax(1).numpy() == labels).sum())
    low, high = wilson(right, len(labels))
    return {"correct": right, "examples": len(labels), "accuracy": right / len(labels), "ci_low": low, "ci_high": high}


def train(name, configuration, pairs, held_out, curve):
    torch.manual_seed(SEEDS["training"])
    rng = np.random.default_rng(SEEDS["training"])
    model = Classifier(**configuration)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=1e-2)
    for epoch in range(1, EPOCHS + 1):
        x, labels = table(pairs, DROP, rng)
        order, total = rng.permutation(len(labels)), 0.0
        for part in np.array_split(order, len(order) // BATCH):
            loss = nn.functional.cross_entropy(model(torch.from_numpy(x[part])), torch.from_numpy(labels[part]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(part)
        curve.append({"candidate": name, "epoch": epoch, "training_cross_entropy_nats": f"{total / len(order):.6f}",
                      "validation_accuracy": f"{accuracy(model, *held_out)['accuracy']:.4f}"})
    print(curve[-1], flush=True)
    return model


def main():
    pairs = sentences("train", 200, SEEDS["training"])
    held_out = table(sentences("validation", 100, SEEDS["validation"]), DROP, np.random.default_rng(SEEDS["words"]))
    test = sentences("test", 200, SEEDS["test"])
    curve, models, results = [], {}, {}
    for name, configuration in CANDIDATES.items():
        models[name] = train(name, configuration, pairs, held_out, curve)
        results[name] = accuracy(models[name], *held_out)["accuracy"]
    selected = max(sorted(results), key=results.get)
    model = models[selected]
    (FOLDER / "models" / "classifier.onnx").write_bytes(model.to_onnx())
    write_curve(HERE / "loss_curve.csv", curve)
    x, _ = table(test[:3], 0, None)
    with torch.no_grad():
        write_reference(HERE / "reference.json", {"features": x}, {"scores": torch.softmax(model(torch.from_numpy(x)), 1)})
    rng = np.random.default_rng(SEEDS["words"])
    rows = [{"lost_words": drop, **accuracy(model, *table(test, drop, rng))} for drop in (0.0, 0.1, 0.2, 0.4, 0.6)]
    write_json(HERE / "evaluation.json", {"objective": "validation accuracy with 20 % of the words lost",
                                          "selected": selected, "candidates": results, "labels": LABELS,
                                          "parameters": sum(p.numel() for p in model.parameters()), "test": rows})
    lines = ",\n".join(f"  {json.dumps({'id': f'report_{i:03}', 'label': label, 'text': text})}"
                       for i, (text, label) in enumerate(test[:SHIPPED]))
    (FOLDER / "reports.json").write_text(f"[\n{lines}\n]\n")
    print(selected, results, *rows, sep="\n")


if __name__ == "__main__":
    main()
