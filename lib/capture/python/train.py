"""Trains the networks of the exported blocks through the frozen graph, and exports them as ONNX files ready to package.

    python3 train.py --epochs 1            # a first run, within a minute
    python3 train.py --epochs 50 --patience 5
    python3 train.py --resume --epochs 100
    python3 train.py --images FOLDER       # crops of images in place of a captured image source
    svc artifact package package

The networks are those of networks.py, which is yours to change. Data are drawn by the twins of the sources, are crops of the
images in a folder (--images), or come from the captured splits in data/ (--data shards). The weights of the best validation
loss are exported. Written: curve.csv, curve.png, checkpoint.pt, package/. Needs Python 3.9 or later, NumPy and PyTorch; uses a
GPU where there is one.
"""

import argparse
import csv
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import torch

from interfaces import BLOCKS, ROOT, TAPS, Records, export_onnx, inputs_of
from networks import build, open_sizes
from scenario import batch_of, scenario
from twins import Signal

#: What a batch must give that is a source of images
IMAGE_TAPS = [name for name, tap in TAPS.items() if tap["kind"] == "image.batch.numpy"]


def options():
    parser = argparse.ArgumentParser(description="Train the blocks of this project through its link")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=40, help="updates of an epoch with drawn data")
    parser.add_argument("--bits", type=int, default=8192, help="bits of an update with drawn bits, rounded up to a frame")
    parser.add_argument("--batch", type=int, default=64, help="records of an update with captured data")
    parser.add_argument("--data", choices=["drawn", "shards"], default="drawn" if scenario.drawn else "shards")
    parser.add_argument("--images", type=Path, help="folder of images to crop: PNG and JPEG with Pillow, or NPY uint8 [h, w, 3]")
    parser.add_argument("--crop", type=int, default=64, help="side of a crop in pixels")
    parser.add_argument("--vary", action="append", default=[], metavar="STEP.PARAM=LOW:HIGH",
                        help="parameter that each update draws uniformly, such as wireless_channel.snr_db=0:20")
    parser.add_argument("--loss", help="name of a loss of an evaluation; default its first one")
    parser.add_argument("--loss-step", help="step id of that evaluation; default the first one with such a loss")
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--patience", type=int, default=10, help="epochs without a better validation loss before it stops")
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--threads", type=int, default=0, help="threads of PyTorch; 0 leaves its own choice")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--resume", action="store_true", help="continue from checkpoint.pt")
    parser.add_argument("--out", type=Path, default=ROOT)
    chosen = parser.parse_args()
    if min(chosen.epochs, chosen.steps, chosen.bits, chosen.batch) < 1:
        parser.error("--epochs, --steps, --bits and --batch are at least 1")
    try:
        torch.empty(0, device=chosen.device)
    except (RuntimeError, AssertionError) as reason:
        parser.error(f"--device {chosen.device}: {reason}")
    return chosen


class ImageFolder:
    """Random crops of the images in a folder. Every tenth image by name is for validation only."""

    def __init__(self, folder, crop):
        if not IMAGE_TAPS or {TAPS[name]["from"] for name in IMAGE_TAPS} != set(scenario.required):
            needs = f"takes {', '.join(scenario.required)}" if scenario.required else "draws its data"
            raise SystemExit(f"--images replaces an image source, and this link {needs}")
        paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".png", ".jpg", ".jpeg", ".npy"))
        large = [array for array in map(self.read, paths) if min(array.shape[:2]) >= crop]
        if len(large) < 2:
            raise SystemExit(f"{folder} has {len(large)} images of at least {crop} x {crop} pixels: training needs 2")
        self.crop = crop
        self.images = {"validation": large[::10], "train": [array for i, array in enumerate(large) if i % 10]}

    @staticmethod
    def read(path):
        if path.suffix == ".npy":
            return np.load(path)
        try:
            from PIL import Image
        except ModuleNotFoundError:
            raise SystemExit(f"{path}: Pillow reads PNG and JPEG files, and is not installed (python3 -m pip install pillow)") from None

        return np.asarray(Image.open(path).convert("RGB"))

    def batch(self, split, count, rng):
        def one():
            array = self.images[split][rng.integers(len(self.images[split]))]
            y, x = (rng.integers(size - self.crop + 1) for size in array.shape[:2])
            crop = array[y : y + self.crop, x : x + self.crop]
            return crop[:, ::-1] if rng.integers(2) else crop

        images = torch.from_numpy(np.stack([one() for _ in range(count)]))
        return {name: Signal(images, {"image_dtype": "uint8"}) for name in IMAGE_TAPS}


