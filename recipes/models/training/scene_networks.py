"""Anchor-free one-stage networks for scenes of 96 pixels: a detector, and one that also gives masks.

    images [batch, 3, height, width] in [0, 1], sides multiples of 8
      -> output0 [batch, 4 + classes (+ coefficients), cells]   centre, width and height of a box in pixels; class
                                                                probabilities; mask coefficients
      -> output1 [batch, coefficients, height/2, width/2]       prototypes, of the one with masks

Both outputs are laid out as Ultralytics lays out YOLOv8, so one decoder reads them and these. Every cell of the last feature
map (stride 8) predicts the distances of the box's edges from its centre. A cell is responsible for an object when its centre
lies in the box and within 1.5 cells of the box's centre. The class target of such a cell is the IoU of its box (quality focal
loss), boxes have the GIoU loss, masks the binary cross-entropy inside the box, at the picture's resolution.

Source: Tian et al., FCOS, 2019 (cells, distances); Li et al., Generalized Focal Loss, 2020; Rezatofighi et al., Generalized
Intersection over Union, 2019; Bolya et al., YOLACT, 2019 (prototypes and coefficients).
"""

import numpy as np
import torch
from torch import nn

from onnx_graph import HalfGraph, halve
from scenes import CLASSES, SIZE, STRIDE, detections, noisy, planes

RADIUS = 1.5  # cells
COEFFICIENTS = 8


