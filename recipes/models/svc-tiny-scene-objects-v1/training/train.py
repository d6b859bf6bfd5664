"""Trains features of cluttered scenes for a detector at the receiver after the variational information bottleneck (VIB).

    encoder:  four convolutions to 8 x 8 cells, one residual one;  u = head(.) in R^(8 x 8 x 8);  z = u·sqrt(256 / |u|^2),
              256 complex symbols of mean |x|^2 = 1
    decoder:  z + n, n of variance s^2 = 1/2 per real value at Es/N0 of 0 dB -> one convolution, two residual ones -> boxes, classes

    loss = detection(z + n) + B·sum_i KL(p(z_i + n_i | z_i) || log-uniform),  a_i = s^2 / z_i^2,
    KL(a) = 1/2·log(1 + 1/a) - k1·sigmoid(k2 + k3·log a) + k1,  k = 0.63576, 1.8732, 1.48695

The noise of the channel is the noise of the bottleneck. Losses of boxes and classes: ../../training/scene_networks.py.
Sources: Shao, Mao and Zhang, IEEE JSAC 40(1), 2022 (features over a channel); Molchanov, Ashukha and Vetrov, ICML 2017 (KL).

Scenes are those of source.synthetic_scenes with a cluttered background, 64 pixels, one to three objects (export_pictures.ts). Es/N0 is
uniform in -9 ... 15 dB. `picture` and `clean` are the same network without head, power and noise, for pictures that were sent as JPEG:
half of a batch of `picture` is received as JPEG of a random quality, and `clean` has seen no coded picture.

Candidates are two trainings that differ in the seed. Rule: greatest mean average precision at IoU 0.5 of 300 validation scenes, mean over
-6, -3, 0, 3, 6 dB. `plain` (B = 0) is for comparison only and never shipped.

    python3 recipes/models/svc-tiny-scene-objects-v1/training/train.py <folder> [training]

Scenes and finished trainings are kept in the folder, so that an interrupted run continues after its last finished training, and
trainings named on the command line may run side by side.
"""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
import scene_networks  # noqa: E402
from records import digest, write_components, write_curve, write_json, write_reference  # noqa: E402
from onnx_graph import HalfGraph  # noqa: E402
from scene_networks import SceneNetwork, loss_of  # noqa: E402
from scenes import CLASSES, STRIDE, detections, iou, planes  # noqa: E402

SCENES = {"train": (461, 6000), "validation": (463, 300), "test": (465, 2400)}
SIZE, CELLS, VALUES = 64, 64 // STRIDE, 8  # pixels; cells a side; real values a cell
USES = CELLS * CELLS * VALUES // 2
WIDTHS = (12, 24, 48)
STEPS, BATCH, LEARNING_RATE, EVERY = 2700, 32, 4e-3, 900
SNRS = (-6.0, -3.0, 0.0, 3.0, 6.0)
SHOWN = {"awgn": (-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 12.0), "rayleigh item": (0.0, 6.0, 12.0)}
RESAMPLED = 200
CONFIDENCE, OVERLAP = 0.05, 0.5  # of a detection; of two kept boxes of one class
WEIGHT = 3e-4
TRAININGS = {
    "seed_101": {"seed": 101, "bottleneck": WEIGHT},
    "seed_111": {"seed": 111, "bottleneck": WEIGHT},
    "picture": {"seed": 101, "received": True},
    "clean": {"seed": 101},
    "plain": {"seed": 101, "bottleneck": 0.0},
}
CANDIDATES = ("seed_101", "seed_111")
PICTURES = {"picture": "model.onnx", "clean": "clean_model.onnx"}


class FeatureNetwork(SceneNetwork):
    """A SceneNetwork with the channel behind its first residual block. `penalty` is KL of the last call, mean over the items."""

    def __init__(self):
        super().__init__(WIDTHS, masks=False)
        self.head = nn.Conv2d(WIDTHS[-1], VALUES, 1)
        self.first = scene_networks.Block(VALUES, WIDTHS[-1])
        self.snr_db, self.penalty = None, None

    def encode(self, images):
        hidden = images - 0.5
        for block in self.down:
            hidden = block(hidden)
        u = self.head(hidden + self.body[0](hidden))
        return u / torch.sqrt(u.square().sum((1, 2, 3), keepdim=True) / USES + 1e-9)

    def decode(self, features):
        hidden = self.first(features)
        for block in self.body[1:]:
            hidden = hidden + block(hidden)
        return STRIDE * nn.functional.softplus(self.box(hidden)), self.score(hidden), None, None

    def forward(self, images):
        z = self.encode(images)
        variance = noise_of(self.snr_db)[:, None, None, None]
        self.penalty = divergence(z, variance).mean()
        return self.decode(z + variance.sqrt() * torch.randn_like(z))


