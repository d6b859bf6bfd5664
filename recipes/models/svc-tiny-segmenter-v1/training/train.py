"""Trains the small segmenter for scenes of `source.synthetic_scenes`; network and losses: ../../training/scene_networks.py.

Candidates differ in width and in the noise they were trained with. The rule takes the greatest mean IoU over classes, ground
included, pooled over the rasters of the validation scenes, averaged over five levels of Gaussian noise; ties to the first
name. Weights are rounded to half precision before anything is evaluated; the loss curve shows the networks before that.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-segmenter-v1/training/train.py <package folder>
"""

import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
from records import digest, write_components, write_curve, write_json, write_reference  # noqa: E402
from scene_networks import SceneNetwork, disturbed, predict, rasters, train  # noqa: E402
from scenes import Scenes, batch, mean_iou, planes  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 61, "validation": 62, "evaluation": 63}
NOISE = (0.0, 0.05, 0.1, 0.2, 0.3)
OBJECTIVE = "mean IoU over classes of the validation scenes, mean over noise of 0, 0.05, 0.1, 0.2 and 0.3"
CANDIDATES = {
    "clean_48": {"widths": [12, 24, 48], "most_noise": 0.0, "steps": 300, "batch": 16, "learning_rate": 4e-3},
    "noisy_48": {"widths": [12, 24, 48], "most_noise": 0.3, "steps": 1000, "batch": 16, "learning_rate": 4e-3},
}


def scores(network, pictures, truth):
    return {level: mean_iou(rasters(*predict(network, images)), truth) for level, images in pictures.items()}


def main(package):
    training = package / "training"
    (training / "candidates").mkdir(parents=True, exist_ok=True)
    scenes, validation = Scenes(SEEDS["training"], 4096, 5), Scenes(SEEDS["validation"], 48, 3)
    pictures = disturbed(validation, NOISE, SEEDS["validation"])
    curve, results, models = [], {}, {}
    for name, configuration in CANDIDATES.items():
        torch.manual_seed(SEEDS["training"])
        models[name] = network = SceneNetwork(configuration["widths"], masks=True)

        def judge(network):
            return float(np.mean(list(scores(network, pictures, validation.classes).values())))

        def report(step, loss, objective):
            curve.append({"candidate": name, "step": step, "training_loss": f"{loss:.5f}",
                          "validation_mean_iou": f"{objective:.4f}"})
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
        output, prototypes = network.outputs(x)
        write_reference(training / "reference.json", {"images": x}, {"output0": output, "output1": prototypes})
    write_json(training / "evaluation.json", {
        "objective": OBJECTIVE, "selected": selected, "candidates": results,
        "population_sha256": digest(*pictures.values()), "parameters": sum(p.numel() for p in network.parameters()),
        "validation": [{"noise": level, "mean_iou": value} for level, value in
                       scores(network, pictures, validation.classes).items()],
        "test": [{"noise": level, "mean_iou": value} for level, value in
                 scores(network, disturbed(test, NOISE, SEEDS["evaluation"]), test.classes).items()],
    })


if __name__ == "__main__":
    main(Path(sys.argv[1]))
