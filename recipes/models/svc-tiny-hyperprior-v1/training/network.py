"""The mean-scale hyperprior of svc_tiny_hyperprior: four networks, one set of weights for every quality.

    analysis         image [batch, 3, H, W] in [0, 1], step [1]  -> latents y [batch, 128, H/16, W/16], in units of the step
    hyper_analysis   y                                           -> hyper latents z [batch, 32, H/32, W/32]
    hyper_synthesis  rounded z, step                             -> mean and log_scale of y, of y's shape
    synthesis        decoded y, step                             -> image

What is sent is round(z) and round(y - mean); y is taken as normal about its mean with exp(log_scale), z as a mixture of
logistics per channel. H and W are multiples of 32.

Both transforms are a linear one plus a small convolutional network. The linear one maps 16 x 16 blocks and starts as their
Karhunen-Loève transform over the training pictures, so that training starts from a transform codec and not from nothing;
the network adds what a block cannot see and takes away what blocks leave behind.

Sources: Ballé, Minnen, Singh, Hwang and Johnston, Variational Image Compression with a Scale Hyperprior, 2018; Minnen, Ballé
and Toderici, Joint Autoregressive and Hierarchical Priors for Learned Image Compression, 2018 (the mean); Cui and others,
Asymmetric Gained Deep Image Compression With Continuous Rate Adaptation, 2021 (one network for all rates).
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

LATENTS, HYPER, BLOCK = 128, 32, 16
#: Pixels are centred and counted in units of 64 grey values.
UNIT = 64.0
SCALE_MIN, SCALE_MAX = 0.11, 64.0
SLOPE = 0.1


class LowerBound(torch.autograd.Function):
    """max(x, bound) whose gradient still reaches an x below the bound where it would raise it."""

    @staticmethod
    def forward(ctx, x, bound):
        ctx.save_for_backward(x)
        ctx.bound = bound
        return x.clamp(min=bound)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ((x >= ctx.bound) | (gradient < 0)), None


def leaky(x):
    return F.leaky_relu(x, SLOPE)


def level(step, like):
    """The logarithm of the step as a plane beside the features `like`."""
    return torch.log(step).expand(like.shape[0], 1, like.shape[2], like.shape[3])


class Analysis(nn.Module):
    def __init__(self, learned: bool):
        super().__init__()
        self.learned = learned
        self.linear = nn.Conv2d(3 * BLOCK * BLOCK, LATENTS, 1)
        if learned:
            self.down1 = nn.Conv2d(3, 32, 8, 4, 2)
            self.down2 = nn.Conv2d(33, 48, 5, 2, 2)
            self.down3 = nn.Conv2d(48, LATENTS, 3, 2, 1)

    def forward(self, image, step):
        x = (image - 0.5) * (255 / UNIT)
        y = self.linear(F.pixel_unshuffle(x, BLOCK))
        if self.learned:
            hidden = leaky(self.down1(x))
            hidden = leaky(self.down2(torch.cat([hidden, level(step, hidden)], 1)))
            y = y + self.down3(hidden)
        return y / step


class Synthesis(nn.Module):
    def __init__(self, learned: bool):
        super().__init__()
        self.learned = learned
        self.linear = nn.Conv2d(LATENTS, 3 * BLOCK * BLOCK, 1)
        if learned:
            self.entry = nn.Conv2d(LATENTS, 64, 1)
            self.up1 = nn.ConvTranspose2d(64, 48, 4, 2, 1)
            self.up2 = nn.ConvTranspose2d(48, 32, 4, 2, 1)
            self.join = nn.Conv2d(32 + 48 + 1, 40, 3, padding=1)
            self.mix = nn.Conv2d(40, 40, 3, padding=1)
            self.exit = nn.Conv2d(40, 48, 3, padding=1)

    def forward(self, y, step):
        y = y * step
        x = F.pixel_shuffle(self.linear(y), BLOCK)
        if self.learned:
            hidden = leaky(self.up2(leaky(self.up1(leaky(self.entry(y))))))
            hidden = leaky(self.join(torch.cat([hidden, F.pixel_unshuffle(x, 4), level(step, hidden)], 1)))
            hidden = hidden + leaky(self.mix(hidden))
            x = x + F.pixel_shuffle(self.exit(hidden), 4)
        return x * (UNIT / 255) + 0.5


class HyperAnalysis(nn.Module):
    def __init__(self):
        super().__init__()
        self.entry = nn.Conv2d(LATENTS, 64, 1)
        self.down = nn.Conv2d(64, 48, 5, 2, 2)
        self.exit = nn.Conv2d(48, HYPER, 1)

    def forward(self, y):
        return self.exit(leaky(self.down(leaky(self.entry(y)))))


class HyperSynthesis(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(HYPER + 1, 64, 4, 2, 1)
        self.mix = nn.Conv2d(64, 64, 3, padding=1)
        self.exit = nn.Conv2d(64, 2 * LATENTS, 1)

    def forward(self, z, step):
        hidden = leaky(self.up(torch.cat([z, level(step, z)], 1)))
        mean, log_scale = self.exit(leaky(self.mix(hidden))).chunk(2, 1)
        return mean, log_scale


class LogisticMixture(nn.Module):
    """The prior of z: per channel a mixture of three logistics, integrated over unit bins."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, HYPER))
        self.centre = nn.Parameter(torch.linspace(-1, 1, 3)[:, None].repeat(1, HYPER))
        self.log_width = nn.Parameter(torch.full((3, HYPER), 0.5))

    def forward(self, z):
        shape = (3, 1, HYPER, 1, 1)
        share = torch.softmax(self.weight, 0).view(shape)
        centre, width = self.centre.view(shape), torch.exp(self.log_width).view(shape)
        upper, lower = torch.sigmoid((z + 0.5 - centre) / width), torch.sigmoid((z - 0.5 - centre) / width)
        return (share * (upper - lower)).sum(0)


