"""Trains a small network that answers the questions of scenes of `source.synthetic_scenes`.

    f = features of the 12 x 12 cells of the image (../../training/scene_language.py);  q = sum of the words' vectors
    k = relu(W f);  a = relu((1 + G q) k + B q);  b = relu(W' a);  s = sum over cells of centre·sigmoid(w b)·(V b + position)
    logits = MLP(s, max over cells of b, q)

The sum over the cells with the centre of an object counts. The question scales and shifts every channel (Perez et al., FiLM, AAAI 2018). Beside the answers, the
features are trained with the centre, shape and colour of the objects. Training also asks for counts of a colour, for the existence
of an object and for the colour of the ground. Half of the images have Gaussian noise up to 0.3 of the range.

Candidates are two trainings of one network that differ in the seed. Rule: greatest share of right answers on validation scenes, mean
over noise of 0, 0.1, 0.2 and 0.3. Weights are rounded to half precision before anything is evaluated.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-scene-answerer-v1/training/train.py
"""

import base64
import json
import sys
from pathlib import Path

import numpy as np
import torch
from onnx import TensorProto
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
from onnx_graph import HalfGraph, halve  # noqa: E402
from records import digest, tensor, wilson, write_components, write_curve, write_json  # noqa: E402
from scene_language import (CELLS, CLASSES, GROUNDS, NAMES, PLACES, PREPROCESSOR, SPECIAL, Cells, asked, cell_loss,  # noqa: E402
                            cell_targets, ground_of, pixels, table_of, things_of, tokenizer_of, words_of)
from scenes import Scenes, noisy  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"scenes": 161, "validation": 162, "evaluation": 163}
NOISE = (0.0, 0.1, 0.2, 0.3)
MOST, SCENES = 5, 8192
ANSWERS = [*map(str, range(MOST + 1)), *NAMES, *CLASSES, *PLACES, "yes", "no", *GROUNDS]
STEPS, BATCH, QUESTIONS, LEARNING_RATE, EVERY = 4000, 24, 6, 4e-3, 250
CANDIDATES = {f"seed_{seed}": {"widths": [12, 24, 48], "hidden": 64, "seed": seed} for seed in (161, 171)}


class Network(nn.Module):
    """ids [n, token], pixels [n, 3, 96, 96] -> logits [n, answer]."""

    def __init__(self, vocabulary, widths, hidden):
        super().__init__()
        self.cells = Cells(widths)
        self.words = nn.Embedding(vocabulary, hidden, padding_idx=0)
        nn.init.normal_(self.words.weight, std=0.3)
        self.enter = nn.Conv2d(self.cells.channels, hidden, 1)
        self.position = nn.Parameter(torch.zeros(1, hidden, CELLS, CELLS))
        self.scale, self.shift = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.mix, self.value = nn.Conv2d(hidden, hidden, 1), nn.Conv2d(hidden, hidden, 1)
        self.gate = nn.Conv2d(hidden, 1, 1)
        self.join, self.out = nn.Linear(3 * hidden, 2 * hidden), nn.Linear(2 * hidden, len(ANSWERS))

    def answer(self, features, ids):
        q = (self.words(ids) * (ids != 0)[..., None]).sum(1)
        k = torch.relu(self.enter(features))
        a = torch.relu(k * (1 + self.scale(q))[:, :, None, None] + self.shift(q)[:, :, None, None])
        b = torch.relu(self.mix(a))
        chosen = self.cells.centre_of(features) * torch.sigmoid(self.gate(b))
        total = (chosen * (self.value(b) + self.position)).sum((2, 3))
        return self.out(torch.relu(self.join(torch.cat((total, b.amax((2, 3)), q), 1))))

    def forward(self, ids, images):
        return self.answer(self.cells(images), ids)