class Trainer:
    def __init__(self, chosen):
        self.chosen, self.device = chosen, torch.device(chosen.device)
        self.images = ImageFolder(chosen.images, chosen.crop) if chosen.images else None
        self.varied = [self.read_varied(text) for text in chosen.vary]
        torch.manual_seed(chosen.seed)
        self.networks = {step: build(step).to(self.device) for step in BLOCKS}
        self.rng = np.random.default_rng(chosen.seed)
        self.noise = torch.Generator().manual_seed(chosen.seed + 1)
        # The first pass gives the networks their sizes.
        with torch.no_grad():
            first = self.forward(next(self.batches("validation")), torch.Generator().manual_seed(chosen.seed))
        try:
            self.loss(first)
        except ValueError as reason:
            raise SystemExit(str(reason)) from None
        print(f"{self.parameters()} parameters on {chosen.device}; losses: {first.losses()}")
        for step, reason in first.left_out.items():
            print(f"left out: {step}: {reason}")
        self.optimizer = torch.optim.Adam(
            [p for network in self.networks.values() for p in network.parameters()], lr=chosen.learning_rate
        )
        self.state = {"epoch": 0, "best": float("inf"), "best_epoch": 0, "rows": []}
        self.best = self.weights()

    @staticmethod
    def read_varied(text):
        reference, _, limits = text.partition("=")
        step, _, name = reference.partition(".")
        params = scenario.steps.get(step, {"params": {}})["params"]
        if not isinstance(params.get(name), (int, float)):
            raise SystemExit(f"--vary {text}: the link has no number {reference}")
        try:
            low, high = (float(limit) for limit in limits.split(":"))
        except ValueError:
            raise SystemExit(f"--vary {text}: write the range as LOW:HIGH, such as 0:20") from None
        return params, name, low, high

    def vary(self, share):
        """Sets the varied parameters to a share of their range: random ones in training, the same ones in every validation."""
        for params, name, low, high in self.varied:
            params[name] = low + (high - low) * (self.rng.random() if share is None else share)

    def parameters(self):
        return sum(p.numel() for network in self.networks.values() for p in network.parameters())

    def weights(self):
        return {step: {k: v.detach().cpu().clone() for k, v in n.state_dict().items()} for step, n in self.networks.items()}

    def batches(self, split):
        """Batches of an epoch; validation is the same every time."""
        if self.images or self.chosen.data == "drawn":
            rng = self.rng if split == "train" else np.random.default_rng(self.chosen.seed)
            for _ in range(self.chosen.steps if split == "train" else max(1, self.chosen.steps // 8)):
                yield self.images.batch(split, self.chosen.batch, rng) if self.images else {}
            return
        try:
            records = Records(split)
        except FileNotFoundError as reason:
            raise SystemExit(str(reason)) from None
        for arrays in records.batches(self.chosen.batch, self.rng if split == "train" else None):
            yield batch_of(arrays, records.schema["tap_schemas"])

    def forward(self, batch, generator):
        return scenario.forward(self.networks, batch, generator, self.device)

    def loss(self, result):
        return result.loss(self.chosen.loss, self.chosen.loss_step)

    def epoch(self):
        total, count = 0.0, 0
        for network in self.networks.values():
            network.train()
        for batch in self.batches("train"):
            self.vary(None)
            self.optimizer.zero_grad()
            loss = self.loss(self.forward(batch, self.noise))
            if not torch.isfinite(loss):
                raise SystemExit(f"the loss is {loss.item()}: lower --learning-rate, or check the data")
            loss.backward()
            torch.nn.utils.clip_grad_norm_([p for n in self.networks.values() for p in n.parameters()], 10.0)
            self.optimizer.step()
            total, count = total + loss.item(), count + 1
        return total / count

    def validate(self):
        """Loss and metrics, with the same noise every time."""
        losses, metrics, noise = [], [], torch.Generator().manual_seed(self.chosen.seed + 2)
        for network in self.networks.values():
            network.eval()
        with torch.no_grad():
            for i, batch in enumerate(self.batches("validation")):
                # Multiples of the golden ratio fill the range evenly for any number of batches.
                self.vary(0.618034 * (i + 0.5) % 1)
                result = self.forward(batch, noise)
                losses.append(self.loss(result).item())
                metrics.append(result.metrics())
        return float(np.mean(losses)), {name: float(np.mean([m[name] for m in metrics])) for name in metrics[0]}

    def run(self):
        chosen, state = self.chosen, self.state
        while state["epoch"] < chosen.epochs:
            started = time.monotonic()
            train = self.epoch()
            valid, metrics = self.validate()
            state["epoch"] += 1
            if valid < state["best"]:
                state["best"], state["best_epoch"], self.best = valid, state["epoch"], self.weights()
            state["rows"].append({"epoch": state["epoch"], "train_loss": train, "validation_loss": valid, **metrics})
            self.save()
            shown = "  ".join(f"{name} {value:.4g}" for name, value in metrics.items())
            print(f"epoch {state['epoch']}  train {train:.5g}  validation {valid:.5g}  {shown}  {time.monotonic() - started:.1f} s")
            if state["epoch"] - state["best_epoch"] >= chosen.patience:
                print(f"stopped: no better validation loss for {chosen.patience} epochs")
                break

    def save(self):
        out, rows = self.chosen.out, self.state["rows"]
        out.mkdir(parents=True, exist_ok=True)
        torch.save(
            {
                "state": self.state,
                "networks": self.weights(),
                "best": self.best,
                "optimizer": self.optimizer.state_dict(),
                "noise": self.noise.get_state(),
                "rng": self.rng.bit_generator.state,
            },
            out / "checkpoint.pt",
        )
        with open(out / "curve.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        curves = {name: [row[name.replace(" ", "_")] for row in rows] for name in ("train loss", "validation loss")}
        (out / "curve.png").write_bytes(chart(curves))

    def restore(self):
        path = self.chosen.out / "checkpoint.pt"
        if not path.exists():
            raise SystemExit(f"{path} does not exist: train without --resume first")
        saved = torch.load(path, weights_only=True)
        self.state, self.best = saved["state"], saved["best"]
        for step, network in self.networks.items():
            network.load_state_dict(saved["networks"][step])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.noise.set_state(saved["noise"])
        self.rng.bit_generator.state = saved["rng"]

    def export(self):
        """ONNX files with the best weights, compared on inputs of the validation data, in package/."""
        feeds, hooks = {}, []
        for step, network in self.networks.items():
            network.load_state_dict(self.best[step])
            network.to("cpu").eval()
            names = list(inputs_of(step, network))

            def keep(_, given, step=step, names=names):
                feeds[step] = dict(zip(names, given))

            hooks.append(network.register_forward_pre_hook(keep))
        with torch.no_grad():
            batch = next(self.batches("validation"))
            scenario.forward(self.networks, batch, torch.Generator().manual_seed(self.chosen.seed + 3))
        for hook in hooks:
            hook.remove()
        paths = []
        for step, network in self.networks.items():
            inputs = {name: tensor[:16].numpy() for name, tensor in feeds[step].items()}
            shapes = {name: BLOCKS[step]["inputs"][name]["shape"] for name in inputs}
            sizes = {n: size for name in inputs for n, size in zip(shapes[name], inputs[name].shape) if isinstance(n, str)}
            paths.append(export_onnx(network, step, {**sizes, **network.sizes}, self.chosen.out, inputs=inputs, open_sizes=open_sizes(step)))
        command = [sys.executable, str(ROOT / "package_artifact.py"), *map(str, paths), "--out", str(self.chosen.out / "package")]
        subprocess.run(command, check=True)


#: Glyphs of 3 x 5 pixels: an octal digit is a row.
GLYPHS = dict(zip("0123456789.-+acdehilnoprstv", """
75557 26227 71747 71717 55711 74717 74757 71111 75757 75717 00002 00700 02720 03553
03443 13553 07743 46555 20222 62227 06555 02552 06564 06544 03636 27223 05552
""".split()))


def write(image, text, x, y):
    """Writes text with the upper left corner at x, y; each pixel of a glyph is 2 x 2."""
    for character in text:
        for row, digit in enumerate(GLYPHS.get(character, "00000")):
            for column in range(3):
                if int(digit) & 4 >> column:
                    image[y + 2 * row : y + 2 * row + 2, x + 2 * column : x + 2 * column + 2] = 60
        x += 8


def chart(curves, width=640, height=360):
    """A PNG file of curves over their epochs: the first one grey, the second one blue. An epoch alone is a mark."""
    image = np.full((height, width, 3), 255, np.uint8)
    left, right, top, bottom = 84, width - 24, 36, height - 44
    image[[top, bottom], left:right] = image[top:bottom, [left, right]] = 200
    epochs = np.arange(1, max(map(len, curves.values())) + 1)
    low, high = min(map(min, curves.values())), max(map(max, curves.values()))
    x_of = lambda epoch: (left + 12 + (epoch - 1) / max(len(epochs) - 1, 1) * (right - left - 24)).astype(int)
    y_of = lambda loss: (bottom - 12 - (loss - low) / max(high - low, 1e-30) * (bottom - top - 24)).astype(int)
    for loss in np.linspace(low, high, 5):
        write(image, f"{loss:.3g}".rjust(9), 4, y_of(loss) - 4)
        image[y_of(loss), left - 5 : left] = 120
    for epoch in np.unique(np.linspace(1, len(epochs), 5).astype(int)):
        write(image, str(epoch), x_of(epoch) - 4, bottom + 10)
        image[bottom : bottom + 5, x_of(epoch)] = 120
    write(image, "epoch", (left + right) // 2 - 20, bottom + 26)
    for at, (name, curve) in enumerate(curves.items()):
        colour = [(150, 150, 150), (20, 90, 200)][at]
        write(image, name, left + 30 + 200 * at, 14)
        image[17:21, left + 200 * at : left + 22 + 200 * at] = colour
        fine = np.linspace(1, len(curve), 4 * width)
        x, y = x_of(fine), y_of(np.interp(fine, epochs, curve))
        reach = 2 if len(curve) == 1 else 1
        for shift in np.ndindex(2 * reach, 2 * reach):
            image[y + shift[0] - reach, x + shift[1] - reach] = colour
    lines = b"".join(b"\0" + row.tobytes() for row in image)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def main():
    chosen = options()
    if chosen.threads > 0:
        torch.set_num_threads(chosen.threads)
    scenario.shorten(chosen.bits)
    trainer = Trainer(chosen)
    if chosen.resume:
        trainer.restore()
    trainer.run()
    trainer.export()


if __name__ == "__main__":
    main()
