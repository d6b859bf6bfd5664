"""Trains the image codec deepjscc-film-v1: images to complex symbols, and noisy symbols to images.

    encoder  images [batch, 3, height, width], snr_db [batch], ratio [batch] -> symbols_ri [batch, 2K, rows, columns]
    decoder  symbols_ri of that shape, snr_db [batch] -> reconstruction [batch, 3, 8·rows, 8·columns]

A block of 8 x 8 pixels takes K = 64·ratio complex symbols, 4 <= K <= 32: ratio is channel uses per pixel, 1/16 to 1/2. Real parts
come first, then imaginary parts. Sizes that are no multiple of 8 are padded by the last row and column.

    linear part    192 coefficients of a Karhunen-Loève transform of 8 x 8 x 3 samples, the first 63 with gain λ^(-1/4);
                   in the decoder its inverse after a Wiener gain with variances of the received picture
    residual       ConvNeXt-like blocks on the grid of symbols, with scale and shift from SNR and ratio (FiLM); the last
                   layers start at zero
    pilot          channel 0 is constant; the decoder finds the scale of the picture from it

The mean power of the symbols of a picture is made 1 between encoder and channel, as channel.symbol_power_normalize does with
source_item. The decoder takes the SNR after equalisation, the encoder the one that it assumes: half of the training samples
know it, the others fade (Rayleigh) or are off by up to 12 dB.

    PYTHONPATH=<torch> python3 recipes/models/deepjscc-film-v1/training/train.py <folder for the photographs> [<package folder>]

One thread, seeded; state is written every five minutes, and a later call goes on from it to the same weights.

Sources: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019;
Jakubczak and Katabi, A cross-layer design for scalable mobile video, 2011; Perez et al., FiLM, 2018; Liu et al., A ConvNet
for the 2020s, 2022.
"""

import copy
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "training")]
import photographs  # noqa: E402
from onnx import TensorProto  # noqa: E402
from onnx_graph import Graph  # noqa: E402
from pictures import centre, psnr  # noqa: E402
from records import digest, write_curve, write_json, write_reference  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 61, "validation": 62, "evaluation": 63}
SIDE, REALS, COEFFICIENTS = 8, 64, 192
WIDTH, DEPTH, EXPANSION, KERNEL = 160, 4, 3, 5
PILOT_POWER = 0.03
SNR_RANGE_DB = (-4.0, 16.0)
SNR_GRID_DB = (-4.0, 0.0, 4.0, 8.0, 12.0, 16.0)
RATIOS = (0.5, 0.25)
# Steps of each stage, batch and side of the crops; the learning rate is constant in the first stage and falls to zero after it.
STAGES = ((3000, 8, 64), (2500, 8, 64), (1000, 4, 128))
LEARNING_RATE, LINEAR_FACTOR, WARM_UP, CLIP, AVERAGE = 1e-3, 0.2, 150, 10.0, 0.998
RECORD_EVERY, SAVE_SECONDS = 250, 300