def to_onnx(network) -> bytes:
    g = HalfGraph("scene_answerer")
    ids = g.input("input_ids", ["batch", "token"], TensorProto.INT64)
    images = g.input("pixel_values", ["batch", 3, 96, 96])
    table = g.constant("words.weight", network.words.weight.detach().numpy())
    q = g.node("ReduceSum", [g.node("Gather", [table, ids]), g.integers("tokens", [1])], keepdims=0)
    wide, position = g.integers("cells", [2, 3]), g.constant("position", network.position.detach().numpy())
    features, centre = network.cells.graph(g, images)
    k = g.node("Relu", [g.conv(features, network.enter, "enter")])
    spread = lambda module, label: g.node("Unsqueeze", [g.linear(q, module, label), wide])  # noqa: E731
    scaled = g.node("Mul", [k, g.node("Add", [spread(network.scale, "scale"), g.constant("one", 1)])])
    a = g.node("Relu", [g.node("Add", [scaled, spread(network.shift, "shift")])])
    b = g.node("Relu", [g.conv(a, network.mix, "mix")])
    chosen = g.node("Mul", [centre, g.node("Sigmoid", [g.conv(b, network.gate, "gate")])])
    gated = g.node("Mul", [chosen, g.node("Add", [g.conv(b, network.value, "value"), position])])
    total = g.node("ReduceSum", [gated, wide], keepdims=0)
    greatest = g.node("ReduceMax", [b], axes=[2, 3], keepdims=0)
    joined = g.node("Concat", [total, greatest, q], axis=1)
    g.linear(g.node("Relu", [g.linear(joined, network.join, "join")]), network.out, "out", "logits")
    g.output("logits", ["batch", len(ANSWERS)])
    return g.bytes({"task": "visual-question-answering", "author": "svc"})


def draw(things, ground, rng):
    """A random question of training with its answer, (question, answer) or None where the scene has none of its kind."""
    pick = lambda values: values[int(rng.integers(len(values)))]  # noqa: E731
    kind = int(rng.integers(8))
    if kind == 0:
        return "How many objects are there?", str(len(things))
    if kind == 1:
        shape = pick(CLASSES)
        return f"How many {shape}s are there?", str(sum(t.shape == shape for t in things))
    if kind == 2:
        colour = pick(things).colour if rng.random() < 0.7 else pick(NAMES)
        return f"How many {colour} objects are there?", str(sum(t.colour == colour for t in things))
    if kind == 3:
        thing = pick(things)
        if sum(t.shape == thing.shape for t in things) > 1:
            return None
        return f"What colour is the {thing.shape}?", thing.colour
    if kind == 4:
        thing = pick(things)
        if sum(t.colour == thing.colour for t in things) > 1:
            return None
        return f"What shape is the {thing.colour} object?", thing.shape
    if kind == 5 and rng.random() < 0.5:
        return "What colour is the background?", ground
    if kind == 5:
        colour, shape = (pick(things).colour, pick(things).shape) if rng.random() < 0.7 else (pick(NAMES), pick(CLASSES))
        there = any((t.colour, t.shape) == (colour, shape) for t in things)
        return f"Is there a {colour} {shape}?", "yes" if there else "no"
    thing = pick(things)
    if sum((t.colour, t.shape) == (thing.colour, thing.shape) for t in things) > 1:
        return None
    return f"Where is the {thing.colour} {thing.shape}?", thing.place


def vocabulary():
    texts = ["How many objects are there?", "What colour is the background?", "What shape is the object?", "Where is there a"]
    words = {word for text in texts for word in words_of(text)} | {*NAMES, *CLASSES} | {f"{shape}s" for shape in CLASSES}
    return [*SPECIAL, *sorted(words)]


def questions_of(scenes):
    """(scene, topic, question, answer) of every question that the source asks."""
    return [(index, *row) for index, things in enumerate(things_of(scenes)) for row in asked(things, index)]


def answers(network, images, rows, number):
    """The likeliest answer to every question."""
    ids = torch.from_numpy(table_of([question for _, _, question, _ in rows], number))
    scene = torch.tensor([row[0] for row in rows])
    network.eval()
    with torch.no_grad():
        features = torch.cat([network.cells(pixels(images[i:i + 64])) for i in range(0, len(images), 64)])
        found = [network.answer(features[scene[i:i + 256]], ids[i:i + 256]).argmax(1) for i in range(0, len(rows), 256)]
    network.train()
    return [ANSWERS[i] for i in torch.cat(found)]


def right(network, images, rows, number):
    return [given == row[3] for given, row in zip(answers(network, images, rows, number), rows)]


def disturbed(scenes, seed):
    rng = np.random.default_rng(seed)
    return {level: noisy(scenes.images, level, rng) if level else scenes.images for level in NOISE}


