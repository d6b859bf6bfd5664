"""The networks of the blocks under training. This file is yours: a new export leaves it as it is.

`build(step_id)` returns a torch module that takes the inputs of the block in their order and returns its outputs. The ones
here are small: a perceptron over all values of a record, and convolutions for images. Their sizes follow from the first call.
"""

import torch

from interfaces import BLOCKS, PARAMS, inputs_of
from scenario import scenario

#: Sizes of the blocks by name, as their networks learn them: a decoder has those of its encoder
SHARED = {}
#: Output sizes that no input gives, by name, where no parameter of the step has that name
SIZES = {"decision": 2}


def build(step_id):
    role = BLOCKS[step_id]["component_role"]
    if BLOCKS[step_id]["component_id"] in ("encoder", "decoder") and role in ("encoder", "decoder"):
        return ImageEncoder(step_id) if role == "encoder" else ImageDecoder(step_id)
    if role == "constellation":
        return Constellation(step_id)
    return Perceptron(step_id)


def open_sizes(step_id):
    """Sizes of the interface that stay open in the ONNX file."""
    shape = next(iter(inputs_of(step_id).values()))["shape"]
    return ["batch", "height", "width", "symbol_height", "symbol_width"] if "batch" in shape and len(shape) == 4 and (
        "height" in shape or "symbol_height" in shape
    ) else [shape[0]]


class Perceptron(torch.nn.Module):
    """Two hidden layers over the values of a row; inputs are normalised by the first batch, and the result starts at zero.

    Where an output has the shape of an input, it is a correction of that input.
    """

    def __init__(self, step_id, hidden=64):
        super().__init__()
        block = BLOCKS[step_id]
        self.inputs, self.outputs = inputs_of(step_id), block["outputs"]
        others = {name: value for step in scenario.steps.values() for name, value in step["params"].items()}
        self.known, self.hidden, self.layers, self.sizes = {**others, **SIZES, **PARAMS[step_id]}, hidden, None, {}

    def _build(self, given):
        for value, tensor in zip(self.inputs.values(), given):
            self.sizes.update({n: size for n, size in zip(value["shape"], tensor.shape) if isinstance(n, str)})
        (output,) = self.outputs.values()
        # A size that only the output has comes from the parameters of the step, or from a block before it.
        known = {**self.known, **SHARED, **self.sizes}
        self.shape = [n if isinstance(n, int) else known[n] for n in output["shape"][1:]]
        self.sizes.update({n: size for n, size in zip(output["shape"][1:], self.shape) if isinstance(n, str)})
        SHARED.update(self.sizes)
        self.residual = next((i for i, x in enumerate(given) if list(x.shape[1:]) == self.shape), None)
        flat = torch.cat([x.flatten(1) for x in given], 1)
        count = 1
        for size in self.shape:
            count *= size
        layers = torch.nn.Sequential(
            torch.nn.Linear(flat.shape[1], self.hidden),
            torch.nn.GELU(),
            torch.nn.Linear(self.hidden, self.hidden),
            torch.nn.GELU(),
            torch.nn.Linear(self.hidden, count),
        )
        layers[-1].weight.data.mul_(0.1)
        self.layers = layers.to(flat.device)
        self.register_buffer("mean", flat.mean(0, keepdim=True))
        self.register_buffer("deviation", flat.std(0, keepdim=True).nan_to_num(1.0) + 1e-6)

    def forward(self, *given):
        if self.layers is None:
            self._build(given)
        flat = torch.cat([x.flatten(1) for x in given], 1)
        found = self.layers((flat - self.mean) / self.deviation).reshape([flat.shape[0], *self.shape])
        return found if self.residual is None else found + given[self.residual]


class Constellation(torch.nn.Module):
    """A point for each label, at first those of Gray PAM in both parts: a square QAM where the number of bits is even."""

    def __init__(self, step_id):
        super().__init__()
        width = PARAMS[step_id]["bits_per_symbol"]
        self.sizes = {"bits_per_symbol": width}
        self.register_buffer("weights", 2.0 ** torch.arange(width - 1, -1, -1))
        labels = (torch.arange(2**width)[:, None] >> torch.arange(width - 1, -1, -1)) & 1
        points = torch.stack([self.level(labels[:, part::2]) for part in (0, 1)], -1)
        self.points = torch.nn.Parameter(points / points.square().sum(-1).mean().sqrt())

    @staticmethod
    def level(bits):
        found = torch.zeros(len(bits))
        for i in range(bits.shape[1] - 1, -1, -1):
            found = (1 - 2 * bits[:, i]) * (2.0 ** (bits.shape[1] - 1 - i) - found)
        return found

    def forward(self, label_bits):
        return self.points[(label_bits * self.weights).sum(-1).round().long()]


def symbols_per_block(step_id):
    """Complex symbols of 4 x 4 pixels at the channel uses per pixel that the encoder of a pair has."""
    known = [scenario.steps[step]["params"] for step in (step_id, *BLOCKS[step_id]["partners"])]
    return max(1, round(16 * next(params["channel_uses_per_pixel"] for params in known if "channel_uses_per_pixel" in params)))


class ImageEncoder(torch.nn.Module):
    """Images to symbols at a quarter of their size, which must be a multiple of 4."""

    def __init__(self, step_id, width=32):
        super().__init__()
        count = 2 * symbols_per_block(step_id)
        self.sizes = {"height": 16, "width": 16, "real_imag_channel": count, "symbol_height": 4, "symbol_width": 4}
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, width, 5, stride=2, padding=2),
            torch.nn.GELU(),
            torch.nn.Conv2d(width, width, 5, stride=2, padding=2),
            torch.nn.GELU(),
            torch.nn.Conv2d(width, count, 3, padding=1),
        )

    def forward(self, images):
        return self.layers(images - 0.5)


class ImageDecoder(torch.nn.Module):
    def __init__(self, step_id, width=32):
        super().__init__()
        count = 2 * symbols_per_block(step_id)
        self.sizes = {"height": 16, "width": 16, "real_imag_channel": count, "symbol_height": 4, "symbol_width": 4}
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(count, width, 3, padding=1),
            torch.nn.GELU(),
            torch.nn.Conv2d(width, 4 * width, 3, padding=1),
            torch.nn.PixelShuffle(2),
            torch.nn.GELU(),
            torch.nn.Conv2d(width, 12, 3, padding=1),
            torch.nn.PixelShuffle(2),
        )

    def forward(self, symbols):
        return self.layers(symbols) + 0.5
