"""Trains features of scenes for a classifier at the receiver after the variational information bottleneck (VIB).

    encoder:  c = |mean colour of 2 x 2 pixels - that of the corner|^2, divided by its maximum;  u = head(convolutions(c)) in R^16;
              z = u·sqrt(8 / |u|^2), 8 complex symbols of mean |x|^2 = 1
    decoder:  logits = layers(z + n), n of variance s^2 = 1/2 per real value at Es/N0 of 0 dB

    loss = -log q(label | z + n) + B·sum_i KL(p(z_i + n_i | z_i) || log-uniform),  a_i = s^2 / z_i^2,
    KL(a) = 1/2·log(1 + 1/a) - k1·sigmoid(k2 + k3·log a) + k1,  k = 0.63576, 1.8732, 1.48695

The noise of the channel is the noise of the bottleneck. KL grows slowly with z_i^2, so it gathers the power in few values.
Sources: Shao, Mao and Zhang, IEEE JSAC 40(1), 2022 (features over a channel); Molchanov, Ashukha and Vetrov, ICML 2017 (KL).

Scenes are those of source.synthetic_scenes, 64 pixels, one or two objects; the label is the shape of the largest object
(export_pictures.ts). Two thirds of a batch have Es/N0 uniform in -9 ... 12 dB; one third are received as JPEG and have no
noise in the features, so that the same networks classify pictures that were sent as JPEG.

Candidates are two trainings that differ in the seed. Rule: least error rate on 500 validation scenes, mean over -6, -3, 0, 3,
6 dB. Two further trainings are for comparison only and never shipped: `plain` with B = 0, and `picture` without noise at all, half
of whose batches are received as JPEG.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-scene-features-v1/training/train.py [folder]

Scenes and finished trainings are kept in the folder, so that an interrupted run continues after its last finished training.
"""

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
from onnx_graph import HalfGraph, halve  # noqa: E402
from records import digest, wilson, write_components, write_curve, write_json, write_reference  # noqa: E402

LABELS = ("circle", "square", "triangle")
SCENES = {"train": (451, 5000), "validation": (453, 500), "test": (455, 1500)}
SIZE, REAL = 64, 16  # pixels; real values of 8 channel uses
WIDTHS, HIDDEN, INNER = (12, 24, 48), 48, 48
STEPS, BATCH, LEARNING_RATE, EVERY = 1000, 96, 4e-3, 250
SNRS, SHOWN = (-6.0, -3.0, 0.0, 3.0, 6.0), (-12.0, -9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0, 12.0, 18.0)
CLEAN = 60.0  # Es/N0 in dB of features without noise
WEIGHT = 2e-3
TRAININGS = {
    "seed_101": {"seed": 101, "bottleneck": WEIGHT},
    "seed_111": {"seed": 111, "bottleneck": WEIGHT},
    "plain": {"seed": 101, "bottleneck": 0.0},
    "picture": {"seed": 101, "bottleneck": 0.0, "noise": False},
}
CANDIDATES = ("seed_101", "seed_111")


