"""A small writer of ONNX graphs: one line a node, weights inside the file, float32 or in half precision.

Opset 17 and IR 8, which every current runtime reads. The names of the weights are those of the PyTorch modules, so a graph
can be compared with its source by eye.
"""

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
HALVED = 1024  # least number of values of a weight in half precision


class Graph:
    """Collects nodes and weights; every method returns the name of a tensor."""

    def __init__(self, name: str):
        self.name = name
        self.nodes, self.weights, self.inputs, self.outputs = [], {}, [], []

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        """Declares an input; a text in `shape` is a free dimension."""
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name, shape, dtype=TensorProto.FLOAT):
        """Declares a tensor that a node has produced as an output."""
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def constant(self, name, value, dtype=np.float32):
        """Keeps an array in the file, once per name."""
        self.weights[name] = numpy_helper.from_array(np.ascontiguousarray(np.asarray(value, dtype)), name)
        return name

    def integers(self, name, value):
        return self.constant(name, value, np.int64)

    def index(self, name, value):
        """One integer without an axis: gathering by it takes the axis away. `constant` gives every number an axis."""
        self.weights[name] = numpy_helper.from_array(np.array(value, np.int64), name)
        return name

    def node(self, kind, inputs, name=None, **attributes):
        """Adds a node with one output."""
        name = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def linear(self, x, module, label, name=None):
        """x·Wᵀ + b over the last axis, for any number of leading axes."""
        weight = self.constant(f"{label}.weight", module.weight.detach().numpy().T)
        y = self.node("MatMul", [x, weight])
        return self.node("Add", [y, self.constant(f"{label}.bias", module.bias.detach().numpy())], name)

    def conv(self, x, module, label, name=None):
        """A convolution of one or two axes with the strides, dilations and padding of the PyTorch module."""
        inputs = [x, self.constant(f"{label}.weight", module.weight.detach().numpy())]
        if module.bias is not None:
            inputs.append(self.constant(f"{label}.bias", module.bias.detach().numpy()))
        return self.node(
            "Conv", inputs, name, kernel_shape=list(module.kernel_size), strides=list(module.stride),
            dilations=list(module.dilation), group=module.groups, pads=list(module.padding) * 2,
        )

    def bytes(self, metadata: dict | None = None) -> bytes:
        """The checked file; `metadata` are texts by key that readers of the file find in it."""
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, list(self.weights.values()))
        model = helper.make_model(
            graph, producer_name="svc", ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", OPSET)],
        )
        helper.set_model_props(model, metadata or {})
        checker.check_model(model, full_check=True)
        return model.SerializeToString(deterministic=True)


class HalfGraph(Graph):
    """A graph whose large weights lie in the file in half precision and are cast when it is loaded."""

    def constant(self, name, value, dtype=np.float32):
        array = np.asarray(value)
        if dtype is not np.float32 or array.size < HALVED:
            return super().constant(name, value, dtype)
        if name not in self.weights:
            half = numpy_helper.from_array(np.ascontiguousarray(array.astype(np.float16)), f"{name}.half")
            self.weights[name] = half
            self.node("Cast", [f"{name}.half"], name, to=TensorProto.FLOAT)
        return name


def halve(network):
    """Rounds the weights that a HalfGraph keeps in half precision, so that what is measured is what is shipped."""
    for parameter in network.parameters():
        if parameter.numel() >= HALVED:
            parameter.data = parameter.data.half().float()
    return network.eval()
