"""A writer of ONNX graphs: nodes are added by calling it, and arrays become constants.

Tensors are known by their names, which are strings. Knows the helpers of `onnx`, by
`import_optional`, and numpy.
"""

from contextlib import contextmanager

import numpy as np

from sklearn_mrmp._host.optional import import_optional

# The first version of the operators in which ScatterElements adds and LayerNormalization is there,
# and the format that goes with it: runtimes since the end of 2022 read both.
OPSET, IR_VERSION = 18, 8
# Protocol buffers end at two gigabytes.
_MOST_BYTES = 2**31 - 2**24
# Equal arrays up to this size are one constant.
_SMALL = 256


class GraphWriter:
    """Collects the nodes of a graph, its inputs, outputs and constants.

    Examples
    --------
    >>> import numpy as np
    >>> op = GraphWriter()
    >>> x = op.input("X", np.float32, ("n", 2))
    >>> op.output("Z", op("Add", x, np.float32([1, 2])), np.float32, ("n", 2))
    >>> [node.op_type for node in op.model().graph.node]
    ['Add', 'Identity']
    """

    def __init__(self):
        self._onnx = import_optional("onnx", "onnx")
        self._nodes, self._inputs, self._outputs = [], [], []
        self._constants, self._scope, self._n_bytes = {}, [], 0

    def __call__(self, kind, *inputs, n_outputs=1, **attributes):
        """Add a node.

        Parameters
        ----------
        kind : str
            The operator.
        *inputs : str, ndarray, numpy scalar or list of int
            Names of tensors, or constants; a list is one of int64.
        n_outputs : int, default=1
            Tensors that the node has.
        **attributes
            Of the operator.

        Returns
        -------
        name : str, or list of str
            Of what comes out.
        """
        place = "/".join([*self._scope, f"{kind}_{len(self._nodes)}"])
        names = [place if n_outputs == 1 else f"{place}:{i}" for i in range(n_outputs)]
        inputs = [part if isinstance(part, str) else self._constant(part) for part in inputs]
        node = self._onnx.helper.make_node(kind, inputs, names, name=place, **attributes)
        self._nodes.append(node)
        return names[0] if n_outputs == 1 else names

    @contextmanager
    def scope(self, name):
        """Put a name before those of the nodes that are added inside."""
        self._scope.append(name)
        yield
        self._scope.pop()

    def input(self, name, dtype, shape):
        """Add an input; dimensions that are not fixed have names."""
        self._inputs.append(self._described(name, dtype, shape))
        return name

    def output(self, name, tensor, dtype, shape):
        """Let a tensor be an output under a name of its own."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [tensor], [name], name=name))
        self._outputs.append(self._described(name, dtype, shape))

    def cast(self, tensor, dtype):
        """Turn a tensor into one of another type."""
        return self("Cast", tensor, to=self._type(dtype))

    def constant_of_shape(self, shape, value):
        """Make a tensor, whose shape is a tensor, of one value, a numpy scalar."""
        array = self._onnx.numpy_helper.from_array(np.array([value]))
        return self("ConstantOfShape", shape, value=array)

    def model(self, metadata=None, **producer):
        """Return the checked model; `metadata` is a mapping of str to str."""
        helper = self._onnx.helper
        constants = [constant for _, constant in self._constants.values()]
        graph = helper.make_graph(
            self._nodes, "sklearn_mrmp", self._inputs, self._outputs, initializer=constants
        )
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, **producer)
        helper.set_model_props(model, dict(metadata or {}))
        self._onnx.checker.check_model(model, full_check=True)
        return model

    def _constant(self, value):
        array = np.array(value, np.int64) if isinstance(value, list) else np.asarray(value)
        is_small = array.nbytes <= _SMALL
        key = (array.dtype.str, array.shape, array.tobytes()) if is_small else id(array)
        if key not in self._constants:
            self._count(array)
            name = f"constant_{len(self._constants)}"
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
            self._constants[key] = array, tensor  # the array is kept, so that its id stays its own
        return self._constants[key][1].name

    def _count(self, array):
        self._n_bytes += array.nbytes
        if self._n_bytes > _MOST_BYTES:
            raise ValueError(
                "The model is too large for ONNX, whose files end at 2 GB. Fit with a smaller "
                "d_model, fewer features or label_sets=False; sklearn_mrmp.save has no such limit."
            )

    def _described(self, name, dtype, shape):
        return self._onnx.helper.make_tensor_value_info(name, self._type(dtype), shape)

    def _type(self, dtype):
        return self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
