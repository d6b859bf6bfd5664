"""Trains a small image tower and a small text tower into one space, on scenes of `source.synthetic_scenes` and their sentences.

    image  f = features of the 12 x 12 cells, frozen, of svc-tiny-scene-answerer-v1 (../../training/scene_language.py)
           b = relu(W' (relu(W f) + position));  e = P · sum over cells of centre·b
    text   x = E[ids];  x += relu(conv(x)) with kernel 5 and dilations 1, 2, 1;  e = Q · sum over tokens of x

Rows are scaled to length 1. The loss is the symmetric cross-entropy of the cosines of a batch, with a learned temperature (Radford et
al., 2021); other scenes of a batch with the same sentence do not count. Half of the images have Gaussian noise up to 0.3 of the range.

Candidates are two trainings of one network that differ in the seed. Rule: greatest share of sentences whose scene is first among 128
validation scenes, mean over noise of 0, 0.1, 0.2 and 0.3. Weights are rounded to half precision before anything is evaluated.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-two-tower-v1/training/train.py
"""

import base64
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, numpy_helper
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
from onnx_graph import HalfGraph, halve  # noqa: E402
from records import digest, tensor, wilson, write_components, write_curve, write_json  # noqa: E402
from scene_language import (CELLS, CLASSES, GROUNDS, NAMES, PLACES, PREPROCESSOR, SPECIAL, Cells, ground_of, pixels,  # noqa: E402
                            sentence, table_of, things_of, tokenizer_of, words_of)
from scenes import Scenes, noisy  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"scenes": 261, "validation": 262, "evaluation": 263}
NOISE = (0.0, 0.1, 0.2, 0.3)
MOST, SCENES, GALLERY = 5, 12288, 64
STEPS, BATCH, LEARNING_RATE, EVERY = 1000, 128, 3e-3, 100
DILATIONS = (1, 2, 1)
WIDTHS = [12, 24, 48]
TRUNK = HERE.parents[1] / "svc-tiny-scene-answerer-v1" / "model.onnx"
CANDIDATES = {f"seed_{seed}": {"hidden": 64, "dimensions": 64, "seed": seed} for seed in (261, 271)}


def trunk():
    """The image network of svc-tiny-scene-answerer-v1 with its weights."""
    cells = Cells(WIDTHS)
    cells.fold()
    stored = {tensor.name.removesuffix(".half"): numpy_helper.to_array(tensor)
              for tensor in onnx.load(str(TRUNK)).graph.initializer}
    state = cells.state_dict()
    cells.load_state_dict({name: torch.from_numpy(stored[name.replace(".conv.", ".")].astype(np.float32)) for name in state})
    return cells.eval().requires_grad_(False)


class Towers(nn.Module):
    """ids [n, token] and features [n, channel, 12, 12] -> rows [n, dimension], not scaled."""

    def __init__(self, vocabulary, cells, hidden, dimensions):
        super().__init__()
        self.centre_of, channels = cells.centre_of, cells.channels
        self.words = nn.Embedding(vocabulary, hidden, padding_idx=0)
        self.convs = nn.ModuleList(nn.Conv1d(hidden, hidden, 5, padding=2 * d, dilation=d) for d in DILATIONS)
        self.text_out = nn.Linear(hidden, dimensions)
        self.enter, self.mix = nn.Conv2d(channels, hidden, 1), nn.Conv2d(hidden, hidden, 1)
        self.position = nn.Parameter(torch.zeros(1, hidden, CELLS, CELLS))
        self.image_out = nn.Linear(hidden, dimensions)
        self.log_scale = nn.Parameter(torch.tensor(2.5))

    def text(self, ids):
        there = (ids != 0)[:, None]
        x = self.words(ids).transpose(1, 2) * there
        for conv in self.convs:
            x = (x + torch.relu(conv(x))) * there
        return self.text_out(x.sum(2))

    def image(self, features):
        b = torch.relu(self.mix(torch.relu(self.enter(features)) + self.position))
        return self.image_out((self.centre_of(features) * b).sum((2, 3)))

    def text_graph(self) -> bytes:
        g = HalfGraph("text_tower")
        ids = g.input("input_ids", ["batch", "token"], TensorProto.INT64)
        table = g.constant("words.weight", self.words.weight.detach().numpy())
        x = g.node("Transpose", [g.node("Gather", [table, ids])], perm=[0, 2, 1])
        for i, conv in enumerate(self.convs):
            x = g.node("Add", [x, g.node("Relu", [g.conv(x, conv, f"convs.{i}")])])
        g.linear(g.node("ReduceSum", [x, g.integers("tokens", [2])], keepdims=0), self.text_out, "text_out", "text_embeds")
        g.output("text_embeds", ["batch", self.text_out.out_features])
        return g.bytes({"author": "svc"})

    def image_graph(self, cells) -> bytes:
        g = HalfGraph("image_tower")
        images = g.input("pixel_values", ["batch", 3, 96, 96])
        position = g.constant("position", self.position.detach().numpy())
        features, centre = cells.graph(g, images)
        k = g.node("Add", [g.node("Relu", [g.conv(features, self.enter, "enter")]), position])
        chosen = g.node("Mul", [centre, g.node("Relu", [g.conv(k, self.mix, "mix")])])
        total = g.node("ReduceSum", [chosen, g.integers("cells", [2, 3])], keepdims=0)
        g.linear(total, self.image_out, "image_out", "image_embeds")
        g.output("image_embeds", ["batch", self.image_out.out_features])
        return g.bytes({"author": "svc"})


