"""Trains svc_tiny_hyperprior (networks and sources: network.py).

The loss is bits per pixel + multiplier · mean squared error on 0 … 255. A batch draws its multiplier log-uniformly from
0.0009 … 0.09; the quantisation step follows it along a learned quadratic in its logarithm. Qualities 1 … 8 are multipliers
0.0012 · 1.82^(quality - 1). The rule takes the candidate with the smallest mean loss of the validation photograph over the
eight qualities, at the checkpoint where that was smallest; ties go to the first name. A restart is a second stage of its
candidate.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-hyperprior-v1/training/train.py <folder for checkpoints> [candidate …]

Data: crops of the train split of svc_sample_images at three sizes, and synthetic dead leaves (../../training/pictures.py),
half and half. `export.py` writes the ONNX files of the candidates.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "training")]
from network import UNIT, Codec  # noqa: E402
from pictures import Patches, photographs, psnr  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 61, "restart": 62}
BATCH, PATCH, LEARNING_RATE, LINEAR_LEARNING_RATE = 8, 128, 1e-3, 2e-4
MULTIPLIERS = (0.0009, 0.09)
CANDIDATES = {
    "linear_blocks": {"learned": False, "steps": 2500},
    "convolutional": {"learned": True, "steps": 9000, "restart": {"steps": 5500, "rate": 0.6}},
}


def quality_multiplier(quality: int) -> float:
    return 0.0012 * 1.82 ** (quality - 1)


class CodecPatches(Patches):
    """The training pictures with colours mostly as they are: a codec lives on how the channels hang together."""

    def __init__(self, seed, size):
        super().__init__(seed, size)
        for picture in photographs("train"):
            height, width = picture.shape[:2]
            small = Image.fromarray(np.round(picture * 255).astype(np.uint8)).resize(
                (int(width * 0.7), int(height * 0.7)), Image.Resampling.BICUBIC)
            self.photographs.append(np.asarray(small, np.float32) / 255)

    def patch(self, real):
        rng, size = self.rng, self.size
        source = self.photographs if real else self.synthetic
        picture = source[int(rng.integers(len(source)))]
        for _ in range(3):
            top, left = (int(rng.integers(0, extent - size + 1)) for extent in picture.shape[:2])
            patch = picture[top:top + size, left:left + size]
            if patch.std() > 0.02:
                break
        patch = np.rot90(patch, int(rng.integers(4)))
        if rng.random() < 0.5:
            patch = patch[:, ::-1]
        if rng.random() < 0.3:
            patch = patch[..., rng.permutation(3)]
        saturation = 0.0 if rng.random() < 0.15 else rng.uniform(0.4, 1.2)
        grey = patch.mean(-1, keepdims=True)
        patch = grey + saturation * (patch - grey)
        patch = (patch - 0.5) * rng.uniform(0.6, 1.3) + 0.5 + rng.uniform(-0.15, 0.15)
        return np.clip(patch, 0, 1).transpose(2, 0, 1).astype(np.float32)


def tensor(picture):
    return torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1)[None]))


def measure(codec, picture):
    """Rate, PSNR and loss of a picture at every quality; what was padded to reach multiples of 32 counts as sent."""
    height, width = picture.shape[:2]
    padded = np.pad(picture, ((0, -height % 32), (0, -width % 32), (0, 0)), mode="edge")
    rows = []
    for quality in range(1, 9):
        multiplier = quality_multiplier(quality)
        image, bits, hyper_bits = codec.code(tensor(padded), codec.step(torch.tensor(multiplier)))
        grow = padded.shape[0] * padded.shape[1] / (height * width)
        image = image[..., :height, :width].numpy()
        rate, value = (bits + hyper_bits) * grow, psnr(tensor(picture).numpy(), image)
        loss = rate + multiplier * 255 ** 2 * 10 ** (-value / 10)
        rows.append({"quality": quality, "bpp": rate, "hyper_bpp": hyper_bits * grow, "psnr_db": value, "loss": loss})
    return rows


def stages(name):
    """Name and configuration of every stage: a restart begins with the best weights so far and a fresh optimizer."""
    configuration = {key: value for key, value in CANDIDATES[name].items() if key != "restart"}
    found = [(name, configuration)]
    if "restart" in CANDIDATES[name]:
        found.append((f"{name}_restarted", {**configuration, **CANDIDATES[name]["restart"], "start": name}))
    return found


def train(name, configuration, folder, validation):
    torch.manual_seed(SEEDS["training"])
    rng, patches = np.random.default_rng(SEEDS["training"]), CodecPatches(SEEDS["training"], PATCH)
    codec = Codec(configuration["learned"])
    start = np.concatenate([patches.batch(BATCH) for _ in range(60)])
    blocks = torch.nn.functional.pixel_unshuffle((torch.from_numpy(start) - 0.5) * (255 / UNIT), 16)
    codec.start(blocks.permute(0, 2, 3, 1).reshape(-1, blocks.shape[1]).numpy().astype(np.float64),
                codec.step(torch.tensor(0.01)).item())
    linear = [codec.analysis.linear.weight, codec.synthesis.linear.weight]
    others = [p for p in codec.parameters() if all(p is not q for q in linear)]
    optimizer = torch.optim.Adam([{"params": others, "lr": LEARNING_RATE}, {"params": linear, "lr": LINEAR_LEARNING_RATE}])
    if "start" in configuration:
        codec.load_state_dict(torch.load(folder / f"{configuration['start']}.best.pt", weights_only=False)["codec"])
        rng, patches.rng = (np.random.default_rng(SEEDS["restart"]) for _ in range(2))
    steps, first, best, curve, running = configuration["steps"], 0, np.inf, [], 0.0
    rate = configuration.get("rate", 1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: rate * min(1, (i + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * min(1, i / steps)))))
    last = folder / f"{name}.last.pt"
    if last.exists():
        saved = torch.load(last, weights_only=False)
        codec.load_state_dict(saved["codec"]), optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        first, best, curve = saved["step"], saved["best"], saved["curve"]
        rng, patches.rng = saved["rng"], saved["patches"]
        torch.set_rng_state(saved["torch"])
    began = time.time()
    for step in range(first + 1, steps + 1):
        image = torch.from_numpy(patches.batch(BATCH))
        multiplier = float(np.exp(rng.uniform(*np.log(MULTIPLIERS))))
        decoded, bits, hyper_bits = codec(image, codec.step(torch.tensor(multiplier)))
        distortion = multiplier * 255 ** 2 * ((image - decoded) ** 2).mean()
        loss = bits + hyper_bits + distortion
        optimizer.zero_grad()
        # Rate and distortion grow with the multiplier; its square root keeps low rates from being drowned.
        (loss / (multiplier / 0.01) ** 0.5).backward()
        torch.nn.utils.clip_grad_norm_(codec.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % 250 == 0:
            rows = measure(codec, validation)
            value = float(np.mean([row["loss"] for row in rows]))
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / 250:.5f}",
                          "validation_loss": f"{value:.5f}"})
            running = 0.0
            print(curve[-1], f"{(time.time() - began) / (step - first):.3f} s/step",
                  *(f"{row['bpp']:.3f}({row['hyper_bpp']:.3f})/{row['psnr_db']:.2f}" for row in rows), flush=True)
            if value < best:
                best = value
                torch.save({"codec": codec.state_dict(), "step": step, "curve": curve}, folder / f"{name}.best.pt")
            torch.save({"codec": codec.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
                        "step": step, "best": best, "curve": curve, "rng": rng, "patches": patches.rng,
                        "torch": torch.get_rng_state()}, last)


def main(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    validation = photographs("validation")[0]
    for name in names or CANDIDATES:
        for stage, configuration in stages(name):
            train(stage, configuration, folder, validation)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
