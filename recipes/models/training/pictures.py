"""Training pictures: crops of the photographs of the train split, and synthetic ones.

The splits are those of recipes/samples/manifest.json: coffee and rocket train, camera validates, chelsea tests. Two
photographs are few, so half of every batch is synthetic: dead leaves (discs and boxes of all sizes, each hiding what lies
below, the simplest model with the edges and the scale invariance of photographs) under 1/f texture.
"""

import json
from pathlib import Path

import numpy as np
from PIL import Image

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def photographs(split: str) -> list[np.ndarray]:
    """The photographs of a split as float32 [H, W, 3] in [0, 1]; grey repeated."""
    manifest = json.loads((SAMPLES / "manifest.json").read_text())
    paths = {sample["sample_id"]: sample["path"] for sample in manifest["samples"]}
    return [np.asarray(Image.open(SAMPLES / paths[name]).convert("RGB"), np.float32) / 255 for name in manifest["splits"][split]]


def centre(picture: np.ndarray, size: int) -> np.ndarray:
    top, left = (picture.shape[0] - size) // 2, (picture.shape[1] - size) // 2
    return picture[top:top + size, left:left + size]


def dead_leaves(rng: np.random.Generator, size: int) -> np.ndarray:
    """One synthetic picture [size, size, 3]: leaves with radii of density r^-3 under a 1/f texture."""
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    base, spread = rng.uniform(0, 1, 3), rng.uniform(0.05, 0.5)
    picture = np.broadcast_to(base, (size, size, 3)).astype(np.float32).copy()
    low, high = 2.0, size / 2
    for _ in range(int(rng.integers(40, 160))):
        radius = (low ** -2 + rng.random() * (high ** -2 - low ** -2)) ** -0.5
        cy, cx = rng.uniform(0, size, 2)
        if rng.random() < 0.6:
            inside = (y - cy) ** 2 + (x - cx) ** 2 < radius ** 2
        else:
            turn, aspect = rng.uniform(0, np.pi), rng.uniform(0.3, 1)
            u, v = (x - cx) * np.cos(turn) + (y - cy) * np.sin(turn), (y - cy) * np.cos(turn) - (x - cx) * np.sin(turn)
            inside = (np.abs(u) < radius) & (np.abs(v) < aspect * radius)
        colour = np.clip(base + spread * rng.standard_normal(3), 0, 1)
        slope = rng.normal(0, 0.15 / radius, 2)
        shade = slope[0] * (y - cy) + slope[1] * (x - cx)
        picture[inside] = (colour + shade[..., None])[inside]
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None])
    frequency[0, 0] = 1
    spectrum = (rng.standard_normal(frequency.shape) + 1j * rng.standard_normal(frequency.shape)) / frequency
    texture = np.fft.irfft2(spectrum, (size, size))
    picture += (rng.uniform(0, 0.08) * texture / texture.std())[..., None]
    return np.clip(picture, 0, 1).astype(np.float32)


class Patches:
    """Batches [n, 3, size, size], half from photographs, half synthetic, turned, mirrored and recoloured at random."""

    def __init__(self, seed: int, size: int, synthetic: int = 192):
        self.rng, self.size = np.random.default_rng(seed), size
        whole = photographs("train")
        halves = [p[: p.shape[0] // 2 * 2, : p.shape[1] // 2 * 2] for p in whole]
        halves = [p.reshape(p.shape[0] // 2, 2, p.shape[1] // 2, 2, 3).mean((1, 3)) for p in halves]
        self.photographs = whole + halves
        self.synthetic = [dead_leaves(self.rng, 2 * size) for _ in range(synthetic)]

    def batch(self, count: int) -> np.ndarray:
        return np.stack([self.patch(i % 2 == 0) for i in range(count)])

    def patch(self, real: bool) -> np.ndarray:
        rng, size = self.rng, self.size
        source = self.photographs if real else self.synthetic
        picture = source[int(rng.integers(len(source)))]
        for _ in range(4):
            top, left = (int(rng.integers(0, extent - size + 1)) for extent in picture.shape[:2])
            patch = picture[top:top + size, left:left + size]
            if patch.std() > 0.03:  # plain sky teaches little
                break
        patch = np.rot90(patch, int(rng.integers(4)))
        if rng.random() < 0.5:
            patch = patch[:, ::-1]
        patch = patch[..., rng.permutation(3)]
        if rng.random() < 0.25:
            patch = np.broadcast_to(patch.mean(-1, keepdims=True), patch.shape)
        patch = (patch - 0.5) * rng.uniform(0.7, 1.2) + 0.5 + rng.uniform(-0.1, 0.1)
        return np.clip(patch, 0, 1).transpose(2, 0, 1).astype(np.float32)


def psnr(reference: np.ndarray, candidate: np.ndarray) -> float:
    """PSNR in dB of two float pictures in [0, 1], after rounding the candidate to 8 bits."""
    rounded = np.round(np.clip(candidate, 0, 1) * 255) / 255
    return float(-10 * np.log10(max(np.mean((reference - rounded) ** 2), 1e-12)))