def features_of(cells, images, rng=None):
    """Features in half precision, with the noise of training if a generator is given."""
    with torch.no_grad():
        return torch.cat([cells(pixels(images[i:i + 64], rng)).half() for i in range(0, len(images), 64)])


def sentences_of(scenes):
    return [sentence(things, ground_of(image)) for things, image in zip(things_of(scenes), scenes.images)]


def scaled(rows):
    return nn.functional.normalize(rows, dim=1)


def positions(network, features, ids, texts, gallery):
    """For every sentence the place of the first scene with this sentence among the scenes of its gallery, from 1."""
    found = []
    with torch.no_grad():
        images = scaled(torch.cat([network.image(features[i:i + 128].float()) for i in range(0, len(features), 128)]))
        rows = scaled(torch.cat([network.text(ids[i:i + 128]) for i in range(0, len(ids), 128)]))
    for start in range(0, len(texts), gallery):
        part = slice(start, start + gallery)
        order = (rows[part] @ images[part].T).argsort(dim=1, descending=True, stable=True)
        own = texts[part]
        for query, ranked in enumerate(order):
            found.append(1 + next(place for place, index in enumerate(ranked) if own[index] == own[query]))
    return np.array(found)


def train(name, configuration, cells, features, ids, same, judge, curve):
    torch.manual_seed(configuration["seed"])
    rng = np.random.default_rng(configuration["seed"])
    network = Towers(len(vocabulary()), cells, configuration["hidden"], configuration["dimensions"])
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.15)
    running, diagonal = 0.0, torch.arange(BATCH)
    for step in range(1, STEPS + 1):
        chosen = torch.from_numpy(rng.choice(len(features), BATCH, replace=False))
        own = ids[chosen]
        own = own[:, :int((own != 0).sum(1).max())]
        cosines = scaled(network.text(own)) @ scaled(network.image(features[chosen].float())).T
        twin = (same[chosen][:, None] == same[chosen][None]) & ~torch.eye(BATCH, dtype=torch.bool)
        logits = (cosines * network.log_scale.clamp(max=4.5).exp()).masked_fill(twin, -1e4)
        loss = (nn.functional.cross_entropy(logits, diagonal) + nn.functional.cross_entropy(logits.T, diagonal)) / 2
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % EVERY == 0:
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / EVERY:.6f}",
                          "validation_objective": f"{judge(network):.6f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return halve(network)


def vocabulary():
    texts = ("a at the and on ground", ",", ".", *PLACES, *GROUNDS, *NAMES, *CLASSES)
    words = {word for text in texts for word in words_of(text)}
    return [*SPECIAL, *sorted(words)]


def disturbed(scenes, seed):
    rng = np.random.default_rng(seed)
    return {level: noisy(scenes.images, level, rng) if level else scenes.images for level in NOISE}


