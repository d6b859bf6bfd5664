"""Trains the image codec of this adapter: images to bits and back, by an autoencoder with a binary bottleneck.

    encoder  images [batch, 3, height, width] -> logits [batch, 32, height/8, width/8]; bit = logit < 0
    decoder  signs [batch, 32, height/8, width/8], +1 for bit 0 and -1 for bit 1 -> reconstruction [batch, 3, height, width]

32 bits per 8 x 8 pixels are 0.5 bit per pixel at any size. Both networks are a linear block transform, which trains fast,
plus a convolutional correction with the neighbouring blocks. The sign has no gradient, so that of tanh is used. Over the
first 40 % of the steps tanh changes gradually into the sign, because networks that begin with hard bits never learn to
use them for colour. Some bits are flipped in training (none in half of the images, else 0.1 % to 10 %), so the decoder is
trained for bit errors on a channel without error correction. Loss: mean squared error. Rule: greatest mean
PSNR of the validation photograph over the grid of error rates, ties to the first name. Large weights are rounded to half
precision before anything is evaluated.

    PYTHONPATH=<torch> python3 adapters/learned_bit_codec/training/train.py
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(FOLDER.parents[1] / "recipes" / "models" / "training"))
from onnx_graph import HalfGraph, halve  # noqa: E402
from pictures import Patches, centre, photographs, psnr  # noqa: E402
from records import write_curve, write_json, write_reference  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 61, "validation": 62, "evaluation": 63}
BATCH, PATCH, LEARNING_RATE, BITS, SOFT_SHARE = 8, 64, 2e-3, 32, 0.4
ERROR_RATES = (0.0, 0.005, 0.02, 0.06)
CANDIDATES = {"narrow_16": {"channels": 16, "steps": 2000}, "wide_24": {"channels": 24, "steps": 6000}}


class Encoder(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.block = nn.Conv2d(3, BITS, 8, 8)
        self.down1 = nn.Conv2d(3, channels, 5, 2, 2)
        self.down2 = nn.Conv2d(channels, channels, 5, 2, 2)
        self.down3 = nn.Conv2d(channels, channels, 5, 2, 2)
        self.mix = nn.Conv2d(channels, channels, 3, padding=1)
        self.exit = nn.Conv2d(channels, BITS, 3, padding=1)

    def forward(self, images):
        hidden = images = images - 0.5
        for down in (self.down1, self.down2, self.down3):
            hidden = torch.relu(down(hidden))
        return self.block(images) + self.exit(hidden + torch.relu(self.mix(hidden)))

    def to_onnx(self) -> bytes:
        graph = HalfGraph("bit_codec_encoder")
        images = graph.input("images", ["batch", 3, "height", "width"])
        hidden = images = graph.node("Sub", [images, graph.constant("half", 0.5)])
        for label in ("down1", "down2", "down3"):
            hidden = graph.node("Relu", [graph.conv(hidden, getattr(self, label), label)])
        hidden = graph.node("Add", [hidden, graph.node("Relu", [graph.conv(hidden, self.mix, "mix")])])
        graph.node("Add", [graph.conv(images, self.block, "block"), graph.conv(hidden, self.exit, "exit")], "logits")
        graph.output("logits", ["batch", BITS, "code_height", "code_width"])
        return graph.bytes()


class Decoder(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.block = nn.Conv2d(BITS, 192, 1)
        self.entry = nn.Conv2d(BITS, channels, 3, padding=1)
        self.inner = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(4))
        self.up1 = nn.Conv2d(channels, 4 * channels, 3, padding=1)
        self.up2 = nn.Conv2d(channels, 64, 3, padding=1)
        self.mix = nn.Conv2d(16, 16, 3, padding=1)
        self.up3 = nn.Conv2d(16, 12, 3, padding=1)

    def forward(self, signs):
        hidden = torch.relu(self.entry(signs))
        for i in (0, 2):
            hidden = hidden + self.inner[i + 1](torch.relu(self.inner[i](hidden)))
        hidden = torch.relu(nn.functional.pixel_shuffle(self.up1(hidden), 2))
        hidden = torch.relu(nn.functional.pixel_shuffle(self.up2(hidden), 2))
        hidden = hidden + torch.relu(self.mix(hidden))
        block = nn.functional.pixel_shuffle(self.block(signs), 8)
        return 0.5 + block + nn.functional.pixel_shuffle(self.up3(hidden), 2)

    def to_onnx(self) -> bytes:
        graph = HalfGraph("bit_codec_decoder")
        signs = graph.input("signs", ["batch", BITS, "code_height", "code_width"])

        def shuffle(x, label, size=2):
            return graph.node("DepthToSpace", [graph.conv(x, getattr(self, label), label)], blocksize=size, mode="CRD")

        hidden = graph.node("Relu", [graph.conv(signs, self.entry, "entry")])
        for i in (0, 2):
            inner = graph.node("Relu", [graph.conv(hidden, self.inner[i], f"inner.{i}")])
            hidden = graph.node("Add", [hidden, graph.conv(inner, self.inner[i + 1], f"inner.{i + 1}")])
        hidden = graph.node("Relu", [shuffle(hidden, "up1")])
        hidden = graph.node("Relu", [shuffle(hidden, "up2")])
        hidden = graph.node("Add", [hidden, graph.node("Relu", [graph.conv(hidden, self.mix, "mix")])])
        pixels = graph.node("Add", [shuffle(hidden, "up3"), shuffle(signs, "block", 8)])
        graph.node("Add", [pixels, graph.constant("half", 0.5)], "reconstruction")
        graph.output("reconstruction", ["batch", 3, "height", "width"])
        return graph.bytes()


def flipped(signs, rates, rng):
    """Signs, each inverted with the error rate of its image."""
    flips = rng.random(tuple(signs.shape)) < np.asarray(rates).reshape(-1, 1, 1, 1)
    return signs * torch.from_numpy(1 - 2 * flips.astype(np.float32))


def measure(encoder, decoder, image, seed, repeats):
    rng, rows = np.random.default_rng(seed), []
    x = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)[None]))
    with torch.no_grad():
        logits = encoder(x)
        signs = torch.where(logits < 0, -1.0, 1.0)
        for rate in ERROR_RATES:
            values = [psnr(x.numpy(), decoder(flipped(signs, rate, rng)).numpy()) for _ in range(repeats if rate else 1)]
            error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if rate else 0.0
            rows.append({"bit_error_rate": rate, "psnr_db": float(np.mean(values)), "repeats": len(values),
                         "standard_error_db": error})
    return rows


def train(name, configuration, curve, validation):
    torch.manual_seed(SEEDS["training"])
    rng, patches = np.random.default_rng(SEEDS["training"]), Patches(SEEDS["training"], PATCH)
    encoder, decoder = Encoder(configuration["channels"]), Decoder(configuration["channels"])
    parameters = [*encoder.parameters(), *decoder.parameters()]
    steps, running = configuration["steps"], 0.0
    optimizer = torch.optim.Adam(parameters, LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps, pct_start=0.1)
    for step in range(1, steps + 1):
        x = torch.from_numpy(patches.batch(BATCH))
        soft = torch.tanh(encoder(x))
        hardness = min(1.0, step / (SOFT_SHARE * steps))
        signs = soft + hardness * (torch.where(soft < 0, -1.0, 1.0) - soft).detach()
        rates = np.where(rng.random(BATCH) < 0.5, 0, 10 ** rng.uniform(-3, -1, BATCH))
        loss = ((x - decoder(flipped(signs, rates, rng))) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % 250 == 0:
            rows = measure(encoder, decoder, validation, SEEDS["validation"], 4)
            curve.append({"candidate": name, "step": step, "training_mse": f"{running / 250:.6f}",
                          "validation_psnr_db": f"{np.mean([row['psnr_db'] for row in rows]):.4f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return halve(encoder), halve(decoder)


def main():
    validation, test = (centre(photographs(split)[0], 256) for split in ("validation", "test"))
    curve, results, models = [], {}, {}
    for name, configuration in CANDIDATES.items():
        models[name] = train(name, configuration, curve, validation)
        results[name] = float(np.mean([row["psnr_db"] for row in measure(*models[name], validation, SEEDS["validation"], 32)]))
        write_curve(HERE / "loss_curve.csv", curve)
    selected = max(sorted(results), key=results.get)
    print("selected", selected, results, flush=True)
    encoder, decoder = models[selected]
    (FOLDER / "models" / "encoder.onnx").write_bytes(encoder.to_onnx())
    (FOLDER / "models" / "decoder.onnx").write_bytes(decoder.to_onnx())
    x = torch.from_numpy(np.ascontiguousarray(test[96:112, 96:112].transpose(2, 0, 1)[None]))
    with torch.no_grad():
        logits = encoder(x)
        signs = torch.where(logits < 0, -1.0, 1.0)
        write_reference(HERE / "reference.encoder.json", {"images": x}, {"logits": logits})
        write_reference(HERE / "reference.decoder.json", {"signs": signs}, {"reconstruction": decoder(signs)})
    write_json(HERE / "evaluation.json", {
        "objective": "mean PSNR in dB of the validation photograph over the bit error rates",
        "selected": selected, "candidates": results, "configurations": CANDIDATES, "seeds": SEEDS, "bits_per_pixel": BITS / 64,
        "parameters": {"encoder": sum(p.numel() for p in encoder.parameters()),
                       "decoder": sum(p.numel() for p in decoder.parameters())},
        "validation": measure(encoder, decoder, validation, SEEDS["validation"], 32),
        "test": measure(encoder, decoder, test, SEEDS["evaluation"], 32),
    })


if __name__ == "__main__":
    main()
