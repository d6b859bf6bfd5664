"""Trains svc_tiny_hyperprior_high (networks and sources: lapped.py).

The loss is bits per pixel + multiplier · mean squared error on 0 … 255. A batch draws its multiplier log-uniformly from
0.004 … 0.3; the quantisation step follows it along a learned quadratic in its logarithm. Qualities 1 … 8 are multipliers
0.005 · 1.7^(quality - 1). The rule takes the checkpoint with the smallest mean loss over the validation photographs and
the eight qualities. It takes five minutes of one processor core.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-hyperprior-high-v1/training/train.py <photographs> <checkpoints>

Data: the train and validation splits of ../../deepjscc-film-v1/training/photographs.tsv, photographs of Debian packages,
which photographs.py there fetches into the first folder. The test photographs of recipes/photographs are not among them.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
MODELS = HERE.parents[1]
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path[:0] = [str(folder) for folder in (
    HERE, MODELS / "svc-tiny-hyperprior-v1" / "training", MODELS / "training", MODELS / "deepjscc-film-v1" / "training")]
import photographs  # noqa: E402
from lapped import Codec  # noqa: E402
from pictures import centre, psnr  # noqa: E402

torch.set_num_threads(1)
BATCH, PATCH, LEARNING_RATE, LAPPED_LEARNING_RATE = 8, 96, 1e-3, 1e-4
MULTIPLIERS = (0.004, 0.3)
QUALITIES = range(1, 9)
EVERY = 250
STEPS, SEEDS = 2000, {"start": 70, "training": 71}


def quality_multiplier(quality: int) -> float:
    return 0.005 * 1.7 ** (quality - 1)


class Crops:
    """Batches [n, 3, size, size] of crops, turned, mirrored and recoloured mildly at random."""

    def __init__(self, folder: Path):
        self.images = [image for reductions in photographs.load(folder, "train") for image in reductions]

    def batch(self, rng: np.random.Generator, count: int = BATCH) -> torch.Tensor:
        return torch.from_numpy(np.stack([self.crop(rng) for _ in range(count)]))

    def crop(self, rng):
        image = self.images[int(rng.integers(len(self.images)))]
        for _ in range(3):
            top, left = (int(rng.integers(0, extent - PATCH + 1)) for extent in image.shape[:2])
            crop = image[top:top + PATCH, left:left + PATCH].astype(np.float32) / 255
            if crop.std() > 0.03:  # plain sky teaches little
                break
        crop = np.rot90(crop, int(rng.integers(4)))
        if rng.random() < 0.5:
            crop = crop[:, ::-1]
        grey = crop.mean(-1, keepdims=True)
        crop = grey + (0.0 if rng.random() < 0.1 else rng.uniform(0.5, 1.2)) * (crop - grey)
        crop = (crop - 0.5) * rng.uniform(0.7, 1.2) + 0.5 + rng.uniform(-0.1, 0.1)
        return np.ascontiguousarray(np.clip(crop, 0, 1).transpose(2, 0, 1), np.float32)


def validation(folder: Path) -> np.ndarray:
    """The centres [n, 256, 256, 3] of the validation photographs at their smallest reduction, in [0, 1]."""
    found = [centre(reductions[0], 256) for reductions in photographs.load(folder, "validation")]
    return np.stack(found).astype(np.float32) / 255


def tensor(images):
    return torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))


def measure(codec, images) -> list[dict]:
    """Means over images [n, H, W, 3] with sides in multiples of 16: rate, PSNR and loss at every quality."""
    rows = []
    for quality in QUALITIES:
        multiplier, scores = quality_multiplier(quality), []
        for image in images:
            decoded, bits, hyper_bits = codec.code(tensor(image[None]), codec.step(torch.tensor(multiplier)))
            value = psnr(tensor(image[None]).numpy(), decoded.numpy())
            loss = bits + hyper_bits + multiplier * 255 ** 2 * 10 ** (-value / 10)
            scores.append((bits + hyper_bits, hyper_bits, value, loss))
        names = ("bpp", "hyper_bpp", "psnr_db", "loss")
        rows.append({"quality": quality, **dict(zip(names, map(float, np.mean(scores, 0))))})
    return rows


def train(codec, crops, held_out, folder):
    """One cosine schedule; best.pt has the weights of the smallest validation loss, last.pt the whole curve."""
    torch.manual_seed(SEEDS["training"])
    rng, began, running, best, curve = np.random.default_rng(SEEDS["training"]), time.time(), 0.0, np.inf, []
    lapped = [codec.analysis.lapped.weight, codec.synthesis.lapped.weight]
    others = [p for p in codec.parameters() if all(p is not q for q in lapped)]
    optimizer = torch.optim.Adam([{"params": others, "lr": LEARNING_RATE}, {"params": lapped, "lr": LAPPED_LEARNING_RATE}])
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: min(1, (i + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * i / STEPS))))
    for step in range(1, STEPS + 1):
        image = crops.batch(rng)
        multiplier = float(np.exp(rng.uniform(*np.log(MULTIPLIERS))))
        decoded, bits, hyper_bits = codec(image, codec.step(torch.tensor(multiplier)))
        loss = bits + hyper_bits + multiplier * 255 ** 2 * ((image - decoded) ** 2).mean()
        optimizer.zero_grad()
        # Rate and distortion grow with the multiplier; its square root keeps low rates from being drowned.
        (loss / (multiplier / 0.03) ** 0.5).backward()
        torch.nn.utils.clip_grad_norm_(codec.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % EVERY == 0:
            rows = measure(codec, held_out)
            value = float(np.mean([row["loss"] for row in rows]))
            curve.append({"candidate": "lapped", "step": step, "training_loss": f"{running / EVERY:.5f}",
                          "validation_loss": f"{value:.5f}"})
            running = 0.0
            print(curve[-1], f"{(time.time() - began) / step:.3f} s/step",
                  *(f"{row['bpp']:.3f}({row['hyper_bpp']:.3f})/{row['psnr_db']:.2f}" for row in rows), flush=True)
            if value < best:
                best = value
                torch.save({"codec": codec.state_dict(), "step": step}, folder / "best.pt")
            torch.save({"curve": curve}, folder / "last.pt")


def main(data, folder):
    folder.mkdir(parents=True, exist_ok=True)
    crops = Crops(data)
    torch.manual_seed(SEEDS["training"])
    codec = Codec()
    codec.start(crops.batch(np.random.default_rng(SEEDS["start"]), 256))
    train(codec, crops, validation(data), folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
