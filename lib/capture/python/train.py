"""Trains the networks of the exported blocks through the frozen graph, and exports them as ONNX files ready to package.

    python3 train.py --epochs 1            # a first run, within a minute
    python3 train.py --epochs 50 --patience 5
    python3 train.py --resume --epochs 100
    python3 train.py --images FOLDER       # crops of pictures in place of a captured image source
    svc artifact package package

The networks are those of networks.py, which is yours to change. Data are drawn by the twins of the sources, are crops of the
pictures in a folder (--images), or come from the captured splits in data/ (--data shards). The best validation loss counts. Written: curve.csv, curve.png, checkpoint.pt,
package/. Needs Python 3.9 or later, NumPy and PyTorch; uses a GPU where there is one.
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
    parser.add_argument("--images", type=Path, help="folder of pictures to crop: PNG and JPEG with Pillow, or NPY uint8 [h, w, 3]")
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
    return parser.parse_args()


class Pictures:
    """Random crops of the pictures in a folder. Every tenth picture by name is for validation alone."""

    def __init__(self, folder, crop):
        if not IMAGE_TAPS or {TAPS[name]["from"] for name in IMAGE_TAPS} != set(scenario.required):
            raise SystemExit(f"--images gives images alone, the link needs {', '.join(scenario.required) or 'no data'}")
        paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".png", ".jpg", ".jpeg", ".npy"))
        large = [array for array in map(self.read, paths) if min(array.shape[:2]) >= crop]
        if len(large) < 2:
            raise SystemExit(f"{folder} has {len(large)} pictures of at least {crop} x {crop} pixels: training needs 2")
        self.crop = crop
        self.pictures = {"validation": large[::10], "train": [array for i, array in enumerate(large) if i % 10]}

    @staticmethod
    def read(path):
        if path.suffix == ".npy":
            return np.load(path)
        from PIL import Image

        return np.asarray(Image.open(path).convert("RGB"))

    def batch(self, split, count, rng):
        def one():
            array = self.pictures[split][rng.integers(len(self.pictures[split]))]
            y, x = (rng.integers(size - self.crop + 1) for size in array.shape[:2])
            crop = array[y : y + self.crop, x : x + self.crop]
            return crop[:, ::-1] if rng.integers(2) else crop

        images = torch.from_numpy(np.stack([one() for _ in range(count)]))
        return {name: Signal(images, {"image_dtype": "uint8"}) for name in IMAGE_TAPS}


class Trainer:
    def __init__(self, chosen):
        self.chosen, self.device = chosen, torch.device(chosen.device)
        self.pictures = Pictures(chosen.images, chosen.crop) if chosen.images else None
        self.varied = [self.read_varied(text) for text in chosen.vary]
        torch.manual_seed(chosen.seed)
        self.networks = {step: build(step).to(self.device) for step in BLOCKS}
        self.rng = np.random.default_rng(chosen.seed)
        self.noise = torch.Generator().manual_seed(chosen.seed + 1)
        # The first pass gives the networks their sizes.
        with torch.no_grad():
            first = self.forward(next(self.batches("validation")), torch.Generator().manual_seed(chosen.seed))
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
        low, high = (float(limit) for limit in limits.split(":"))
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
        if self.pictures or self.chosen.data == "drawn":
            rng = self.rng if split == "train" else np.random.default_rng(self.chosen.seed)
            for _ in range(self.chosen.steps if split == "train" else max(1, self.chosen.steps // 8)):
                yield self.pictures.batch(split, self.chosen.batch, rng) if self.pictures else {}
            return
        records = Records(split)
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
        curves = [[row[name] for row in rows] for name in ("train_loss", "validation_loss")]
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


def chart(curves, width=640, height=360):
    """A PNG file of curves over their epochs: the first one grey, the second one blue."""
    image = np.full((height, width, 3), 255, np.uint8)
    values = np.array(curves, float)
    low, high = values.min(), values.max()
    image[[20, height - 20], 20 : width - 20] = image[20 : height - 20, [20, width - 20]] = 200
    for curve, colour in zip(values, [(150, 150, 150), (20, 90, 200)]):
        at = np.linspace(0, len(curve) - 1, 4 * width)
        level = (np.interp(at, np.arange(len(curve)), curve) - low) / max(high - low, 1e-30)
        x = (24 + at / max(len(curve) - 1, 1) * (width - 48)).astype(int)
        y = (height - 24 - level * (height - 48)).astype(int)
        for thickness in (0, 1):
            image[y + thickness, x] = colour
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
