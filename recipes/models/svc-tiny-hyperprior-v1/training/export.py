"""Writes the files of svc_tiny_hyperprior from the checkpoints of train.py: four ONNX networks, tables.json, the candidates,
the loss curve, the evaluation and the stored answers.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-hyperprior-v1/training/export.py <folder of checkpoints> <package folder>

Weights are kept in half precision, cast when the file is loaded: half the bytes, and 0.001 dB. Everything that is evaluated
here is evaluated with the rounded weights. The test photograph is looked at once, after the selection.
"""

import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "training")]
from codec_graph import ROLES, CodecGraph, depth_first, tables, write_references  # noqa: E402
from network import BLOCK, HYPER, LATENTS, UNIT, Codec  # noqa: E402
from onnx_graph import halve  # noqa: E402
from pictures import photographs  # noqa: E402
from records import digest, write_components, write_curve, write_json  # noqa: E402
from train import (  # noqa: E402
    BATCH, CANDIDATES, LEARNING_RATE, LINEAR_LEARNING_RATE, MULTIPLIERS, PATCH, SEEDS, measure, quality_multiplier, stages,
)


def analysis_onnx(model):
    g = CodecGraph("analysis")
    images, step = g.input("images", ["batch", 3, "height", "width"]), g.input("step", [1])
    x = g.node("Mul", [g.node("Sub", [images, g.constant("half", 0.5)]), g.constant("unit", 255 / UNIT)])
    blocks = g.node("SpaceToDepth", [x], blocksize=BLOCK)
    y = g.convolve(blocks, depth_first(model.linear.weight, 3, BLOCK), model.linear.bias, "linear")
    if model.learned:
        hidden = g.leaky(g.layer(x, model.down1, "down1"))
        hidden = g.node("Concat", [hidden, g.level(step, hidden)], axis=1)
        hidden = g.leaky(g.layer(hidden, model.down2, "down2"))
        y = g.node("Add", [y, g.layer(hidden, model.down3, "down3")])
    g.node("Div", [y, step], "latents")
    g.output("latents", ["batch", LATENTS, "rows", "columns"])
    return g.bytes()


def synthesis_onnx(model):
    g = CodecGraph("synthesis")
    latents, step = g.input("latents", ["batch", LATENTS, "rows", "columns"]), g.input("step", [1])
    y = g.node("Mul", [latents, step])
    x = g.node("DepthToSpace", [g.layer(y, model.linear, "linear")], blocksize=BLOCK, mode="CRD")
    if model.learned:
        hidden = g.leaky(g.layer(y, model.entry, "entry"))
        hidden = g.leaky(g.layer(hidden, model.up1, "up1"))
        hidden = g.leaky(g.layer(hidden, model.up2, "up2"))
        joined = g.node("Concat", [hidden, g.node("SpaceToDepth", [x], blocksize=4), g.level(step, hidden)], axis=1)
        own, seen, level = model.join.weight.split([32, 48, 1], 1)
        weight = torch.cat([own, depth_first(seen, 3, 4), level], 1)
        hidden = g.leaky(g.convolve(joined, weight, model.join.bias, "join", padding=1))
        hidden = g.node("Add", [hidden, g.leaky(g.layer(hidden, model.mix, "mix"))])
        x = g.node("Add", [x, g.node("DepthToSpace", [g.layer(hidden, model.exit, "exit")], blocksize=4, mode="CRD")])
    g.node("Add", [g.node("Mul", [x, g.constant("unit", UNIT / 255)]), g.constant("half", 0.5)], "images")
    g.output("images", ["batch", 3, "height", "width"])
    return g.bytes()


def hyper_analysis_onnx(model):
    g = CodecGraph("hyper_analysis")
    latents = g.input("latents", ["batch", LATENTS, "rows", "columns"])
    hidden = g.leaky(g.layer(latents, model.entry, "entry"))
    hidden = g.leaky(g.layer(hidden, model.down, "down"))
    g.layer(hidden, model.exit, "exit", "hyper_latents")
    g.output("hyper_latents", ["batch", HYPER, "hyper_rows", "hyper_columns"])
    return g.bytes()