class Codec(nn.Module):
    def __init__(self, learned: bool):
        super().__init__()
        self.analysis, self.synthesis = Analysis(learned), Synthesis(learned)
        self.hyper_analysis, self.hyper_synthesis, self.prior = HyperAnalysis(), HyperSynthesis(), LogisticMixture()
        #: log step = ladder[0] + ladder[1]·l + ladder[2]·l², l = log of the rate-distortion multiplier.
        self.ladder = nn.Parameter(torch.tensor([float(np.log((3 / 0.1155) ** 0.5 / UNIT)) - 0.3, -0.5, 0.0]))

    def step(self, multiplier):
        logarithm = torch.log(multiplier)
        return torch.exp(self.ladder[0] + self.ladder[1] * logarithm + self.ladder[2] * logarithm ** 2)

    def start(self, blocks, step):
        """Starts from the Karhunen-Loève transform of blocks [n, 768] in units of 64, balanced at a middle step."""
        centre = blocks.mean(0)
        values, vectors = np.linalg.eigh(np.cov((blocks - centre).T))
        basis = np.ascontiguousarray(vectors[:, ::-1][:, :LATENTS].T)
        spread = torch.from_numpy(np.sqrt(values[::-1][:LATENTS])).float() / step
        basis = torch.from_numpy(basis).float()
        with torch.no_grad():
            self.analysis.linear.weight.copy_(basis[:, :, None, None])
            self.analysis.linear.bias.zero_()
            self.synthesis.linear.weight.copy_(basis.T[:, :, None, None])
            self.synthesis.linear.bias.zero_()
            for small in ("down3", "exit"):
                for part in (self.analysis, self.synthesis):
                    if hasattr(part, small):
                        getattr(part, small).weight.mul_(0.1)
                        getattr(part, small).bias.zero_()
            self.hyper_analysis.entry.weight.div_((spread / 4 + 1)[None, :, None, None])
            last = self.hyper_synthesis.exit
            last.weight[:LATENTS].mul_((spread.clamp(min=0.1))[:, None, None, None] * 0.2)
            last.bias[:LATENTS].zero_()
            last.weight[LATENTS:].mul_(0.5)
            last.bias[LATENTS:].copy_(torch.log(spread.clamp(0.1, 30)))

    def forward(self, image, step):
        """Reconstruction and bits per pixel as trained: noise for the rate, straight-through rounding for the picture."""
        y = self.analysis(image, step)
        z = self.hyper_analysis(y)
        pixels = image.shape[0] * image.shape[2] * image.shape[3]
        noise = lambda tensor: torch.empty_like(tensor).uniform_(-0.5, 0.5)
        through = lambda tensor: tensor + (torch.round(tensor) - tensor).detach()
        hyper_bits = -torch.log2(self.prior(z + noise(z)).clamp(min=1e-9)).sum()
        mean, log_scale = self.hyper_synthesis(through(z), step)
        bits = -torch.log2(normal_bin(y - mean + noise(y), log_scale)).sum()
        image_hat = self.synthesis(mean + through(y - mean), step)
        return image_hat, bits / pixels, hyper_bits / pixels

    @torch.no_grad()
    def code(self, image, step):
        """Reconstruction and bits per pixel of what is really sent."""
        y = self.analysis(image, step)
        z = torch.round(self.hyper_analysis(y))
        mean, log_scale = self.hyper_synthesis(z, step)
        symbols = torch.round(y - mean)
        pixels = image.shape[0] * image.shape[2] * image.shape[3]
        hyper_bits = -torch.log2(self.prior(z).clamp(min=2.0 ** -16)).sum() / pixels
        bits = -torch.log2(normal_bin(symbols, log_scale).clamp(min=2.0 ** -16)).sum() / pixels
        return self.synthesis(mean + symbols, step).clamp(0, 1), float(bits), float(hyper_bits)


def normal_bin(value, log_scale):
    """Probability of the unit bin about `value` under a centred normal distribution."""
    scale = torch.exp(LowerBound.apply(log_scale, float(np.log(SCALE_MIN))).clamp(max=float(np.log(SCALE_MAX))))
    distance = value.abs()
    upper, lower = torch.special.ndtr((0.5 - distance) / scale), torch.special.ndtr((-0.5 - distance) / scale)
    return LowerBound.apply(upper - lower, 1e-9)