def main():
    cells = trunk()
    scenes, validation = Scenes(SEEDS["scenes"], SCENES, MOST), Scenes(SEEDS["validation"], 128, 3)
    test = Scenes(SEEDS["evaluation"], 1024, 3)
    names = vocabulary()
    number = {name: i for i, name in enumerate(names)}
    ids_of = lambda texts: torch.from_numpy(table_of(texts, number))  # noqa: E731
    texts = sentences_of(scenes)
    same = torch.from_numpy(np.unique(texts, return_inverse=True)[1])
    features = features_of(cells, scenes.images, np.random.default_rng(SEEDS["scenes"]))
    wanted, seen = sentences_of(validation), disturbed(validation, SEEDS["validation"])
    judged = [features_of(cells, images) for images in seen.values()]
    validation_ids = ids_of(wanted)

    def judge(network):
        return float(np.mean([np.mean(positions(network, found, validation_ids, wanted, 128) == 1) for found in judged]))

    curve, networks, objectives = [], {}, {}
    (HERE / "candidates").mkdir(exist_ok=True)
    (HERE.parent / "onnx").mkdir(exist_ok=True)
    for name, configuration in CANDIDATES.items():
        networks[name] = train(name, configuration, cells, features, ids_of(texts), same, judge, curve)
        objectives[name] = judge(networks[name])
        write_json(HERE / "candidates" / f"{name}.json", {"candidate": name, "configuration": configuration})
    selected = max(sorted(objectives), key=objectives.get)
    files = lambda network: {"image": network.image_graph(cells), "text": network.text_graph()}  # noqa: E731
    for name in set(networks) - {selected}:
        write_components(HERE / "candidates" / f"{name}.components.json", files(networks[name]))
    chosen = networks[selected]
    (HERE.parent / "onnx" / "vision_model.onnx").write_bytes(chosen.image_graph(cells))
    (HERE.parent / "onnx" / "text_model.onnx").write_bytes(chosen.text_graph())
    write_curve(HERE / "loss_curve.csv", curve)
    write_json(HERE.parent / "tokenizer.json", tokenizer_of(names))
    write_json(HERE.parent / "preprocessor_config.json", PREPROCESSOR)

    matrix, queries = [], sentences_of(test)
    for level, images in disturbed(test, SEEDS["evaluation"]).items():
        found = features_of(cells, images)
        row = {"noise": level, "queries": len(queries), "gallery": GALLERY}
        for name, network in networks.items():
            place = positions(network, found, ids_of(queries), queries, GALLERY)
            for k in (1, 5):
                hits = int((place <= k).sum())
                row[f"{name}_recall_at_{k}"] = [hits / len(place), *wilson(hits, len(place))]
        matrix.append(row)
        print(row, flush=True)
    ids = table_of(["A red circle at the top left and a blue square at the centre on a white ground."], number)
    image = pixels(validation.images[:1])
    with torch.no_grad():
        text_row, image_row = chosen.text(torch.from_numpy(ids)), chosen.image(cells(image))
    stored = {"dtype": "int64", "shape": list(ids.shape), "data": base64.b64encode(ids.astype("<i8").tobytes()).decode()}
    write_json(HERE / "reference.text.json", {"inputs": {"input_ids": stored}, "outputs": {"text_embeds": tensor(text_row)}})
    write_json(HERE / "reference.vision.json", {"inputs": {"pixel_values": tensor(image)}, "outputs": {"image_embeds": tensor(image_row)}})
    write_json(HERE / "evaluation.json", {
        "objective": "share of sentences whose scene is first among 128 validation scenes, mean over noise of 0, 0.1, 0.2 and 0.3",
        "selected": selected, "candidates": objectives, "vocabulary": len(names),
        "parameters": {"image": sum(p.numel() for p in cells.parameters()) + sum(
            p.numel() for key, p in chosen.named_parameters() if not key.startswith(("words", "convs", "text", "log"))),
            "text": sum(p.numel() for key, p in chosen.named_parameters() if key.startswith(("words", "convs", "text")))},
        "population_sha256": digest(*seen.values()), "matrix": matrix,
    })


if __name__ == "__main__":
    main()