class Block(nn.Module):
    """Depthwise convolution, root-mean-square norm with FiLM, two layers over the channels."""

    def __init__(self, conditions: int):
        super().__init__()
        self.spread = nn.Conv2d(WIDTH, WIDTH, KERNEL, padding=KERNEL // 2, groups=WIDTH)
        self.film = nn.Linear(conditions, 2 * WIDTH)
        self.expand = nn.Conv2d(WIDTH, EXPANSION * WIDTH, 1)
        self.reduce = nn.Conv2d(EXPANSION * WIDTH, WIDTH, 1)
        nn.init.zeros_(self.film.weight)
        nn.init.zeros_(self.film.bias)

    def forward(self, x, conditions):
        scale, shift = self.film(conditions)[:, :, None, None].chunk(2, 1)
        y = self.spread(x)
        y = y * torch.rsqrt((y * y).mean(1, keepdim=True) + 1e-6) * (1 + scale) + shift
        return x + self.reduce(nn.functional.silu(self.expand(y)))

    def to_onnx(self, graph, x, conditions, label):
        film = graph.linear(conditions, self.film, f"{label}.film")
        axes = graph.integers("spatial_axes", [2, 3])
        scale, shift = (graph.node("Unsqueeze", [graph.slice(film, start, start + WIDTH, 1), axes]) for start in (0, WIDTH))
        y = graph.conv(x, self.spread, f"{label}.spread")
        square = graph.node("ReduceMean", [graph.node("Mul", [y, y])], axes=[1], keepdims=1)
        rms = graph.node("Sqrt", [graph.node("Add", [square, graph.constant("norm_floor", 1e-6)])])
        scale = graph.node("Add", [scale, graph.constant("one", 1.0)])
        y = graph.node("Add", [graph.node("Mul", [graph.node("Div", [y, rms]), scale]), shift])
        y = silu(graph, graph.conv(y, self.expand, f"{label}.expand"))
        return graph.node("Add", [x, graph.conv(y, self.reduce, f"{label}.reduce")])


class Residual(nn.Module):
    """`inputs` maps and `conditions` numbers per picture to maps of typical deviations `scales` [outputs], zero before training."""

    def __init__(self, inputs: int, conditions: int, scales):
        super().__init__()
        outputs = len(scales)
        self.register_buffer("scales", torch.from_numpy(scales).reshape(1, -1, 1, 1))
        self.conditions = nn.Linear(conditions, WIDTH // 2)
        self.entry = nn.Conv2d(inputs, WIDTH, 1)
        self.blocks = nn.ModuleList(Block(WIDTH // 2) for _ in range(DEPTH))
        self.film = nn.Linear(WIDTH // 2, WIDTH)
        self.exit = nn.Conv2d(WIDTH, outputs, 1)
        nn.init.zeros_(self.film.weight)
        nn.init.zeros_(self.film.bias)
        nn.init.zeros_(self.exit.weight)
        nn.init.zeros_(self.exit.bias)

    def forward(self, x, conditions):
        conditions = nn.functional.silu(self.conditions(conditions))
        x = self.entry(x)
        for block in self.blocks:
            x = block(x, conditions)
        return self.exit(x * (1 + self.film(conditions)[:, :, None, None])) * self.scales

    def to_onnx(self, graph, x, conditions):
        if not self.exit.weight.any():  # untrained: nothing to compute, nothing to keep
            return graph.constant("no_residual", 0)
        conditions = silu(graph, graph.linear(conditions, self.conditions, "conditions"))
        x = graph.conv(x, self.entry, "entry")
        for i, block in enumerate(self.blocks):
            x = block.to_onnx(graph, x, conditions, f"blocks.{i}")
        axes = graph.integers("spatial_axes", [2, 3])
        scale = graph.node("Unsqueeze", [graph.linear(conditions, self.film, "film"), axes])
        x = graph.node("Mul", [x, graph.node("Add", [scale, graph.constant("one", 1.0)])])
        return graph.node("Mul", [graph.conv(x, self.exit, "exit"), graph.constant("scales", self.scales.numpy())])


def conditions_of(snr_db, ratio):
    return torch.stack([snr_db / 10, 4 * ratio - 1], 1)


class Encoder(nn.Module):
    def __init__(self, transform, mean, variances):
        super().__init__()
        self.analysis = nn.Conv2d(3, COEFFICIENTS, SIDE, SIDE)
        self.analysis.weight.data = torch.from_numpy(transform.reshape(COEFFICIENTS, 3, SIDE, SIDE))
        self.analysis.bias.data = torch.from_numpy(-transform @ mean)
        gains = variances[:REALS - 1] ** -0.25
        self.gains = nn.Parameter(torch.from_numpy(gains).reshape(1, -1, 1, 1))
        self.register_buffer("whitening", torch.from_numpy(variances ** -0.5).reshape(1, -1, 1, 1))
        self.pilot = float(np.sqrt(PILOT_POWER * np.sum(np.sqrt(variances[:REALS - 1]))))
        self.residual = Residual(COEFFICIENTS, 2, np.full(REALS - 1, 0.3, np.float32))

    def forward(self, images, snr_db, ratio):
        """All 64 real channels; those from 128·ratio on are not sent."""
        images = nn.functional.pad(images, (0, -images.shape[3] % SIDE, 0, -images.shape[2] % SIDE), "replicate")
        coefficients = self.analysis(images)
        amplitudes = coefficients[:, :REALS - 1] * self.gains
        amplitudes = amplitudes + self.residual(coefficients * self.whitening, conditions_of(snr_db, ratio))
        return torch.cat([torch.full_like(amplitudes[:, :1], self.pilot), amplitudes], 1)

    def symbols(self, images, snr_db, ratio):
        """The tensor of the interface: the sent channels, real parts first."""
        sent = min(REALS, max(8, 2 * int(SIDE * SIDE * ratio[0].item() + 1e-4)))
        amplitudes = self(images, snr_db, torch.full_like(ratio, sent / (2 * SIDE * SIDE)))[:, :sent]
        return torch.cat([amplitudes[:, 0::2], amplitudes[:, 1::2]], 1)

    def to_onnx(self) -> bytes:
        graph = HalfGraph("deepjscc_film_encoder")
        images = graph.input("images", ["batch", 3, "height", "width"])
        snr_db = graph.input("snr_db", ["batch"])
        ratio = graph.input("channel_uses_per_pixel", ["batch"])
        # K = clamp(floor(64·ratio), 4, 32) symbols a block, of the first image for all.
        blocks = graph.node("Mul", [graph.slice(ratio, 0, 1, 0), graph.constant("block", SIDE * SIDE)])
        blocks = graph.node("Floor", [graph.node("Add", [blocks, graph.constant("rounding", 1e-4)])])
        count = graph.node("Min", [graph.node("Max", [blocks, graph.constant("fewest", 4)]), graph.constant("most", REALS // 2)])
        sent = graph.node("Cast", [graph.node("Mul", [count, graph.constant("two", 2)])], to=TensorProto.INT64)
        # Snapped to K, for all images.
        ratio = graph.node("Add", [graph.node("Mul", [ratio, graph.constant("zero", 0)]),
                                   graph.node("Div", [count, graph.constant("block", SIDE * SIDE)])])
        size = graph.slice(graph.node("Shape", [images]), 2, 4, 0)
        missing = graph.node("Mod", [graph.node("Neg", [size]), graph.integers("side", [SIDE])])
        pads = graph.node("Concat", [graph.integers("no_pads", [0] * 6), missing], axis=0)
        padded = graph.node("Pad", [images, pads], mode="edge")
        coefficients = graph.conv(padded, self.analysis, "analysis")
        linear = graph.node("Mul", [graph.slice(coefficients, 0, REALS - 1, 1),
                                    graph.constant("gains", self.gains.detach().numpy())])
        whitened = graph.node("Mul", [coefficients, graph.constant("whitening", self.whitening.numpy())])
        residual = self.residual.to_onnx(graph, whitened, graph.conditions(snr_db, ratio))
        amplitudes = graph.node("Add", [linear, residual])
        first = graph.slice(amplitudes, 0, 1, 1)
        pilot = graph.node("Add", [graph.node("Mul", [first, graph.constant("zero", 0)]), graph.constant("pilot", self.pilot)])
        amplitudes = graph.node("Concat", [pilot, amplitudes], axis=1)
        parts = [graph.slice(amplitudes, start, sent, 1, 2) for start in (0, 1)]
        graph.node("Concat", parts, "symbols_ri", axis=1)
        graph.output("symbols_ri", ["batch", "real_imag_channel", "symbol_height", "symbol_width"])
        return graph.bytes()


class Decoder(nn.Module):
    def __init__(self, transform, mean, variances, pilot):
        super().__init__()
        self.pilot = pilot
        gains = variances[:REALS - 1] ** -0.25
        inverse = np.zeros((COEFFICIENTS, REALS), np.float32)
        inverse[np.arange(REALS - 1), np.arange(1, REALS)] = 1 / gains
        self.estimate = nn.Conv2d(REALS, COEFFICIENTS, 1, bias=False)
        self.estimate.weight.data = torch.from_numpy(inverse[:, :, None, None])
        self.synthesis = nn.Conv2d(COEFFICIENTS, COEFFICIENTS, 1)
        self.synthesis.weight.data = torch.from_numpy(np.ascontiguousarray(transform.T)[:, :, None, None])
        self.synthesis.bias.data = torch.from_numpy(mean.copy())
        # Amplitudes have the variance λ^(1/2): a scale of λ^(-1/4) makes it 1; the pilot is passed as it is.
        self.register_buffer("whitening", torch.from_numpy(np.concatenate([[1 / pilot], gains]).astype(np.float32))
                             .reshape(1, -1, 1, 1))
        self.residual = Residual(REALS, REALS + 2, np.sqrt(variances))
        nn.init.zeros_(self.residual.conditions.weight[:, 2:])

    def forward(self, received, snr_db, ratio):
        """`received` has 64 real channels, zero where nothing was sent, at unit signal power."""
        scale = self.pilot / received[:, :1].mean((2, 3), keepdim=True).clamp_min(0.02)
        noise = scale * scale * (0.5 * 10 ** (-snr_db / 10)).reshape(-1, 1, 1, 1)
        amplitudes = received * scale
        floor = 1e-3 / (self.whitening * self.whitening)
        variances = ((amplitudes * amplitudes).mean((2, 3), keepdim=True) - noise).relu() + floor
        amplitudes = amplitudes * (variances / (variances + noise))
        levels = torch.log(variances * self.whitening * self.whitening).flatten(1)
        conditions = torch.cat([conditions_of(snr_db, ratio), 0.2 * levels], 1)
        coefficients = self.estimate(amplitudes) + self.residual(amplitudes * self.whitening, conditions)
        return nn.functional.pixel_shuffle(self.synthesis(coefficients), SIDE)

    def reconstruction(self, symbols_ri, snr_db):
        """The tensor of the interface, from received symbols with real parts first."""
        sent = symbols_ri.shape[1]
        received = torch.stack(symbols_ri.chunk(2, 1), 2).flatten(1, 2)
        received = nn.functional.pad(received, (0, 0, 0, 0, 0, REALS - sent))
        return self(received, snr_db.clamp(-15, 30), torch.full_like(snr_db, sent / (2 * SIDE * SIDE)))

    def to_onnx(self) -> bytes:
        graph = HalfGraph("deepjscc_film_decoder")
        symbols = graph.input("symbols_ri", ["batch", "real_imag_channel", "symbol_height", "symbol_width"])
        snr_db = graph.input("snr_db", ["batch"])
        snr_db = graph.node("Max", [snr_db, graph.constant("lowest", -15)])
        snr_db = graph.node("Min", [snr_db, graph.constant("highest", 30)])
        shape = graph.node("Shape", [symbols])
        sent = graph.slice(shape, 1, 2, 0)
        half = graph.node("Div", [sent, graph.integers("number_2", [2])])
        axis = graph.integers("number_2", [2])
        parts = [graph.slice(symbols, 0, half, 1), graph.slice(symbols, half, sent, 1)]
        received = graph.node("Concat", [graph.node("Unsqueeze", [part, axis]) for part in parts], axis=2)
        grid = graph.node("Concat", [graph.integers("batch_and_channels", [0, -1]), graph.slice(shape, 2, 4, 0)], axis=0)
        received = graph.node("Reshape", [received, grid])
        missing = graph.node("Sub", [graph.integers("reals", [REALS]), sent])
        pads = graph.node("Concat", [graph.integers("five_zeros", [0] * 5), missing, graph.integers("two_zeros", [0] * 2)], axis=0)
        received = graph.node("Pad", [received, pads])

        mean = lambda x: graph.node("ReduceMean", [x], axes=[2, 3], keepdims=1)
        one_by_one = graph.integers("one_by_one", [-1, 1, 1, 1])
        level = graph.node("Max", [mean(graph.slice(received, 0, 1, 1)), graph.constant("lowest_pilot", 0.02)])
        scale = graph.node("Div", [graph.constant("pilot", self.pilot), level])
        # 0.5·10^(-snr/10), by the exponential function.
        noise = graph.node("Exp", [graph.node("Mul", [snr_db, graph.constant("to_power", -np.log(10) / 10)])])
        noise = graph.node("Reshape", [graph.node("Mul", [noise, graph.constant("half", 0.5)]), one_by_one])
        noise = graph.node("Mul", [graph.node("Mul", [scale, scale]), noise])
        amplitudes = graph.node("Mul", [received, scale])
        whitening = self.whitening.numpy()
        power = mean(graph.node("Mul", [amplitudes, amplitudes]))
        floor = (1e-3 / (whitening * whitening)).astype(np.float32)
        variances = graph.node("Add", [graph.node("Relu", [graph.node("Sub", [power, noise])]),
                                       super(HalfGraph, graph).constant("floor", floor)])
        gain = graph.node("Div", [variances, graph.node("Add", [variances, noise])])
        amplitudes = graph.node("Mul", [amplitudes, gain])
        white = graph.constant("whitening", whitening)
        levels = graph.node("Log", [graph.node("Mul", [variances, graph.node("Mul", [white, white])])])
        levels = graph.node("Mul", [graph.node("Flatten", [levels], axis=1), graph.constant("level_factor", 0.2)])
        ratio = graph.node("Div", [graph.node("Cast", [sent], to=TensorProto.FLOAT), graph.constant("reals_per_use", 2 * SIDE * SIDE)])
        ratio = graph.node("Add", [graph.node("Mul", [snr_db, graph.constant("zero", 0)]), ratio])
        conditions = graph.node("Concat", [graph.conditions(snr_db, ratio), levels], axis=1)
        residual = self.residual.to_onnx(graph, graph.node("Mul", [amplitudes, white]), conditions)
        coefficients = graph.node("Add", [graph.conv(amplitudes, self.estimate, "estimate"), residual])
        pixels = graph.conv(coefficients, self.synthesis, "synthesis")
        graph.node("DepthToSpace", [pixels], "reconstruction", blocksize=SIDE, mode="CRD")
        graph.output("reconstruction", ["batch", 3, "height", "width"])
        return graph.bytes()


class HalfGraph(Graph):
    """Weights are kept as float16 and widened when a session opens: half the size, and exact for rounded weights."""

    def constant(self, name, value, dtype=np.float32):
        value = np.asarray(value, dtype)
        if value.dtype != np.float32 or value.size < 64:
            return super().constant(name, value, dtype)
        assert np.array_equal(value.astype(np.float16).astype(np.float32), value), f"{name} is not rounded"
        return self.node("Cast", [super().constant(f"{name}.half", value, np.float16)], name, to=TensorProto.FLOAT)

    def conditions(self, snr_db, ratio):
        """The two numbers of `conditions_of` [batch, 2]."""
        axis = self.integers("last_axis", [1])
        snr = self.node("Mul", [snr_db, self.constant("snr_factor", 0.1)])
        ratio = self.node("Sub", [self.node("Mul", [ratio, self.constant("ratio_factor", 4.0)]), self.constant("one", 1.0)])
        return self.node("Concat", [self.node("Unsqueeze", [x, axis]) for x in (snr, ratio)], axis=1)

    def slice(self, x, start, end, axis, step=1):
        """Slices one axis; bounds are integers or names of tensors [1]."""
        bounds = [bound if isinstance(bound, str) else self.integers(f"number_{bound}", [bound])
                  for bound in (start, end, axis, step)]
        return self.node("Slice", [x, *bounds])


def rounded(module):
    """Rounds the weights to what HalfGraph keeps."""
    with torch.no_grad():
        for value in (*module.parameters(), *module.buffers()):
            value.copy_(value.half().float())


def silu(graph, x):
    return graph.node("Mul", [x, graph.node("Sigmoid", [x])])


def karhunen_loeve(pictures, rng):
    """Transform [192, 192], mean [192] and variances of 8 x 8 blocks (colour, row, column), falling."""
    blocks = []
    for _ in range(40_000):
        picture = pictures[int(rng.integers(len(pictures)))][0]
        top, left = (int(rng.integers(0, extent - SIDE + 1)) for extent in picture.shape[:2])
        blocks.append(picture[top:top + SIDE, left:left + SIDE].transpose(2, 0, 1).ravel())
    samples = np.stack(blocks).astype(np.float64) / 255
    mean = samples.mean(0)
    values, vectors = np.linalg.eigh(np.cov(samples, rowvar=False))
    transform = vectors.T[::-1]
    transform = transform * np.sign(transform.sum(1, keepdims=True) + 1e-12)
    return transform.astype(np.float32), mean.astype(np.float32), np.maximum(values[::-1], 1e-7).astype(np.float32)


def crop(picture, side, rng):
    """A crop [3, side, side] of a reduction of a photograph, turned and mirrored; a tenth grey, a third of other contrast."""
    reduction = picture[min(int(rng.choice(3, p=(0.5, 0.3, 0.2))), len(picture) - 1)]
    top, left = (int(rng.integers(0, extent - side + 1)) for extent in reduction.shape[:2])
    patch = np.rot90(reduction[top:top + side, left:left + side], int(rng.integers(4))).astype(np.float32) / 255
    if rng.random() < 0.5:
        patch = patch[:, ::-1]
    if rng.random() < 0.1:
        patch = np.broadcast_to(patch.mean(-1, keepdims=True), patch.shape)
    if rng.random() < 0.3:
        patch = np.clip((patch - 0.5) * rng.uniform(0.6, 1.2) + 0.5 + rng.uniform(-0.15, 0.15), 0, 1)
    return patch.transpose(2, 0, 1)


def draw(count, rng):
    """The SNR that the encoder assumes and the one that the symbols meet, in dB; ratio of the batch."""
    assumed = rng.uniform(*SNR_RANGE_DB, count)
    kind, fade, error = rng.random(count), 10 * np.log10(rng.exponential(size=count) + 1e-9), rng.uniform(-12, 12, count)
    met = assumed + np.where(kind < 0.5, 0, np.where(kind < 0.85, fade, error))
    ratio = RATIOS[int(rng.integers(2))] if rng.random() < 0.85 else int(rng.integers(4, 33)) / 64
    return assumed.astype(np.float32), np.clip(met, -15, 30).astype(np.float32), ratio


def transmit(amplitudes, snr_db, ratio, noise):
    """Unit mean power per picture over the sent channels, then noise as after equalisation; zeros where nothing is sent."""
    sent = int(round(ratio * 2 * SIDE * SIDE))
    amplitudes, noise = amplitudes[:, :sent], noise[:, :sent]
    power = 2 * (amplitudes * amplitudes).mean((1, 2, 3), keepdim=True)
    deviation = torch.sqrt(0.5 * 10 ** (-snr_db / 10)).reshape(-1, 1, 1, 1)
    received = amplitudes * torch.rsqrt(power + 1e-12) + deviation * noise
    return nn.functional.pad(received, (0, 0, 0, 0, 0, REALS - sent))


def measure(encoder, decoder, pictures, seed, fading, ratio, grid=SNR_GRID_DB):
    """Mean PSNR in dB of pictures [N, 3, H, W] at each SNR. Fades are the 8 centres of equally likely intervals of |h|²."""
    gains = -np.log(1 - (np.arange(8) + 0.5) / 8) if fading else np.ones(1)
    rng, means = np.random.default_rng(seed), []
    with torch.no_grad():
        for snr in grid:
            values = []
            for x in pictures:
                x = torch.from_numpy(x[None])
                assumed, rate = torch.tensor([snr], dtype=torch.float32), torch.tensor([ratio], dtype=torch.float32)
                amplitudes = encoder(x, assumed, rate)
                noise = torch.from_numpy(rng.standard_normal(tuple(amplitudes.shape)).astype(np.float32))
                for gain in gains:
                    met = torch.clamp(assumed + 10 * float(np.log10(gain)), -15, 30)
                    received = transmit(amplitudes, met, ratio, noise)
                    values.append(psnr(x.numpy(), decoder(received, met, rate).numpy()))
            means.append(float(np.mean(values)))
    return means


def train(pictures, validation, encoder, decoder, state_path, curve):
    """Trains in place; leaves the averaged weights in the networks."""
    steps = sum(count for count, *_ in STAGES)
    decay = steps - STAGES[0][0]
    linear = [encoder.analysis, decoder.estimate, decoder.synthesis]
    slow = [*(p for module in linear for p in module.parameters()), encoder.gains]
    parameters = [*encoder.parameters(), *decoder.parameters()]
    slow_ids = {id(p) for p in slow}
    optimizer = torch.optim.Adam([{"params": [p for p in parameters if id(p) not in slow_ids], "factor": 1.0},
                                  {"params": slow, "factor": LINEAR_FACTOR}], LEARNING_RATE, betas=(0.9, 0.99))
    rng, generator = np.random.default_rng(SEEDS["training"]), torch.Generator().manual_seed(SEEDS["training"])
    average = [copy.deepcopy(net) for net in (encoder, decoder)]
    step, running = 0, []
    if state_path.exists():
        state = torch.load(state_path, weights_only=False)
        step, running = state["step"], state["running"]
        curve[:] = state["curve"]
        for net, values in zip((encoder, decoder, *average), state["networks"]):
            net.load_state_dict(values)
        optimizer.load_state_dict(state["optimizer"])
        rng.bit_generator.state = state["rng"]
        generator.set_state(state["generator"])
        print(f"goes on from step {step}", flush=True)
    saved = started = time.monotonic()
    seen = 0
    while step < steps:
        first = 0
        for count, batch, side in STAGES:
            if step < first + count:
                break
            first += count
        rate = LEARNING_RATE * min(1, (step + 1) / WARM_UP, (steps - step) / decay)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        x = torch.from_numpy(np.stack([crop(pictures[int(rng.integers(len(pictures)))], side, rng) for _ in range(batch)]))
        assumed, met, ratio = draw(batch, rng)
        assumed, met, rates = torch.from_numpy(assumed), torch.from_numpy(met), torch.full((batch,), ratio)
        amplitudes = encoder(x, assumed, rates)
        noise = torch.randn(amplitudes.shape, generator=generator)
        y = decoder(transmit(amplitudes, met, ratio, noise), met, rates)
        loss = (10 * torch.log10(((x - y) ** 2).mean((1, 2, 3)) + 2e-4)).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, CLIP)
        optimizer.step()
        step += 1
        seen += x.numel() // 3
        running.append(loss.item())
        with torch.no_grad():
            keep = min(AVERAGE, step / (step + 20))
            for net, mean in zip((encoder, decoder), average):
                for value, target in zip(net.parameters(), mean.parameters()):
                    target.lerp_(value, 1 - keep)
        if step % RECORD_EVERY == 0:
            quick = (-4.0, 4.0, 12.0)
            known = measure(*average, validation, SEEDS["validation"], False, 0.5, quick)
            faded = measure(*average, validation[:3], SEEDS["validation"], True, 0.25, quick)
            curve.append({"candidate": "film", "step": step, "training_loss_db": f"{np.mean(running):.4f}",
                          "validation_psnr_db": f"{np.mean(known):.4f}", "faded_validation_psnr_db": f"{np.mean(faded):.4f}"})
            print(curve[-1], f"{seen / (time.monotonic() - started) / 1e3:.0f} kpixel/s", flush=True)
            running = []
        if time.monotonic() - saved > SAVE_SECONDS or step == steps:
            torch.save({"step": step, "running": running, "curve": curve, "optimizer": optimizer.state_dict(),
                        "networks": [net.state_dict() for net in (encoder, decoder, *average)],
                        "rng": rng.bit_generator.state, "generator": generator.get_state()}, state_path.with_suffix(".part"))
            state_path.with_suffix(".part").rename(state_path)
            saved = time.monotonic()
    for net, mean in zip((encoder, decoder), average):
        net.load_state_dict(mean.state_dict())


def evaluation(encoder, decoder, pictures, seed):
    """Mean PSNR in dB over the SNR grid, by channel and ratio."""
    return {f"{'slow_rayleigh' if fading else 'awgn'}_{ratio}": [round(v, 3) for v in
            measure(encoder, decoder, pictures, seed, fading, ratio)] for fading in (False, True) for ratio in RATIOS}


def squares(folder, split):
    return [np.ascontiguousarray(centre(p[0], 256).transpose(2, 0, 1), np.float32) / 255 for p in photographs.load(folder, split)]


def main(folder, package):
    training = package / "training"
    (training / "candidates").mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEEDS["training"])
    pictures, validation = photographs.load(folder, "train"), squares(folder, "validation")
    transform, mean, variances = karhunen_loeve(pictures, np.random.default_rng(SEEDS["training"]))
    results, validated, curve = {}, {}, []
    for name in ("linear", "film"):
        encoder = Encoder(transform, mean, variances)
        decoder = Decoder(transform, mean, variances, encoder.pilot)
        if name == "film":
            train(pictures, validation, encoder, decoder, folder / "deepjscc-film-v1.pt", curve)
        rounded(encoder)
        rounded(decoder)
        validated[name] = evaluation(encoder, decoder, validation, SEEDS["validation"])
        results[name] = float(np.mean([np.mean(values) for values in validated[name].values()]))
        print(name, results[name], validated[name], flush=True)
        for role, model in (("encoder", encoder), ("decoder", decoder)):
            path = package / f"{role}.onnx" if name == "film" else training / "candidates" / f"{name}.{role}.onnx"
            path.write_bytes(model.to_onnx())
        write_json(training / "candidates" / f"{name}.json", {
            "candidate": name, "seeds": SEEDS, "width": WIDTH, "depth": DEPTH, "expansion": EXPANSION, "kernel": KERNEL,
            "stages": STAGES if name == "film" else [], "learning_rate": LEARNING_RATE, "pilot_power": PILOT_POWER,
            "snr_range_db": SNR_RANGE_DB, "channel_uses_per_pixel": RATIOS})
    write_curve(training / "loss_curve.csv", curve)
    test = squares(folder, "test")
    x = torch.from_numpy(test[0][None, :, 96:133, 96:117].copy())
    snr_db, ratio = torch.tensor([7.0]), torch.tensor([0.25])
    with torch.no_grad():
        symbols = encoder.symbols(x, snr_db, ratio)
        write_reference(training / "reference.encoder.json",
                        {"images": x, "snr_db": snr_db, "channel_uses_per_pixel": ratio}, {"symbols_ri": symbols})
        write_reference(training / "reference.decoder.json", {"symbols_ri": symbols, "snr_db": snr_db},
                        {"reconstruction": decoder.reconstruction(symbols, snr_db)})
    write_json(training / "evaluation.json", {
        "objective": "mean PSNR in dB of the validation photographs over SNRs, channels and ratios",
        "selected": max(sorted(results), key=results.get), "candidates": results, "snr_grid_db": SNR_GRID_DB,
        "population_sha256": digest(*validation),
        "parameters": {role: sum(p.numel() for p in net.parameters()) for role, net in (("encoder", encoder), ("decoder", decoder))},
        "validation": validated, "test": evaluation(encoder, decoder, test, SEEDS["evaluation"])})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parent)
