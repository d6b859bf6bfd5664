"""Trains the small DeepJSCC codecs: pictures straight to complex symbols, and noisy symbols straight to pictures.

    encoder  images [batch, 3, height, width] -> symbols_ri [batch, 16, height/4, width/4]
    decoder  symbols_ri of that shape -> reconstruction [batch, 3, height, width]

Eight complex symbols per 4 x 4 pixels are 0.5 channel uses per pixel, a sixth of the source's dimension. Real parts come
first, then imaginary parts. The mean power of a picture's symbols is made 1 between encoder and channel, as
channel.symbol_power_normalize does with source_item. One pair of networks serves all SNRs: the decoder finds how noisy its
symbols are from their mean square and scales its features by that.

`awgn` adds noise at SNRs drawn uniformly from -4 to 14 dB, one a picture. `slow_rayleigh` draws a gain h ~ CN(0, 1) a
picture too, and the receiver divides by it: noise N0/|h|². The loss is the mean squared error; the rule takes the candidate
with the greatest mean PSNR of the validation photograph over the SNR grid, ties to the first name.
Large weights are rounded to half precision before anything is evaluated.

    PYTHONPATH=<torch> python3 adapters/deepjscc_symbols/training/train.py awgn <folder>; its encoder.onnx and decoder.onnx go to models/

Source: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[2] / "recipes" / "models" / "training"))
from onnx_graph import HalfGraph, halve  # noqa: E402
from pictures import Patches, centre, photographs, psnr  # noqa: E402
from records import digest, write_curve, write_json, write_reference  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 41, "validation": 42, "evaluation": 43}
BATCH, PATCH, LEARNING_RATE = 8, 64, 2e-3
SYMBOL_CHANNELS = 8
SNR_RANGE_DB = (-4.0, 14.0)
SNR_GRID_DB = (-4.0, 0.0, 4.0, 8.0, 12.0)
CANDIDATES = {
    "narrow_24": {"channels": 24, "steps": 2500},
    "wide_40": {"channels": 40, "steps": 7000},
}


class Encoder(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.down1 = nn.Conv2d(3, channels, 5, 2, 2)
        self.down2 = nn.Conv2d(channels, channels, 5, 2, 2)
        self.mix = nn.Conv2d(channels, channels, 3, padding=1)
        self.exit = nn.Conv2d(channels, 2 * SYMBOL_CHANNELS, 3, padding=1)

    def forward(self, images):
        hidden = torch.relu(self.down2(torch.relu(self.down1(images - 0.5))))
        return self.exit(hidden + torch.relu(self.mix(hidden)))

    def to_onnx(self) -> bytes:
        graph = HalfGraph("deepjscc_encoder")
        images = graph.input("images", ["batch", 3, "height", "width"])
        hidden = graph.node("Sub", [images, graph.constant("half", 0.5)])
        for label in ("down1", "down2"):
            hidden = graph.node("Relu", [graph.conv(hidden, getattr(self, label), label)])
        hidden = graph.node("Add", [hidden, graph.node("Relu", [graph.conv(hidden, self.mix, "mix")])])
        graph.conv(hidden, self.exit, "exit", "symbols_ri")
        graph.output("symbols_ri", ["batch", 2 * SYMBOL_CHANNELS, "symbol_height", "symbol_width"])
        return graph.bytes()


class Decoder(nn.Module):
    def __init__(self, channels: int, blocks: int = 2):
        super().__init__()
        self.entry = nn.Conv2d(2 * SYMBOL_CHANNELS, channels, 3, padding=1)
        self.level1 = nn.Conv2d(1, channels, 1)
        self.level2 = nn.Conv2d(channels, channels * (blocks + 1), 1)
        self.inner = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2 * blocks))
        self.up1 = nn.Conv2d(channels, 4 * channels, 3, padding=1)
        self.mix = nn.Conv2d(channels, channels, 3, padding=1)
        self.up2 = nn.Conv2d(channels, 12, 3, padding=1)
        self.blocks = blocks

    def forward(self, symbols):
        power = torch.log((symbols * symbols).mean((1, 2, 3), keepdim=True))
        scales = torch.chunk(self.level2(torch.relu(self.level1(power))), self.blocks + 1, 1)
        hidden = torch.relu(self.entry(symbols)) * torch.exp(scales[0])
        for i in range(self.blocks):
            inner = self.inner[2 * i + 1](torch.relu(self.inner[2 * i](hidden)))
            hidden = hidden + inner * torch.exp(scales[i + 1])
        hidden = torch.relu(nn.functional.pixel_shuffle(self.up1(hidden), 2))
        hidden = hidden + torch.relu(self.mix(hidden))
        return torch.sigmoid(nn.functional.pixel_shuffle(self.up2(hidden), 2))

    def to_onnx(self) -> bytes:
        graph = HalfGraph("deepjscc_decoder")
        symbols = graph.input("symbols_ri", ["batch", 2 * SYMBOL_CHANNELS, "symbol_height", "symbol_width"])
        square = graph.node("ReduceMean", [graph.node("Mul", [symbols, symbols])], axes=[1, 2, 3], keepdims=1)
        level = graph.node("Relu", [graph.conv(graph.node("Log", [square]), self.level1, "level1")])
        level = graph.conv(level, self.level2, "level2")
        width = self.entry.out_channels

        def scale(i):
            bounds = [graph.integers(f"scale_{i}.{key}", [value]) for key, value in
                      (("from", i * width), ("to", (i + 1) * width), ("axis", 1))]
            return graph.node("Exp", [graph.node("Slice", [level, *bounds])])

        hidden = graph.node("Relu", [graph.conv(symbols, self.entry, "entry")])
        hidden = graph.node("Mul", [hidden, scale(0)])
        for i in range(self.blocks):
            inner = graph.node("Relu", [graph.conv(hidden, self.inner[2 * i], f"inner.{2 * i}")])
            inner = graph.conv(inner, self.inner[2 * i + 1], f"inner.{2 * i + 1}")
            hidden = graph.node("Add", [hidden, graph.node("Mul", [inner, scale(i + 1)])])
        hidden = graph.node("DepthToSpace", [graph.conv(hidden, self.up1, "up1")], blocksize=2, mode="CRD")
        hidden = graph.node("Relu", [hidden])
        hidden = graph.node("Add", [hidden, graph.node("Relu", [graph.conv(hidden, self.mix, "mix")])])
        hidden = graph.node("DepthToSpace", [graph.conv(hidden, self.up2, "up2")], blocksize=2, mode="CRD")
        graph.node("Sigmoid", [hidden], "reconstruction")
        graph.output("reconstruction", ["batch", 3, "height", "width"])
        return graph.bytes()


def transmit(symbols, snr_db, channel, rng):
    """Unit mean power per picture, then noise as the receiver sees it after equalisation."""
    count = symbols.shape[0]
    complex_power = 2 * (symbols * symbols).mean((1, 2, 3), keepdim=True)
    sent = symbols / torch.sqrt(complex_power + 1e-12)
    n0 = 10 ** (-np.broadcast_to(np.asarray(snr_db, float), (count,)) / 10)
    if channel == "slow_rayleigh":
        gain = (rng.standard_normal(count) ** 2 + rng.standard_normal(count) ** 2) / 2
        n0 = n0 / np.maximum(gain, 1e-3)
    std = np.sqrt(n0 / 2).reshape(-1, 1, 1, 1)
    return sent + torch.from_numpy((std * rng.standard_normal(tuple(symbols.shape))).astype(np.float32))


def measure(encoder, decoder, picture, channel, seed, repeats):
    """Mean PSNR at each SNR of the grid, and its standard error over channel draws."""
    rng, rows = np.random.default_rng(seed), []
    x = torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1)[None]))
    with torch.no_grad():
        symbols = encoder(x)
        for snr in SNR_GRID_DB:
            values = [psnr(x.numpy(), decoder(transmit(symbols, snr, channel, rng)).numpy()) for _ in range(repeats)]
            rows.append({"snr_db": snr, "psnr_db": float(np.mean(values)), "repeats": repeats,
                         "standard_error_db": float(np.std(values, ddof=1) / np.sqrt(repeats))})
    return rows


def train(name, configuration, channel, curve, validation):
    torch.manual_seed(SEEDS["training"])
    rng, patches = np.random.default_rng(SEEDS["training"]), Patches(SEEDS["training"], PATCH)
    encoder, decoder = Encoder(configuration["channels"]), Decoder(configuration["channels"])
    parameters = [*encoder.parameters(), *decoder.parameters()]
    steps, running = configuration["steps"], 0.0
    optimizer = torch.optim.Adam(parameters, LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps, pct_start=0.1)
    for step in range(1, steps + 1):
        x = torch.from_numpy(patches.batch(BATCH))
        y = decoder(transmit(encoder(x), rng.uniform(*SNR_RANGE_DB, BATCH), channel, rng))
        loss = ((x - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % 250 == 0:
            rows = measure(encoder, decoder, validation, channel, SEEDS["validation"], 4)
            curve.append({"candidate": name, "step": step, "training_mse": f"{running / 250:.6f}",
                          "validation_psnr_db": f"{np.mean([row['psnr_db'] for row in rows]):.4f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return halve(encoder), halve(decoder)


def main(channel, package):
    training = package / "training"
    (training / "candidates").mkdir(parents=True, exist_ok=True)
    validation, test = (centre(photographs(split)[0], 256) for split in ("validation", "test"))
    curve, results, models = [], {}, {}
    for name, configuration in CANDIDATES.items():
        models[name] = encoder, decoder = train(name, configuration, channel, curve, validation)
        rows = measure(encoder, decoder, validation, channel, SEEDS["validation"], 32)
        results[name] = float(np.mean([row["psnr_db"] for row in rows]))
        for role, model in (("encoder", encoder), ("decoder", decoder)):
            (training / "candidates" / f"{name}.{role}.onnx").write_bytes(model.to_onnx())
        write_json(training / "candidates" / f"{name}.json",
                   {"candidate": name, "configuration": configuration, "channel": channel, "seeds": SEEDS, "batch": BATCH,
                    "patch": PATCH, "learning_rate": LEARNING_RATE, "snr_range_db": SNR_RANGE_DB,
                    "symbol_channels": SYMBOL_CHANNELS})
        write_curve(training / "loss_curve.csv", curve)
    selected = max(sorted(results), key=results.get)
    print("selected", selected, results, flush=True)
    encoder, decoder = models[selected]
    (package / "encoder.onnx").write_bytes(encoder.to_onnx())
    (package / "decoder.onnx").write_bytes(decoder.to_onnx())
    x = torch.from_numpy(np.ascontiguousarray(test[96:112, 96:112].transpose(2, 0, 1)[None]))
    with torch.no_grad():
        symbols = encoder(x)
        write_reference(training / "reference.encoder.json", {"images": x}, {"symbols_ri": symbols})
        write_reference(training / "reference.decoder.json", {"symbols_ri": symbols}, {"reconstruction": decoder(symbols)})
    write_json(training / "evaluation.json", {
        "objective": "mean PSNR in dB of the validation photograph over the SNR grid", "channel": channel,
        "selected": selected, "candidates": results, "population_sha256": digest(validation),
        "parameters": {"encoder": sum(p.numel() for p in encoder.parameters()),
                       "decoder": sum(p.numel() for p in decoder.parameters())},
        "validation": measure(encoder, decoder, validation, channel, SEEDS["validation"], 32),
        "test": measure(encoder, decoder, test, channel, SEEDS["evaluation"], 32),
    })


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