def noise_of(snr_db):
    """Variance per real value."""
    return 0.5 * 10 ** (-snr_db / 10)


def divergence(z, variance):
    """KL of each value from the log-uniform prior, sum over the values of an item."""
    log_a = torch.log(variance) - torch.log(z.square() + 1e-9)
    kl = 0.5 * torch.log1p(torch.exp(-log_a)) - 0.63576 * torch.sigmoid(1.8732 + 1.48695 * log_a) + 0.63576
    return kl.sum((1, 2, 3))


def scenes(split):
    """Pictures as they are and as received, and per scene its boxes [object, (label, box)]."""
    seed, count = SCENES[split]
    file = Path(sys.argv[1]) / f"{split}.npz"
    if not file.exists():
        command = ["deno", "run", "-A", "-q", str(HERE / "export_pictures.ts"), str(file), str(seed), str(count)]
        subprocess.run(command, check=True)
    with np.load(file) as arrays:
        boxes = arrays["boxes"]
        return {"images": arrays["images"], "received": arrays["received"],
                "boxes": [boxes[boxes[:, 0] == index, 1:].astype(np.float32) for index in range(count)]}


def batch(train, received, rng):
    images, boxes = [], []
    for place, index in enumerate(rng.integers(0, len(train["boxes"]), BATCH)):
        image, found = train["received" if received and place % 2 else "images"][index], train["boxes"][index]
        if rng.random() < 0.5:
            image = image[:, ::-1]
            found = np.column_stack((found[:, 0], SIZE - found[:, 3], found[:, 2], SIZE - found[:, 1], found[:, 4]))
        images.append(image)
        boxes.append(found)
    return planes(np.stack(images)), boxes


def trained(name, data):
    configuration = TRAININGS[name]
    torch.manual_seed(configuration["seed"])
    rng = np.random.default_rng(configuration["seed"])
    features = "bottleneck" in configuration
    network = FeatureNetwork() if features else SceneNetwork(WIDTHS, masks=False)
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.15)
    received, curve, running = configuration.get("received", False), [], 0.0
    for step in range(1, STEPS + 1):
        images, boxes = batch(data["train"], received, rng)
        if features:
            network.snr_db = torch.from_numpy(rng.uniform(-9, 15, BATCH).astype(np.float32))
        loss = loss_of(network, images, boxes, None)
        if features:
            loss = loss + configuration["bottleneck"] * network.penalty
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % EVERY == 0:
            network.eval()
            score = objective(network, data["validation"], received)
            network.train()
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / EVERY:.6f}",
                          "validation_objective": f"{score:.6f}"})
            print(curve[-1], flush=True)
            running = 0.0
    network.penalty = None
    return network.deployed(), curve


def rows_of(distances, logits):
    """What the ONNX file gives: centre, width, height, probabilities [n, 4 + classes, cells]."""
    x, y = scene_networks.centres(*logits.shape[2:])
    left, top, right, bottom = distances.unbind(1)
    rows = [x + (right - left) / 2, y + (bottom - top) / 2, left + right, top + bottom]
    return torch.cat((torch.stack(rows, 1), torch.sigmoid(logits)), 1).flatten(2)