def train(name, configuration, scenes, number, judge, curve):
    torch.manual_seed(configuration["seed"])
    rng = np.random.default_rng(configuration["seed"])
    things, grounds = things_of(scenes), [ground_of(image) for image in scenes.images]
    targets = cell_targets(things)
    network = Network(len(number), configuration["widths"], configuration["hidden"])
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.15)
    running = 0.0
    for step in range(1, STEPS + 1):
        chosen = rng.integers(0, len(scenes), BATCH)
        rows = []
        for place, index in enumerate(chosen):
            own = [draw(things[index], grounds[index], rng) for _ in range(QUESTIONS)]
            rows.extend((place, *row) for row in own if row)
        ids = torch.from_numpy(table_of([question for _, question, _ in rows], number))
        wanted = torch.tensor([ANSWERS.index(answer) for _, _, answer in rows])
        heads = network.cells.heads(pixels(scenes.images[chosen], rng))
        logits = network.answer(network.cells.joined(*heads)[torch.tensor([place for place, _, _ in rows])], ids)
        loss = nn.functional.cross_entropy(logits, wanted) + 0.3 * cell_loss(*heads[1:], targets[chosen])
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
    network.cells.fold()
    return halve(network)


def main():
    scenes, validation = Scenes(SEEDS["scenes"], SCENES, MOST), Scenes(SEEDS["validation"], 128, 3)
    test = Scenes(SEEDS["evaluation"], 512, 3)
    names = vocabulary()
    number = {name: i for i, name in enumerate(names)}
    rows, seen = questions_of(validation), disturbed(validation, SEEDS["validation"])

    def judge(network):
        return float(np.mean([np.mean(right(network, images, rows, number)) for images in seen.values()]))

    curve, networks, objectives = [], {}, {}
    (HERE / "candidates").mkdir(exist_ok=True)
    for name, configuration in CANDIDATES.items():
        networks[name] = train(name, configuration, scenes, number, judge, curve)
        objectives[name] = judge(networks[name])
        write_json(HERE / "candidates" / f"{name}.json", {"candidate": name, "configuration": configuration})
    selected = max(sorted(objectives), key=objectives.get)
    for name in set(networks) - {selected}:
        write_components(HERE / "candidates" / f"{name}.components.json", {"network": to_onnx(networks[name])})
    chosen = networks[selected].eval()
    (HERE.parent / "model.onnx").write_bytes(to_onnx(chosen))
    write_curve(HERE / "loss_curve.csv", curve)
    write_json(HERE.parent / "tokenizer.json", tokenizer_of(names))
    write_json(HERE.parent / "preprocessor_config.json", PREPROCESSOR)
    write_json(HERE.parent / "config.json", {
        "model_type": "svc_scene_answerer", "problem_type": "single_label_classification",
        "id2label": {str(i): answer for i, answer in enumerate(ANSWERS)}})

    asked_of_test, matrix = questions_of(test), []
    for level, images in disturbed(test, SEEDS["evaluation"]).items():
        row = {"noise": level, "questions": len(asked_of_test), "topics": {}}
        for name, network in networks.items():
            found = right(network, images, asked_of_test, number)
            row[name] = [sum(found) / len(found), *wilson(sum(found), len(found))]
            if name == selected:
                for topic in dict.fromkeys(r[1] for r in asked_of_test):
                    own = [good for good, r in zip(found, asked_of_test) if r[1] == topic]
                    row["topics"][topic] = [sum(own) / len(own), *wilson(sum(own), len(own))]
        matrix.append(row)
        print(row, flush=True)
    ids = table_of(["Where is the red circle?"], number)
    image = pixels(validation.images[:1])
    with torch.no_grad():
        answer = chosen(torch.from_numpy(ids), image)
    write_json(HERE / "reference.json", {
        "inputs": {"input_ids": {"dtype": "int64", "shape": list(ids.shape),
                                 "data": base64.b64encode(ids.astype("<i8").tobytes()).decode()},
                   "pixel_values": tensor(image)},
        "outputs": {"logits": tensor(answer)}})
    write_json(HERE / "evaluation.json", {
        "objective": "share of right answers to the questions of 128 validation scenes, mean over noise of 0, 0.1, 0.2 and 0.3",
        "selected": selected, "candidates": objectives, "parameters": sum(p.numel() for p in chosen.parameters()),
        "vocabulary": len(names), "answers": len(ANSWERS),
        "population_sha256": digest(*seen.values(), np.frombuffer(json.dumps(rows).encode(), np.uint8)), "matrix": matrix,
    })


if __name__ == "__main__":
    main()