def hyper_synthesis_onnx(model):
    g = CodecGraph("hyper_synthesis")
    z, step = g.input("hyper_latents", ["batch", HYPER, "hyper_rows", "hyper_columns"]), g.input("step", [1])
    hidden = g.node("Concat", [z, g.level(step, z)], axis=1)
    hidden = g.leaky(g.layer(hidden, model.up, "up"))
    hidden = g.leaky(g.layer(hidden, model.mix, "mix"))
    for at, name in enumerate(("mean", "log_scale")):
        part = slice(at * LATENTS, (at + 1) * LATENTS)
        g.convolve(hidden, model.exit.weight[part], model.exit.bias[part], f"exit.{name}", name)
        g.output(name, ["batch", LATENTS, "rows", "columns"])
    return g.bytes()


def graphs(codec):
    return {
        "analysis": analysis_onnx(codec.analysis), "hyper_analysis": hyper_analysis_onnx(codec.hyper_analysis),
        "hyper_synthesis": hyper_synthesis_onnx(codec.hyper_synthesis), "synthesis": synthesis_onnx(codec.synthesis),
    }


def load(folder, name):
    """The best checkpoint over all stages of a candidate, its stage and step, and the curve."""
    curve, found = [], []
    for stage, _ in stages(name):
        curve += torch.load(folder / f"{stage}.last.pt", weights_only=False)["curve"]
        saved = torch.load(folder / f"{stage}.best.pt", weights_only=False)
        found.append((float(saved["curve"][-1]["validation_loss"]), stage, saved))
    _, stage, saved = min(found, key=lambda entry: entry[0])
    codec = Codec(CANDIDATES[name]["learned"])
    codec.load_state_dict(saved["codec"])
    return halve(codec), f"{stage}, step {saved['step']}", curve


def main(folder, package):
    training = package / "training"
    validation, test = (photographs(split)[0] for split in ("validation", "test"))
    codecs, results, chosen, curve = {}, {}, {}, []
    for name, configuration in CANDIDATES.items():
        codecs[name], chosen[name], rows = load(folder, name)
        curve += rows
        results[name] = float(np.mean([row["loss"] for row in measure(codecs[name], validation)]))
        (training / "candidates").mkdir(parents=True, exist_ok=True)
        write_json(training / "candidates" / f"{name}.json", {
            "candidate": name, "configuration": configuration, "seeds": SEEDS, "batch": BATCH, "patch": PATCH,
            "learning_rate": LEARNING_RATE, "linear_learning_rate": LINEAR_LEARNING_RATE, "multipliers": MULTIPLIERS,
            "checkpoint": chosen[name]})
    write_curve(training / "loss_curve.csv", curve)
    selected = min(sorted(results), key=results.get)
    for name in set(codecs) - {selected}:  # the networks of the selected one lie in the package
        write_components(training / "candidates" / f"{name}.components.json", graphs(codecs[name]))
    codec = codecs[selected]
    for role, content in graphs(codec).items():
        (package / f"{role}.onnx").write_bytes(content)
    found = tables(codec, "svc_tiny_hyperprior", LATENTS, BLOCK, quality_multiplier)
    write_json(package / "tables.json", found)
    write_references(codec, test[96:128, 96:128], found["steps"]["3"], training)
    write_json(training / "evaluation.json", {
        "objective": "mean over the qualities of bits per pixel + multiplier · squared error, validation photograph",
        "selected": selected, "candidates": results, "population_sha256": digest(validation),
        "parameters": {role: sum(p.numel() for p in getattr(codec, role).parameters()) for role in ROLES},
        "validation": measure(codec, validation), "test": measure(codec, test),
    })
    print(selected, results, {role: len(content) for role, content in graphs(codec).items()})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
