"""The mean-scale hyperprior of svc_tiny_hyperprior_high: a lapped transform with as many latents as samples, so that its
PSNR has no ceiling, and hyper networks as in svc_tiny_hyperprior. One set of weights for every quality.

    analysis         image [batch, 3, H, W] in [0, 1], step [1]  -> latents y [batch, 192, H/8, W/8], in units of the step
    hyper_analysis   y                                           -> hyper latents z [batch, 32, H/16, W/16]
    hyper_synthesis  rounded z, step                             -> mean and log_scale of y, of y's shape
    synthesis        decoded y, step                             -> image

What is sent is round(z) and round(y - mean). H and W are multiples of 16.

The transform starts as Malvar's lapped orthogonal transform (16 samples, 8 coefficients) of rows and columns, times the
Karhunen-Loève transform of the colours over the training photographs; it is exact before quantisation. At the edges the
image continues as its mirror image. Every function of the basis is even or odd, so the latents of a mirrored block are
those of its neighbour inside, with the sign of the function. A small network behind the inverse transform removes
quantisation noise.

Sources: network.py of svc-tiny-hyperprior-v1; Malvar and Staelin, The LOT: Transform Coding Without Blocking Effects, IEEE
Trans. ASSP 37(4), 1989, with the optimal rotation as eigenvectors.
"""

import numpy as np
import torch
from network import HYPER, UNIT, LogisticMixture, leaky, level
from network import Codec as Hyperprior
from torch import nn
from torch.nn import functional as F

LATENTS, REDUCTION, SUPPORT = 192, 8, 16


def lapped_basis() -> np.ndarray:
    """The lapped orthogonal transform as 8 rows of 16; even rows are even functions, odd rows are odd."""
    n = REDUCTION
    k, at = np.arange(n)[:, None], np.arange(n)[None]
    dct = np.sqrt(2 / n) * np.cos(np.pi * (2 * at + 1) * k / (2 * n))
    dct[0] /= np.sqrt(2)
    even, odd = dct[0::2], dct[1::2]
    upper = 0.5 * np.hstack([even - odd, (even - odd)[:, ::-1]])
    lower = 0.5 * np.hstack([even - odd, -(even - odd)[:, ::-1]])
    lag = np.abs(np.subtract.outer(np.arange(SUPPORT), np.arange(SUPPORT)))
    rows = []
    for part in (upper, lower):
        values, vectors = np.linalg.eigh(part @ 0.95 ** lag @ part.T)
        rows.append(vectors[:, ::-1].T @ part)
    return np.stack(rows, 1).reshape(n, SUPPORT)


def parity() -> torch.Tensor:
    """Sign of each latent under a mirror of rows and of columns, [2, 1, 192, 1, 1]."""
    sign = np.where(np.arange(REDUCTION) % 2 == 0, 1.0, -1.0)
    rows = np.broadcast_to(sign[None, :, None], (3, REDUCTION, REDUCTION)).reshape(1, LATENTS, 1, 1)
    columns = np.broadcast_to(sign[None, None, :], (3, REDUCTION, REDUCTION)).reshape(1, LATENTS, 1, 1)
    return torch.from_numpy(np.stack([rows, columns])).float()


def mirrored(x, axis, width):
    """x with `width` samples of its mirror image at both ends of an axis."""
    first, last = x.narrow(axis, 0, width).flip(axis), x.narrow(axis, x.shape[axis] - width, width).flip(axis)
    return torch.cat([first, x, last], axis)


