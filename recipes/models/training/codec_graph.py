"""Shared by the exports of the learned image codecs: layers of the graphs, and tables.json."""

import numpy as np
import torch
from network import HYPER, SCALE_MAX, SCALE_MIN, SLOPE
from onnx_graph import HalfGraph
from records import write_reference

SCALES = 64
ROLES = ("analysis", "hyper_analysis", "hyper_synthesis", "synthesis")
QUALITIES = range(1, 9)


class CodecGraph(HalfGraph):
    """The layers of the codecs, with weights in half precision."""

    def convolve(self, x, weight, bias, label, name=None, kind="Conv", stride=1, padding=0):
        inputs = [x, self.constant(f"{label}.weight", weight.detach().numpy()), self.constant(f"{label}.bias", bias.detach().numpy())]
        return self.node(kind, inputs, name, kernel_shape=list(weight.shape[2:]), strides=[stride] * 2, pads=[padding] * 4)

    def layer(self, x, module, label, name=None):
        kind = "ConvTranspose" if isinstance(module, torch.nn.ConvTranspose2d) else "Conv"
        return self.convolve(x, module.weight, module.bias, label, name, kind, module.stride[0], module.padding[0])

    def leaky(self, x):
        return self.node("LeakyRelu", [x], alpha=SLOPE)

    def level(self, step, like):
        """The logarithm of the step as a plane of the size of some features."""
        bounds = [self.integers("first", [0]), self.integers("second", [1]), self.integers("channel", [1])]
        plane = self.node("Mul", [self.node("Slice", [like, *bounds]), self.constant("zero", 0.0)])
        return self.node("Add", [plane, self.node("Log", [step])])


def depth_first(weight, channels, block):
    """Input channels in the order of ONNX's SpaceToDepth instead of PyTorch's pixel_unshuffle."""
    order = [c * block * block + position for position in range(block * block) for c in range(channels)]
    return weight[:, order]


def counts(probabilities):
    """Counts of 2^16, at least 1 each; the greatest takes what rounding leaves."""
    found = [max(1, round(float(p) * 65536)) for p in probabilities]
    found[int(np.argmax(found))] += 65536 - sum(found)
    return found


@torch.no_grad()
def tables(codec, name, latents, reduction, multiplier):
    """Tables of a codec whose latents and hyper latents have these channels; `multiplier` gives that of a quality."""
    reach = torch.arange(-64.0, 65.0)
    probability = codec.prior(reach.view(-1, 1, 1, 1).repeat(1, HYPER, 1, 1)).view(len(reach), HYPER).numpy().astype(float)
    hyper = []
    for channel in range(HYPER):
        inside = np.flatnonzero(probability[:, channel] * 65536 >= 0.5)
        first, last = int(inside[0]), int(inside[-1])
        own = probability[first:last + 1, channel]
        hyper.append({"smallest": int(reach[first]), "counts": counts([*own, max(0.0, 1 - own.sum())])})
    steps = {str(q): float(f"{codec.step(torch.tensor(multiplier(q))).item():.9g}") for q in QUALITIES}
    return {
        "kind": "svc.image_codec_tables", "schema_version": 1, "model": name, "metric": "mse",
        "latent_channels": latents, "latent_reduction": reduction, "hyper_channels": HYPER, "hyper_reduction": 2 * reduction,
        "steps": steps, "scales": {"smallest": SCALE_MIN, "largest": SCALE_MAX, "count": SCALES}, "hyper_tables": hyper,
    }


@torch.no_grad()
def write_references(codec, image, step, folder):
    """The answers of the PyTorch networks to an image [H, W, 3], for comparing the ONNX files with them."""
    x, step = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)[None])), torch.tensor([step])
    y = codec.analysis(x, step)
    z = codec.hyper_analysis(y)
    mean, log_scale = codec.hyper_synthesis(torch.round(z), step)
    write_reference(folder / "reference.analysis.json", {"images": x, "step": step}, {"latents": y})
    write_reference(folder / "reference.hyper_analysis.json", {"latents": y}, {"hyper_latents": z})
    write_reference(folder / "reference.hyper_synthesis.json", {"hyper_latents": torch.round(z), "step": step},
                    {"mean": mean, "log_scale": log_scale})
    write_reference(folder / "reference.synthesis.json", {"latents": torch.round(y), "step": step},
                    {"images": codec.synthesis(torch.round(y), step)})
