"""LPIPS and DISTS of the test photographs as libjpeg codes them, over a tiny network. Writes ../perceptual_network.csv, and the folders
perceptual_lpips and perceptual_dists with the network and its weights.

Run: PYTHONPATH=<torch> python3 measure_perceptual.py, with PyTorch 2.13.0, onnx 1.23.1 and Pillow 9.4.0 on libjpeg-turbo 2.1.5. The network
has two of the published layers with random weights: it tells whether the measures are computed as published, nothing about images.
The measures follow lpips 0.1.4 (normalize_tensor, spatial_average) and DISTS_pytorch 0.1 (forward).
"""
import json

import numpy as np
import torch
from photographs import FOLDER, coded, write
from torch import nn

MEAN, DEVIATION = (torch.tensor(v).double()[:, None, None] for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
LAYERS = {"relu1_2": 8, "relu2_2": 12}


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)

    def forward(self, x):
        low = torch.relu(self.first(x))
        return low, torch.relu(self.second(nn.functional.max_pool2d(low, 2)))


def lpips(features, others, weights):
    total = 0
    for x, y, weight in zip(features, others, weights):
        x, y = (value / (value.square().sum(0, keepdim=True).sqrt() + 1e-10) for value in (x, y))
        total = total + ((x - y).square() * weight[:, None, None]).sum(0).mean()
    return total.item()


def dists(features, others, alphas, betas):
    total = sum(weight.sum() for weight in (*alphas, *betas))
    first = second = 0
    for x, y, alpha, beta in zip(features, others, alphas, betas):
        mx, my = x.mean((1, 2)), y.mean((1, 2))
        first = first + (alpha / total * (2 * mx * my + 1e-6) / (mx**2 + my**2 + 1e-6)).sum()
        vx, vy = x.var((1, 2), unbiased=False), y.var((1, 2), unbiased=False)
        covariance = (x * y).mean((1, 2)) - mx * my
        second = second + (beta / total * (2 * covariance + 1e-6) / (vx + vy + 1e-6)).sum()
    return (1 - first - second).item()


torch.manual_seed(23)
network = Network()
with torch.no_grad():
    for layer in (network.first, network.second):
        layer.bias.fill_(0.1)
weights = [torch.rand(size) for size in LAYERS.values()]
alphas, betas = ([torch.rand(size) for size in (3, *LAYERS.values())] for _ in range(2))
layers = {
    "lpips": {name: {"weights": row.tolist()} for name, row in zip(LAYERS, weights)},
    "dists": {name: {"alpha": a.tolist(), "beta": b.tolist()} for name, a, b in zip(("image", *LAYERS), alphas, betas)},
}
for measure, rows in layers.items():
    folder = FOLDER / f"perceptual_{measure}"
    folder.mkdir(exist_ok=True)
    axes = {name: {2: f"h{i}", 3: f"w{i}"} for i, name in enumerate(("x", *LAYERS))}
    torch.onnx.export(network, (torch.zeros(1, 3, 64, 64),), folder / "model.onnx", input_names=["x"], output_names=list(LAYERS),
                      dynamic_axes=axes, dynamo=False)
    (folder / "perceptual.json").write_text(json.dumps({"measure": measure, "layers": rows}) + "\n")
network.double()
points = []
for at, triples in coded():
    scores = {measure: [] for measure in layers}
    for original, decoded, _ in triples:
        pair = [torch.from_numpy(np.array(image, float)).permute(2, 0, 1) / 255 for image in (original, decoded)]
        with torch.no_grad():
            features = [[part[0] for part in network(((x - MEAN) / DEVIATION)[None])] for x in pair]
            scores["lpips"].append(lpips(*features, [w.double() for w in weights]))
            full = [[x, *rest] for x, rest in zip(pair, features)]
            scores["dists"].append(dists(*full, [a.double() for a in alphas], [b.double() for b in betas]))
    points += [f"{at},quality.{measure},{np.mean(values):.8g}" for measure, values in scores.items()]
write("perceptual_network", points)
