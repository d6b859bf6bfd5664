"""How every slot model is trained and chosen: Adam under a one-cycle schedule, a loss curve, one ONNX file a candidate, and
the least objective on held-out examples. What a script of its own brings is the data, the network and the loss.
"""

from pathlib import Path
from typing import Callable

import torch
from torch import nn

from records import write_curve, write_json, write_reference


def fit(name: str, model: nn.Module, loss: Callable, objective: Callable, curve: list, *, steps: int, rate: float,
        every: int) -> nn.Module:
    """Trains a model. `loss(model)` draws a batch of its own; `objective(model)` is watched, and never stepped on."""
    optimizer = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps, pct_start=0.1)
    running = 0.0
    for step in range(1, steps + 1):
        value = loss(model)
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running += value.item()
        if step % every == 0:
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / every:.6f}",
                          "validation_objective": f"{objective(model):.6f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return model


def select(here: Path, component: str, candidates: dict, train: Callable, objective: Callable, to_onnx: Callable) -> dict:
    """
    Trains every candidate by `train(name, configuration, curve)`, writes its ONNX file and configuration, and puts the one
    of the least `objective(model)` beside the manifest; ties go to the first name.

    Returns the model, its name and the objective of every candidate.
    """
    curve, models, objectives = [], {}, {}
    (here / "candidates").mkdir(exist_ok=True)
    for name, configuration in candidates.items():
        models[name] = train(name, configuration, curve).eval()
        objectives[name] = objective(models[name])
        (here / "candidates" / f"{name}.onnx").write_bytes(to_onnx(models[name]))
        write_json(here / "candidates" / f"{name}.json", {"candidate": name, "configuration": configuration})
    selected = min(sorted(objectives), key=objectives.get)
    print("selected", selected, objectives, flush=True)
    (here.parent / f"{component}.onnx").write_bytes(to_onnx(models[selected]))
    write_curve(here / "loss_curve.csv", curve)
    return {"model": models[selected], "selected": selected, "candidates": objectives}


def keep(here: Path, chosen: dict, *, objective: str, population_sha256: str, inputs: dict, output: str | list[str],
         matrix, **more) -> None:
    """Writes the evaluation and the answer of the chosen model to `inputs` (NumPy arrays by name); `output` names the answer,
    or each of several."""
    model = chosen["model"]
    with torch.no_grad():
        answer = model(*map(torch.from_numpy, inputs.values()))
    answers = {output: answer} if isinstance(output, str) else dict(zip(output, answer))
    write_reference(here / "reference.json", inputs, answers)
    write_json(here / "evaluation.json", {
        "objective": objective, "selected": chosen["selected"], "candidates": chosen["candidates"],
        "population_sha256": population_sha256, "parameters": sum(p.numel() for p in model.parameters()), "matrix": matrix,
        **more,
    })
