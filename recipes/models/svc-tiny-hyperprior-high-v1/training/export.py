"""Writes the files of svc_tiny_hyperprior_high from the checkpoints of train.py: four ONNX networks, tables.json, the loss
curve, the evaluation and the stored answers.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-hyperprior-high-v1/training/export.py <photographs> <checkpoints> <package>

Weights are kept in half precision, cast when the file is loaded. Everything that is evaluated here is evaluated with the
rounded weights.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from train import (
    BATCH, LAPPED_LEARNING_RATE, LEARNING_RATE, MULTIPLIERS, PATCH, SEEDS, STEPS, measure, quality_multiplier, validation,
)  # sets the paths of the imports below
from codec_graph import ROLES, CodecGraph, depth_first, tables, write_references
from lapped import LATENTS, REDUCTION, Codec
from network import HYPER, UNIT
from onnx_graph import halve
from records import digest, write_curve, write_json


class LappedGraph(CodecGraph):
    def part(self, x, first, last, axis, stride=1):
        """x[first:last:stride] along an axis."""
        bounds = [self.integers(f"at{value}", [value]) for value in (first, last, axis, stride)]
        return self.node("Slice", [x, *bounds])


def analysis_onnx(model):
    g = LappedGraph("analysis")
    images, step = g.input("images", ["batch", 3, "height", "width"]), g.input("step", [1])
    x = g.node("Mul", [g.node("Sub", [images, g.constant("half", 0.5)]), g.constant("unit", 255 / UNIT)])
    width, end = REDUCTION // 2, 2 ** 31 - 1
    for axis in (2, 3):
        ends = [g.part(x, width - 1, -end, axis, -1), g.part(x, -1, -width - 1, axis, -1)]
        x = g.node("Concat", [ends[0], x, ends[1]], axis=axis)
    g.node("Div", [g.layer(x, model.lapped, "lapped"), step], "latents")
    g.output("latents", ["batch", LATENTS, "rows", "columns"])
    return g.bytes()


def synthesis_onnx(model):
    g = LappedGraph("synthesis")
    latents, step = g.input("latents", ["batch", LATENTS, "rows", "columns"]), g.input("step", [1])
    y = wide = g.node("Mul", [latents, step])
    for axis in (2, 3):
        sign, end = g.constant(f"parity{axis}", model.parity[axis - 2].numpy()), 2 ** 31 - 1
        ends = [g.node("Mul", [g.part(wide, *bounds, axis), sign]) for bounds in ((0, 1), (-1, end))]
        wide = g.node("Concat", [ends[0], wide, ends[1]], axis=axis)
    x = g.layer(wide, model.lapped, "lapped")
    hidden = g.leaky(g.layer(g.leaky(g.layer(y, model.entry, "entry")), model.up, "up"))
    joined = g.node("Concat", [hidden, g.node("SpaceToDepth", [x], blocksize=2), g.level(step, hidden)], axis=1)
    own, seen, level = model.join.weight.split([20, 12, 1], 1)
    weight = torch.cat([own, depth_first(seen, 3, 2), level], 1)
    hidden = g.leaky(g.convolve(joined, weight, model.join.bias, "join", padding=1))
    hidden = g.node("Add", [hidden, g.leaky(g.layer(hidden, model.mix, "mix"))])
    x = g.node("Add", [x, g.node("DepthToSpace", [g.layer(hidden, model.exit, "exit")], blocksize=2, mode="CRD")])
    g.node("Add", [g.node("Mul", [x, g.constant("unit", UNIT / 255)]), g.constant("half", 0.5)], "images")
    g.output("images", ["batch", 3, "height", "width"])
    return g.bytes()


def hyper_analysis_onnx(model):
    g = CodecGraph("hyper_analysis")
    latents = g.input("latents", ["batch", LATENTS, "rows", "columns"])
    size = g.node("Log", [g.node("Add", [g.node("Abs", [latents]), g.constant("one", 1.0)])])
    joined = g.node("Concat", [size, g.node("Mul", [size, g.node("Sign", [latents])])], axis=1)
    hidden = g.leaky(g.layer(joined, model.entry, "entry"))
    g.layer(g.leaky(g.layer(hidden, model.down, "down")), model.exit, "exit", "hyper_latents")
    g.output("hyper_latents", ["batch", HYPER, "hyper_rows", "hyper_columns"])
    return g.bytes()


def hyper_synthesis_onnx(model):
    g = CodecGraph("hyper_synthesis")
    z, step = g.input("hyper_latents", ["batch", HYPER, "hyper_rows", "hyper_columns"]), g.input("step", [1])
    hidden = g.leaky(g.layer(g.node("Concat", [z, g.level(step, z)], axis=1), model.up, "up"))
    hidden = g.leaky(g.layer(hidden, model.mix, "mix"))
    weights, biases = model.exit.weight.split(LATENTS), model.exit.bias.split(LATENTS)
    g.node("Div", [g.convolve(hidden, weights[0], biases[0], "exit.mean"), step], "mean")
    scale = g.convolve(hidden, weights[1], biases[1], "exit.log_scale")
    g.node("Sub", [scale, g.node("Log", [step])], "log_scale")
    for name in ("mean", "log_scale"):
        g.output(name, ["batch", LATENTS, "rows", "columns"])
    return g.bytes()


def main(data, checkpoints, package):
    training = package / "training"
    saved = torch.load(checkpoints / "best.pt", weights_only=False)
    codec = Codec()
    codec.load_state_dict(saved["codec"])
    halve(codec)
    held_out = validation(data)
    rows = measure(codec, held_out)
    write_json(training / "candidates" / "lapped.json", {
        "candidate": "lapped", "seeds": SEEDS, "steps": STEPS, "batch": BATCH, "patch": PATCH, "learning_rate": LEARNING_RATE,
        "lapped_learning_rate": LAPPED_LEARNING_RATE, "multipliers": MULTIPLIERS,
        "checkpoint": f"step {saved['step']}"})
    write_curve(training / "loss_curve.csv", torch.load(checkpoints / "last.pt", weights_only=False)["curve"])
    networks = {
        "analysis": analysis_onnx(codec.analysis), "hyper_analysis": hyper_analysis_onnx(codec.hyper_analysis),
        "hyper_synthesis": hyper_synthesis_onnx(codec.hyper_synthesis), "synthesis": synthesis_onnx(codec.synthesis),
    }
    for role, content in networks.items():
        (package / f"{role}.onnx").write_bytes(content)
    found = tables(codec, "svc_tiny_hyperprior_high", LATENTS, REDUCTION, quality_multiplier)
    write_json(package / "tables.json", found)
    write_references(codec, held_out[0, 96:112, 96:112], found["steps"]["3"], training)
    write_json(training / "evaluation.json", {
        "objective": "mean over qualities and validation photographs of bits per pixel + multiplier · squared error",
        "selected": "lapped", "candidates": {"lapped": float(np.mean([row["loss"] for row in rows]))},
        "population_sha256": digest(held_out), "validation": rows,
        "parameters": {role: sum(p.numel() for p in getattr(codec, role).parameters()) for role in ROLES},
    })
    print({role: len(content) for role, content in networks.items()}, *rows, sep="\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