def contrast(images):
    """float32 [n, 3, 64, 64] -> [n, 1, 32, 32] in 0 ... 1. The corner is always background."""
    means = nn.functional.avg_pool2d(images, 2)
    found = (means - means[:, :, :1, :1]).square().sum(1, keepdim=True)
    return found / (found.amax((2, 3), keepdim=True) + 1e-9)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(a, b, 3, 2, 1) for a, b in zip((1, *WIDTHS), WIDTHS))
        self.inner, self.head = nn.Linear(WIDTHS[-1] * (SIZE // 16) ** 2, HIDDEN), nn.Linear(HIDDEN, REAL)

    def forward(self, images):
        return self.after_contrast(contrast(images))

    def after_contrast(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        u = self.head(torch.relu(self.inner(x.flatten(1))))
        return (u / torch.sqrt(u.square().sum(1, keepdim=True) / (REAL // 2) + 1e-9))[:, :, None, None]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(REAL, INNER), nn.Linear(INNER, INNER)
        self.last = nn.Linear(INNER, len(LABELS))

    def forward(self, features):
        return self.last(torch.relu(self.second(torch.relu(self.first(features)))))


def scenes():
    """Contrasts of pictures and of pictures received as JPEG, and labels of every split; two full pictures."""
    found = {}
    for split, (seed, count) in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "scenes.npz")
            command = ["deno", "run", "-A", "-q", str(HERE / "export_pictures.ts"), file, str(seed), str(count)]
            subprocess.run(command, check=True)
            with np.load(file) as arrays:
                found[split] = {"labels": torch.from_numpy(arrays["labels"])}
                for name in ("images", "received"):
                    parts = torch.from_numpy(arrays[name]).split(500)
                    found[split][name] = torch.cat([contrast(planes(part)) for part in parts])
                found[split]["pictures"] = planes(torch.from_numpy(arrays["images"][:2]))
    return found


def planes(pictures):
    return pictures.permute(0, 3, 1, 2).float() / 255


def noise_of(snr_db):
    """Variance per real value."""
    return 0.5 * 10 ** (-snr_db / 10)


def divergence(z, variance):
    """KL of each value from the log-uniform prior, sum over the values of an item."""
    log_a = torch.log(variance) - torch.log(z.square() + 1e-9)
    kl = 0.5 * torch.log1p(torch.exp(-log_a)) - 0.63576 * torch.sigmoid(1.8732 + 1.48695 * log_a) + 0.63576
    return kl.sum(1)


def trained(name, data):
    configuration = TRAININGS[name]
    torch.manual_seed(configuration["seed"])
    generator = torch.Generator().manual_seed(configuration["seed"])
    encoder, decoder = Encoder(), Decoder()
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.AdamW(parameters, LEARNING_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.1)
    train, noisy = data["train"], configuration.get("noise", True)
    coded = BATCH // 3 if noisy else BATCH // 2  # pictures received as JPEG, the first of a batch
    curve, running = [], 0.0
    for step in range(1, STEPS + 1):
        rows = torch.randint(len(train["labels"]), (BATCH,), generator=generator)
        pictures = torch.cat([train["received"][rows[:coded]], train["images"][rows[coded:]]])
        mirrored = torch.rand(BATCH, generator=generator) < 0.5
        pictures = torch.where(mirrored[:, None, None, None], pictures.flip(3), pictures)
        snr_db = torch.rand(BATCH, generator=generator) * 21 - 9
        snr_db[:coded if noisy else BATCH] = CLEAN
        variance = noise_of(snr_db)[:, None]
        z = encoder.after_contrast(pictures).flatten(1)
        received = z + variance.sqrt() * torch.randn(z.shape, generator=generator)
        loss = nn.functional.cross_entropy(decoder(received), train["labels"][rows])
        if configuration["bottleneck"] > 0:
            loss = loss + configuration["bottleneck"] * divergence(z, variance)[coded:].mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % EVERY == 0:
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / EVERY:.6f}",
                          "validation_objective": f"{objective(encoder, decoder, data['validation']):.6f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return halve(encoder), halve(decoder), curve


def encoded(encoder, pictures):
    with torch.no_grad():
        return torch.cat([encoder.after_contrast(part).flatten(1) for part in pictures.split(250)])


def wrong(decoder, z, labels, snr_db, seed, fading=False):
    """Which items are classified wrongly; `fading`: one Rayleigh gain an item, divided out."""
    generator = torch.Generator().manual_seed(seed)
    spread = math.sqrt(noise_of(snr_db)) * torch.randn(z.shape, generator=generator)
    if fading:
        gain = torch.complex(*torch.randn(2, len(z), 1, generator=generator)).abs() / math.sqrt(2)
        spread = spread / gain
    with torch.no_grad():
        return decoder(z + spread).argmax(1) != labels


def objective(encoder, decoder, split):
    z = encoded(encoder, split["images"])
    return float(np.mean([wrong(decoder, z, split["labels"], snr, 5).float().mean() for snr in SNRS]))


def simplex_wrong(labels, decided, snr_db, seed):
    """The label decided at the sender, sent as one of three points of a simplex in the same 8 channel uses."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.eye(3) - 1 / 3
    points = points / points[0].norm() * math.sqrt(REAL / 2)
    received = points[decided] + math.sqrt(noise_of(snr_db)) * torch.randn((len(labels), 3), generator=generator)
    return (received @ points.T).argmax(1) != labels


def to_onnx(half) -> bytes:
    if isinstance(half, Encoder):
        g = HalfGraph("scene_encoder")
        x = g.input("images", ["batch", 3, SIZE, SIZE])
        x = g.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
        corner = x
        for axis in (2, 3):
            bounds = [g.integers(name, [value]) for name, value in (("zero", 0), ("one", 1), (f"axis_{axis}", axis))]
            corner = g.node("Slice", [corner, *bounds])
        x = g.node("Sub", [x, corner])
        x = g.node("ReduceSum", [g.node("Mul", [x, x]), g.integers("channels", [1])], keepdims=1)
        largest = g.node("ReduceMax", [x], axes=[2, 3], keepdims=1)
        x = g.node("Div", [x, g.node("Add", [largest, g.constant("eps", 1e-9)])])
        for i, layer in enumerate(half.layers):
            x = g.node("Relu", [g.conv(x, layer, f"layers.{i}")])
        x = g.node("Flatten", [x], axis=1)
        u = g.linear(g.node("Relu", [g.linear(x, half.inner, "inner")]), half.head, "head")
        power = g.node("ReduceMean", [g.node("Mul", [u, u])], axes=[1], keepdims=1)
        power = g.node("Add", [g.node("Mul", [power, g.constant("parts", 2)]), g.constant("eps", 1e-9)])
        z = g.node("Div", [u, g.node("Sqrt", [power])])
        g.node("Reshape", [z, g.integers("form", [-1, REAL, 1, 1])], "symbols_ri")
        g.output("symbols_ri", ["batch", REAL, 1, 1])
        return g.bytes()
    g = HalfGraph("scene_decoder")
    x = g.input("features", ["batch", REAL])
    for name in ("first", "second"):
        x = g.node("Relu", [g.linear(x, getattr(half, name), name)])
    g.linear(x, half.last, "last", "logits")
    g.output("logits", ["batch", len(LABELS)])
    return g.bytes()


def kept(name, make):
    """What `make` gives, from the folder of the command line if it is there."""
    if len(sys.argv) < 2:
        return make()
    file = Path(sys.argv[1]) / f"{name}.pt"
    if not file.exists():
        torch.save(make(), file.with_suffix(".part"))
        file.with_suffix(".part").rename(file)
    return torch.load(file, weights_only=False)


def main():
    torch.set_num_threads(1)
    data = kept("scenes", scenes)
    networks, curve = {}, []
    for name in TRAININGS:
        *networks[name], rows = kept(name, lambda: trained(name, data))  # noqa: B023
        curve += rows
    objectives = {name: objective(*networks[name], data["validation"]) for name in CANDIDATES}
    selected = min(sorted(objectives), key=objectives.get)
    for name in CANDIDATES:
        write_json(HERE / "candidates" / f"{name}.json", {"candidate": name, "configuration": TRAININGS[name]})
        files = dict(zip(("encoder", "decoder"), map(to_onnx, networks[name])))
        if name == selected:
            (HERE.parent / "encoder.onnx").write_bytes(files["encoder"])
            (HERE.parent / "decoder_model.onnx").write_bytes(files["decoder"])
        else:
            write_components(HERE / "candidates" / f"{name}.components.json", files)
    write_curve(HERE / "loss_curve.csv", curve)
    write_json(HERE.parent / "config.json", {"id2label": {str(i): label for i, label in enumerate(LABELS)}})
    evaluate(networks, selected, objectives, data)


def evaluate(networks, selected, objectives, data):
    """All trainings on scenes and noise that neither training nor choice had, and a stored answer of the chosen one."""
    test = data["test"]
    labels, rate = test["labels"], lambda errors: {
        "error_rate": float(errors.float().mean()), "interval_95": wilson(int(errors.sum()), len(errors))}
    clean = {name: encoded(pair[0], test["images"]) for name, pair in networks.items()}
    matrix = []
    for fading, channel in enumerate(("awgn", "rayleigh item")):
        for snr in SHOWN:
            errors = {name: wrong(networks[name][1], clean[name], labels, snr, 6, bool(fading))
                      for name in (*CANDIDATES, "plain")}
            row = {"channel": channel, "snr_db": snr, **{name: rate(found) for name, found in errors.items()}}
            for name, other in (("plain", "plain"), ("second_training", next(n for n in CANDIDATES if n != selected))):
                gain = errors[other].float() - errors[selected].float()
                row[f"{name}_minus_selected"] = [float(gain.mean()), float(1.96 * gain.std() / math.sqrt(len(gain)))]
            matrix.append(row)
    with torch.no_grad():
        decided = networks[selected][1](clean[selected]).argmax(1)
    at_sender = [{"snr_db": snr, **rate(simplex_wrong(labels, decided, snr, 7))} for snr in SHOWN]
    pictures = {name: {kind: rate(wrong(pair[1], encoded(pair[0], test[field]), labels, CLEAN, 6))
                       for kind, field in (("clean", "images"), ("jpeg", "received"))} for name, pair in networks.items()}
    shares = {name: (z.square().mean(0) / z.square().mean(0).sum()).sort(descending=True).values.tolist()
              for name, z in clean.items() if name != "picture"}
    encoder, decoder = networks[selected]
    images = test["pictures"]
    with torch.no_grad():
        z = encoder(images)
        write_reference(HERE / "reference.encoder.json", {"images": images}, {"symbols_ri": z})
        given = z.flatten(1) * 1.1 + 0.1
        write_reference(HERE / "reference.decoder.json", {"features": given}, {"logits": decoder(given)})
    write_json(HERE / "evaluation.json", {
        "objective": "error rate on 500 validation scenes, mean over -6, -3, 0, 3, 6 dB",
        "selected": selected, "candidates": objectives, "test_scenes": len(labels),
        "parameters": {"encoder": sum(p.numel() for p in encoder.parameters()),
                       "decoder": sum(p.numel() for p in decoder.parameters())},
        "population_sha256": digest(*(data["validation"][name].numpy() for name in ("images", "labels"))),
        "matrix": matrix, "label_decided_at_the_sender": at_sender, "noiseless_features": pictures,
        "power_shares_of_the_real_values": shares,
    })


if __name__ == "__main__":
    main()
