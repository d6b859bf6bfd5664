"""Trains the small detector for scenes of `source.synthetic_scenes`; network and losses: ../../training/scene_networks.py.

Candidates differ in width and in the noise they were trained with. The rule takes the greatest mean F1 at IoU 0.5 of the
detections above a confidence of 0.25 on the validation scenes, over five levels of Gaussian noise; ties to the first name.
Weights are rounded to half precision before anything is evaluated; the loss curve shows the networks before that.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-detector-v1/training/train.py <package folder>
"""

import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
from records import digest, write_components, write_curve, write_json, write_reference  # noqa: E402
from scene_networks import SceneNetwork, disturbed, predict, train  # noqa: E402
from scenes import Scenes, batch, detections, f1, planes  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 51, "validation": 52, "evaluation": 53}
NOISE = (0.0, 0.05, 0.1, 0.2, 0.3)
OBJECTIVE = "mean F1 at IoU 0.5, confidence 0.25, of the validation scenes over noise of 0, 0.05, 0.1, 0.2 and 0.3"
CANDIDATES = {
    "clean_48": {"widths": [12, 24, 48], "most_noise": 0.0, "steps": 700, "batch": 32, "learning_rate": 4e-3},
    "noisy_32": {"widths": [12, 24, 32], "most_noise": 0.3, "steps": 700, "batch": 32, "learning_rate": 4e-3},
    "noisy_48": {"widths": [12, 24, 48], "most_noise": 0.3, "steps": 1500, "batch": 32, "learning_rate": 4e-3},
}


def scores(network, pictures, boxes):
    return {level: f1(detections(predict(network, images)[0], 0.25, 0.7), boxes) for level, images in pictures.items()}


def main(package):
    training = package / "training"
    (training / "candidates").mkdir(parents=True, exist_ok=True)
    scenes, validation = Scenes(SEEDS["training"], 4096, 5), Scenes(SEEDS["validation"], 128, 3)
    pictures = disturbed(validation, NOISE, SEEDS["validation"])
    curve, results, models = [], {}, {}
    for name, configuration in CANDIDATES.items():
        torch.manual_seed(SEEDS["training"])
        models[name] = network = SceneNetwork(configuration["widths"], masks=False)

        def judge(network):
            return float(np.mean(list(scores(network, pictures, validation.boxes).values())))

        def report(step, loss, objective):
            curve.append({"candidate": name, "step": step, "training_loss": f"{loss:.5f}", "validation_f1": f"{objective:.4f}"})
            print(curve[-1], flush=True)

        train(network, scenes, configuration, batch, judge, report, SEEDS["training"])
        results[name] = judge(network.deployed())
        write_json(training / "candidates" / f"{name}.json", {"candidate": name, "configuration": configuration, "seeds": SEEDS})
        write_curve(training / "loss_curve.csv", curve)
    selected = max(sorted(results), key=results.get)
    print("selected", selected, results, flush=True)
    for name in set(models) - {selected}:
        write_components(training / "candidates" / f"{name}.components.json", {"network": models[name].to_onnx()})
    network = models[selected]
    (package / "model.onnx").write_bytes(network.to_onnx())
    test = Scenes(SEEDS["evaluation"], 256, 3)
    network.eval()
    with torch.no_grad():
        x = torch.from_numpy(planes(validation.images[:1, :24, :16]))
        write_reference(training / "reference.json", {"images": x}, {"output0": network.outputs(x)[0]})
    write_json(training / "evaluation.json", {
        "objective": OBJECTIVE, "selected": selected, "candidates": results,
        "population_sha256": digest(*pictures.values()), "parameters": sum(p.numel() for p in network.parameters()),
        "validation": [{"noise": level, "f1": value} for level, value in scores(network, pictures, validation.boxes).items()],
        "test": [{"noise": level, "f1": value} for level, value in
                 scores(network, disturbed(test, NOISE, SEEDS["evaluation"]), test.boxes).items()],
    })


if __name__ == "__main__":
    main(Path(sys.argv[1]))