class Block(nn.Module):
    """3 x 3 convolution, batch normalisation, ReLU."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))

    def fold(self) -> None:
        """Moves the normalisation into the weights of the convolution."""
        scale = self.norm.weight / torch.sqrt(self.norm.running_var + self.norm.eps)
        conv = nn.Conv2d(self.conv.in_channels, self.conv.out_channels, 3, self.conv.stride, 1)
        conv.weight.data = self.conv.weight.data * scale.data[:, None, None, None]
        conv.bias.data = self.norm.bias.data - self.norm.running_mean * scale.data
        self.conv, self.norm = conv, nn.Identity()


class SceneNetwork(nn.Module):
    """`widths` are the channels at strides 2, 4 and 8; `masks` adds coefficients and prototypes."""

    def __init__(self, widths, masks: bool):
        super().__init__()
        a, b, c = widths
        self.masks = masks
        self.down = nn.ModuleList([Block(3, a, 2), Block(a, b, 2), Block(b, b), Block(b, c, 2)])
        self.body = nn.ModuleList([Block(c, c) for _ in range(3)])
        self.box = nn.Conv2d(c, 4, 1)
        self.score = nn.Conv2d(c, len(CLASSES), 1)
        nn.init.constant_(self.score.bias, -4.0)  # few cells hold an object
        if masks:
            self.coefficient = nn.Conv2d(c, COEFFICIENTS, 1)
            self.lateral = nn.ModuleList([Block(b + c, b), Block(a + b, a)])
            self.prototype = nn.Conv2d(a, COEFFICIENTS, 1)

    def forward(self, images):
        """Distances of edges [n, 4, h, w] in pixels, class logits, coefficients and prototypes or None."""
        half = self.down[0](images - 0.5)
        quarter = self.down[2](self.down[1](half))
        hidden = self.down[3](quarter)
        for block in self.body:
            hidden = hidden + block(hidden)
        distances = STRIDE * nn.functional.softplus(self.box(hidden))
        if not self.masks:
            return distances, self.score(hidden), None, None
        grown = self.lateral[0](torch.cat((quarter, nn.functional.interpolate(hidden, scale_factor=2)), 1))
        grown = self.lateral[1](torch.cat((half, nn.functional.interpolate(grown, scale_factor=2)), 1))
        return distances, self.score(hidden), self.coefficient(hidden), self.prototype(grown)

    def outputs(self, images):
        """What the ONNX file gives."""
        distances, logits, coefficients, prototypes = self(images)
        x, y = centres(*logits.shape[2:])
        left, top, right, bottom = distances.unbind(1)
        rows = [x + (right - left) / 2, y + (bottom - top) / 2, left + right, top + bottom]
        rows = torch.cat((torch.stack(rows, 1), torch.sigmoid(logits)), 1)
        if not self.masks:
            return (rows.flatten(2),)
        return torch.cat((rows, coefficients), 1).flatten(2), prototypes

    def deployed(self) -> "SceneNetwork":
        """Itself with the weights of the ONNX file: normalisation folded into them, rounded to half precision."""
        for module in self.modules():
            if isinstance(module, Block):
                module.fold()
        return halve(self)

    def rows(self, g, hidden):
        """The rows of output0 without masks, each [n, ., h, w], from the last feature map of a graph with a constant `half`."""
        stride, two = g.constant("stride", STRIDE), g.constant("two", 2)
        distances = g.node("Mul", [g.node("Softplus", [g.conv(hidden, self.box, "box")]), stride])
        left, top, right, bottom = [part(g, distances, i, i + 1) for i in range(4)]
        # Cell centres as running sums of ones, so that pictures of every size have their grid.
        zeros = g.node("Mul", [left, g.constant("zero", 0)])
        ones = g.node("Add", [zeros, g.constant("one", 1)])

        def centre(axis):
            count = g.node("CumSum", [ones, g.integers(f"axis_{axis}", axis)])
            return g.node("Mul", [g.node("Sub", [count, "half"]), stride])

        return [
            g.node("Add", [centre(3), g.node("Div", [g.node("Sub", [right, left]), two])]),
            g.node("Add", [centre(2), g.node("Div", [g.node("Sub", [bottom, top]), two])]),
            g.node("Add", [left, right]),
            g.node("Add", [top, bottom]),
            g.node("Sigmoid", [g.conv(hidden, self.score, "score")]),
        ]

    def to_onnx(self, size=SIZE) -> bytes:
        """The file of a network that was made ready by `deployed`, for pictures of `size` pixels."""
        g = HalfGraph("scene_segmenter" if self.masks else "scene_detector")
        images = g.input("images", ["batch", 3, "height", "width"])

        def block(x, module, label):
            return g.node("Relu", [g.conv(x, module.conv, label)])

        half = block(g.node("Sub", [images, g.constant("half", 0.5)]), self.down[0], "down.0")
        quarter = block(block(half, self.down[1], "down.1"), self.down[2], "down.2")
        hidden = block(quarter, self.down[3], "down.3")
        for i, module in enumerate(self.body):
            hidden = g.node("Add", [hidden, block(hidden, module, f"body.{i}")])
        rows = self.rows(g, hidden)
        if self.masks:
            rows.append(g.conv(hidden, self.coefficient, "coefficient"))
        joined = g.node("Concat", rows, axis=1)
        count = 4 + len(CLASSES) + (COEFFICIENTS if self.masks else 0)
        g.node("Reshape", [joined, g.integers("flat", [0, count, -1])], "output0")
        g.output("output0", ["batch", count, "cells"])
        if self.masks:
            scales = g.constant("scales", [1, 1, 2, 2])
            grow = lambda x: g.node("Resize", [x, "", scales], mode="nearest",  # noqa: E731
                                    coordinate_transformation_mode="asymmetric", nearest_mode="floor")
            grown = block(g.node("Concat", [quarter, grow(hidden)], axis=1), self.lateral[0], "lateral.0")
            grown = block(g.node("Concat", [half, grow(grown)], axis=1), self.lateral[1], "lateral.1")
            g.conv(grown, self.prototype, "prototype", "output1")
            g.output("output1", ["batch", COEFFICIENTS, "prototype_height", "prototype_width"])
        names = "{" + ", ".join(f"{i}: '{name}'" for i, name in enumerate(CLASSES)) + "}"
        return g.bytes({"task": "segment" if self.masks else "detect", "names": names, "stride": str(STRIDE),
                        "imgsz": f"[{size}, {size}]", "author": "svc"})


def part(g: HalfGraph, x, start, stop):
    bounds = [g.integers(f"at_{value}", [value]) for value in (start, stop, 1)]
    return g.node("Slice", [x, *bounds])


def centres(height, width):
    """Centres of the cells in pixels: x [1, 1, w] and y [1, h, 1]."""
    return [STRIDE * (torch.arange(n, dtype=torch.float32) + 0.5).reshape(shape)
            for n, shape in ((width, (1, 1, width)), (height, (1, height, 1)))]


def responsibility(boxes, height, width):
    """Per picture the object [h, w] that a cell answers for, -1 for none; where two compete, the smaller one."""
    x, y = (axis.numpy()[0] for axis in centres(height, width))
    owner = np.full((len(boxes), height, width), -1, np.int64)
    for picture, found in enumerate(boxes):
        order = np.argsort(-(found[:, 3] - found[:, 1]), kind="stable")
        for index in order:
            x0, y0, x1, y1 = found[index, 1:]
            inside = (x > x0) & (x < x1) & (y > y0) & (y < y1)
            near = (abs(x - (x0 + x1) / 2) < RADIUS * STRIDE) & (abs(y - (y0 + y1) / 2) < RADIUS * STRIDE)
            owner[picture][inside & near] = index
    return owner


def overlaps(distances, targets):
    """IoU and GIoU of boxes that share a point, by the distances of their edges from it; [n, 4] each."""
    low, high = torch.minimum(distances, targets), torch.maximum(distances, targets)
    area = lambda d: (d[:, 0] + d[:, 2]) * (d[:, 1] + d[:, 3])  # noqa: E731
    shared, hull = area(low), area(high)
    union = area(distances) + area(targets) - shared
    return shared / union, shared / union - (hull - union) / hull


def loss_of(network, images, boxes, classes):
    distances, logits, coefficients, prototypes = network(torch.from_numpy(images))
    height, width = logits.shape[2:]
    owner = responsibility(boxes, height, width)
    picture, row, column = np.nonzero(owner >= 0)
    owners = owner[picture, row, column]
    truth = np.stack([boxes[p][o] for p, o in zip(picture, owners)])
    labels = torch.from_numpy(truth[:, 0].astype(np.int64))
    cx, cy = STRIDE * (column + 0.5), STRIDE * (row + 0.5)
    edges = np.column_stack((cx - truth[:, 1], cy - truth[:, 2], truth[:, 3] - cx, truth[:, 4] - cy))
    at = tuple(torch.from_numpy(axis) for axis in (picture, row, column))
    overlap, generalised = overlaps(distances.permute(0, 2, 3, 1)[at], torch.from_numpy(edges.astype(np.float32)))
    target = torch.zeros_like(logits).permute(0, 2, 3, 1).clone()
    target[(*at, labels)] = overlap.detach()
    target = target.permute(0, 3, 1, 2)
    weight = (torch.sigmoid(logits).detach() - target) ** 2
    entropy = nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    total = (weight * entropy).sum() / len(labels) + 2 * (1 - generalised).mean()
    if coefficients is None:
        return total
    # One cell an object is enough for its mask.
    _, chosen = np.unique(picture * 100 + owners, return_index=True)
    masks = torch.einsum("nk,nkhw->nhw", coefficients.permute(0, 2, 3, 1)[tuple(axis[chosen] for axis in at)],
                         prototypes[at[0][chosen]])
    masks = nn.functional.interpolate(masks[:, None], scale_factor=2, mode="bilinear", align_corners=False)[:, 0]
    pixel = np.arange(images.shape[2]) + 0.5
    box = truth[chosen, 1:, None]
    inside = ((pixel > box[:, 0]) & (pixel < box[:, 2]))[:, None, :] & ((pixel > box[:, 1]) & (pixel < box[:, 3]))[:, :, None]
    wanted = torch.from_numpy((classes[picture[chosen]] > 0).astype(np.float32))
    entropy = nn.functional.binary_cross_entropy_with_logits(masks, wanted, reduction="none")
    inside = torch.from_numpy(inside.astype(np.float32))
    return total + 2 * ((entropy * inside).sum((1, 2)) / inside.sum((1, 2))).mean()


def predict(network, images):
    """The outputs of the network for uint8 pictures, as arrays."""
    network.eval()
    with torch.no_grad():
        parts = [network.outputs(torch.from_numpy(planes(images[i:i + 64]))) for i in range(0, len(images), 64)]
    network.train()
    return [torch.cat(rows).numpy() for rows in zip(*parts)]


def rasters(output, prototypes, confidence=0.25, limit=0.7) -> np.ndarray:
    """Class rasters [n, h, w]: masks of the detections inside their boxes, the most confident one on top."""
    height, width = (2 * side for side in prototypes.shape[2:])
    result = np.zeros((len(output), height, width), np.uint8)
    ys, xs = np.mgrid[:height, :width] + 0.5
    for picture, rows in enumerate(detections(output, confidence, limit)):
        for row in rows[::-1]:
            mask = torch.from_numpy(np.einsum("k,khw->hw", output[picture, 4 + len(CLASSES):, int(row[6])], prototypes[picture]))
            mask = nn.functional.interpolate(mask[None, None], scale_factor=2, mode="bilinear", align_corners=False)[0, 0].numpy()
            x0, y0, x1, y1 = row[2:6]
            result[picture][(mask > 0) & (xs > x0) & (xs < x1) & (ys > y0) & (ys < y1)] = 1 + int(row[1])
    return result


def train(network, scenes, configuration, batch_of, judge, report, seed):
    """Adam with one cycle of the learning rate; `judge` gives the objective, `report` takes a row of the curve."""
    rng = np.random.default_rng(seed)
    steps, rate = configuration["steps"], configuration["learning_rate"]
    optimizer = torch.optim.Adam(network.parameters(), rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps, pct_start=0.15)
    running, every = 0.0, max(1, steps // 12)
    for step in range(1, steps + 1):
        loss = loss_of(network, *batch_of(scenes, configuration["batch"], configuration["most_noise"], rng))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % every == 0:
            report(step, running / every, judge(network))
            running = 0.0


def disturbed(scenes, levels, seed):
    """The pictures at every level of noise, each with its own draw."""
    rng = np.random.default_rng(seed)
    return {level: noisy(scenes.images, level, rng) if level else scenes.images for level in levels}