class Analysis(nn.Module):
    def __init__(self):
        super().__init__()
        self.lapped = nn.Conv2d(3, LATENTS, SUPPORT, REDUCTION)

    def forward(self, image, step):
        x = (image - 0.5) * (255 / UNIT)
        x = mirrored(mirrored(x, 2, REDUCTION // 2), 3, REDUCTION // 2)
        return self.lapped(x) / step


class Synthesis(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("parity", parity(), persistent=False)
        self.lapped = nn.ConvTranspose2d(LATENTS, 3, SUPPORT, REDUCTION, SUPPORT - REDUCTION // 2)
        self.entry = nn.Conv2d(LATENTS, 48, 1)
        self.up = nn.ConvTranspose2d(48, 20, 4, 4)
        self.join = nn.Conv2d(20 + 12 + 1, 32, 3, padding=1)
        self.mix = nn.Conv2d(32, 32, 3, padding=1)
        self.exit = nn.Conv2d(32, 12, 3, padding=1)

    def forward(self, y, step):
        y = y * step
        wide = y
        for axis in (2, 3):
            sign, size = self.parity[axis - 2], wide.shape[axis]
            wide = torch.cat([wide.narrow(axis, 0, 1) * sign, wide, wide.narrow(axis, size - 1, 1) * sign], axis)
        x = self.lapped(wide)
        hidden = leaky(self.up(leaky(self.entry(y))))
        hidden = leaky(self.join(torch.cat([hidden, F.pixel_unshuffle(x, 2), level(step, hidden)], 1)))
        hidden = hidden + leaky(self.mix(hidden))
        return (x + F.pixel_shuffle(self.exit(hidden), 2)) * (UNIT / 255) + 0.5


class HyperAnalysis(nn.Module):
    """Sees signed and unsigned logarithms: scales of latents extend over three decades."""

    def __init__(self):
        super().__init__()
        self.entry = nn.Conv2d(2 * LATENTS, 96, 1)
        self.down = nn.Conv2d(96, 64, 5, 2, 2)
        self.exit = nn.Conv2d(64, HYPER, 1)

    def forward(self, y):
        size = torch.log(y.abs() + 1)
        return self.exit(leaky(self.down(leaky(self.entry(torch.cat([size, size * torch.sign(y)], 1))))))


class HyperSynthesis(nn.Module):
    """Mean and scale in units of 64 grey values, divided by the step at the end."""

    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(HYPER + 1, 96, 4, 2, 1)
        self.mix = nn.Conv2d(96, 96, 3, padding=1)
        self.exit = nn.Conv2d(96, 2 * LATENTS, 1)

    def forward(self, z, step):
        hidden = leaky(self.up(torch.cat([z, level(step, z)], 1)))
        mean, log_scale = self.exit(leaky(self.mix(hidden))).chunk(2, 1)
        return mean / step, log_scale - torch.log(step)


class Codec(Hyperprior):
    """The codec of svc_tiny_hyperprior with other networks: rate, rounding and the ladder of steps are the same."""

    def __init__(self):
        nn.Module.__init__(self)
        self.analysis, self.synthesis = Analysis(), Synthesis()
        self.hyper_analysis, self.hyper_synthesis, self.prior = HyperAnalysis(), HyperSynthesis(), LogisticMixture()
        self.ladder = nn.Parameter(torch.tensor([float(np.log((3 / 0.1155) ** 0.5 / UNIT)) - 0.3, -0.5, 0.0]))

    @torch.no_grad()
    def start(self, images):
        """Starts as the exact transform, with the scales of its latents over images [n, 3, H, W]."""
        colours = (images - 0.5).permute(1, 0, 2, 3).reshape(3, -1).numpy().astype(np.float64)
        _, vectors = np.linalg.eigh(np.cov(colours))
        line = lapped_basis()
        basis = np.einsum("ck,um,vn->cuvkmn", vectors[:, ::-1].T, line, line).reshape(LATENTS, 3, SUPPORT, SUPPORT)
        for part in (self.analysis, self.synthesis):
            part.lapped.weight.copy_(torch.from_numpy(basis))
            part.lapped.bias.zero_()
        self.synthesis.exit.weight.mul_(0.1)
        self.synthesis.exit.bias.zero_()
        latents = self.analysis(images, torch.ones(1))
        last = self.hyper_synthesis.exit
        last.weight[:LATENTS].mul_(0.1)
        last.weight[LATENTS:].mul_(0.5)
        last.bias[:LATENTS].zero_()
        last.bias[LATENTS:].copy_(torch.log(latents.abs().mean((0, 2, 3)).clamp(min=1e-3)))