def encoded(network, images):
    with torch.no_grad():
        return torch.cat([network.encode(torch.from_numpy(planes(part))) for part in np.array_split(images, -(-len(images) // 100))])


def heard(network, z, snr_db, seed, fading=False):
    """Outputs of the decoder; `fading`: one Rayleigh gain an item, divided out."""
    generator = torch.Generator().manual_seed(seed)
    spread = math.sqrt(noise_of(snr_db)) * torch.randn(z.shape, generator=generator)
    if fading:
        spread = spread / (torch.complex(*torch.randn(2, len(z), generator=generator)).abs() / math.sqrt(2))[:, None, None, None]
    with torch.no_grad():
        return rows_of(*network.decode(z + spread)[:2]).numpy()


def seen(network, images):
    with torch.no_grad():
        return np.concatenate([network.outputs(torch.from_numpy(planes(part)))[0].numpy() for part in np.array_split(images, -(-len(images) // 100))])


def matched(outputs, boxes):
    """Per class, best first: scene, and whether a detection matches a box of its class at IoU 0.5; and boxes of each scene."""
    found, classes = detections(outputs, CONFIDENCE, OVERLAP), []
    for label in range(len(CLASSES)):
        rows = []
        for scene, (picture, truth) in enumerate(zip(found, boxes)):
            own, truth = picture[picture[:, 1] == label], truth[truth[:, 0] == label]
            free, overlap = np.ones(len(truth), bool), iou(own[:, 2:6], truth[:, 1:])
            for row, near in zip(own, overlap):
                near = np.where(free, near, 0)
                hit = len(near) > 0 and near.max() >= 0.5
                if hit:
                    free[near.argmax()] = False
                rows.append((row[0], scene, hit))
        rows = np.array(sorted(rows, key=lambda row: -row[0]), float).reshape(-1, 3)
        wanted = np.array([(truth[:, 0] == label).sum() for truth in boxes])
        classes.append((rows[:, 1].astype(int), rows[:, 2], wanted))
    return classes


def average(classes, weights):
    """Mean average precision of scenes that count `weights` times each, precision interpolated at 101 recalls."""
    values = []
    for scene, hit, wanted in classes:
        hits, claims = np.cumsum(weights[scene] * hit), np.cumsum(weights[scene])
        recall, exact = hits / (weights @ wanted), hits / np.maximum(claims, 1)
        best = np.append(np.maximum.accumulate(exact[::-1])[::-1], 0)
        values.append(best[np.searchsorted(recall, np.linspace(0, 1, 101), side="left")].mean())
    return float(np.mean(values))


def precision(outputs, boxes):
    return average(matched(outputs, boxes), np.ones(len(boxes)))


def objective(network, split, received=False):
    if not isinstance(network, FeatureNetwork):
        return precision(seen(network, split["received" if received else "images"]), split["boxes"])
    z = encoded(network, split["images"])
    return float(np.mean([precision(heard(network, z, snr, 5), split["boxes"]) for snr in SNRS]))


def kept(name, data):
    """A training from the folder, if it is there."""
    file = Path(sys.argv[1]) / f"{name}.pt"
    if not file.exists():
        torch.save(trained(name, data), file.with_suffix(".part"))
        file.with_suffix(".part").rename(file)
    return torch.load(file, weights_only=False)


def to_onnx(network):
    """The files of encoder and decoder."""
    g = HalfGraph("scene_object_encoder")
    block = lambda x, module, label: g.node("Relu", [g.conv(x, module.conv, label)])  # noqa: E731
    x = g.node("Sub", [g.input("images", ["batch", 3, SIZE, SIZE]), g.constant("half", 0.5)])
    for i, module in enumerate(network.down):
        x = block(x, module, f"down.{i}")
    u = g.conv(g.node("Add", [x, block(x, network.body[0], "body.0")]), network.head, "head")
    power = g.node("ReduceMean", [g.node("Mul", [u, u])], axes=[1, 2, 3], keepdims=1)
    power = g.node("Add", [g.node("Mul", [power, g.constant("parts", 2)]), g.constant("eps", 1e-9)])
    g.node("Div", [u, g.node("Sqrt", [power])], "symbols_ri")
    g.output("symbols_ri", ["batch", VALUES, CELLS, CELLS])
    encoder = g.bytes()
    g = HalfGraph("scene_object_decoder")
    g.constant("half", 0.5)
    x = g.input("features", ["batch", 2 * USES])
    x = block(g.node("Reshape", [x, g.integers("form", [-1, VALUES, CELLS, CELLS])]), network.first, "first")
    for i, module in enumerate(network.body[1:], 1):
        x = g.node("Add", [x, block(x, module, f"body.{i}")])
    joined = g.node("Concat", network.rows(g, x), axis=1)
    g.node("Reshape", [joined, g.integers("flat", [0, 4 + len(CLASSES), -1])], "output0")
    g.output("output0", ["batch", 4 + len(CLASSES), CELLS * CELLS])
    return {"encoder": encoder, "decoder": g.bytes()}


def main():
    torch.set_num_threads(1)
    data = {split: scenes(split) for split in SCENES}
    for name in sys.argv[2:]:
        kept(name, data)
    if len(sys.argv) > 2:
        return
    networks, curve = {}, []
    for name in TRAININGS:
        networks[name], rows = kept(name, data)
        curve += rows
    objectives = {name: objective(networks[name], data["validation"]) for name in CANDIDATES}
    selected = max(sorted(objectives), key=objectives.get)
    for name in CANDIDATES:
        write_json(HERE / "candidates" / f"{name}.json", {"candidate": name, "configuration": TRAININGS[name]})
        files = to_onnx(networks[name])
        if name == selected:
            (HERE.parent / "encoder.onnx").write_bytes(files["encoder"])
            (HERE.parent / "decoder_model.onnx").write_bytes(files["decoder"])
        else:
            write_components(HERE / "candidates" / f"{name}.components.json", files)
    for name, file in PICTURES.items():
        (HERE.parent / file).write_bytes(networks[name].to_onnx(SIZE))
    write_curve(HERE / "loss_curve.csv", curve)
    write_json(HERE.parent / "config.json", {"id2label": {str(i): label for i, label in enumerate(CLASSES)}})
    evaluate(networks, selected, objectives, data)


def evaluate(networks, selected, objectives, data):
    """All trainings on scenes and noise that neither training nor choice had, intervals by resampling scenes, and stored answers."""
    test, rng = data["test"], np.random.default_rng(469)
    boxes, ones = test["boxes"], np.ones(len(test["boxes"]))
    weights = [np.bincount(rng.integers(0, len(boxes), len(boxes)), minlength=len(boxes)) for _ in range(RESAMPLED)]

    def interval(values):
        return np.quantile(values, [0.025, 0.975]).tolist()

    def resampled(classes):
        return np.array([average(classes, row) for row in weights])

    z = {name: encoded(network, test["images"]) for name, network in networks.items() if name not in PICTURES}
    matrix = []
    for channel, levels in SHOWN.items():
        for snr in levels:
            row, spread = {"channel": channel, "snr_db": snr}, {}
            for name in z:
                classes = matched(heard(networks[name], z[name], snr, 6, channel != "awgn"), boxes)
                spread[name] = resampled(classes)
                row[name] = {"map_50": average(classes, ones), "interval_95": interval(spread[name])}
            for name in z:
                if name != selected:
                    row[f"selected_minus_{name}"] = interval(spread[selected] - spread[name])
            matrix.append(row)
            print(row, flush=True)
    pictures = {}
    for name in PICTURES:
        for kind in ("images", "received"):
            classes = matched(seen(networks[name], test[kind]), boxes)
            pictures[f"{name}, {kind}"] = {"map_50": average(classes, ones), "interval_95": interval(resampled(classes))}
    shares = {}
    for name, sent in z.items():
        power = sent.square().flatten(1).sort(1, descending=True).values
        shares[name] = int((power.cumsum(1) / power.sum(1, keepdim=True) < 0.9).sum(1).float().mean()) + 1
    network, images = networks[selected], torch.from_numpy(planes(test["images"][:2]))
    with torch.no_grad():
        write_reference(HERE / "reference.encoder.json", {"images": images}, {"symbols_ri": network.encode(images)})
        given = network.encode(images).flatten(1) * 1.1 + 0.1
        answer = rows_of(*network.decode(given.reshape(-1, VALUES, CELLS, CELLS))[:2])
        write_reference(HERE / "reference.decoder.json", {"features": given}, {"output0": answer})
        for name in PICTURES:
            write_reference(HERE / f"reference.{name}.json", {"images": images}, {"output0": networks[name].outputs(images)[0]})
    write_json(HERE / "evaluation.json", {
        "objective": "mean average precision at IoU 0.5 of 300 validation scenes, mean over -6, -3, 0, 3, 6 dB",
        "selected": selected, "candidates": objectives, "test_scenes": len(boxes),
        "parameters": {name: sum(p.numel() for p in networks[name].parameters()) for name in (selected, "picture")},
        "population_sha256": digest(data["validation"]["images"], *data["validation"]["boxes"]),
        "matrix": matrix, "pictures": pictures, "values_with_90_percent_of_the_power": shares,
    })


if __name__ == "__main__":
    main()
