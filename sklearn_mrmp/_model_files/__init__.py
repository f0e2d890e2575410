"""Model files that hold data and never code.

Five layers, each of which trusts the file no further than it has checked it itself:

- `_json`: JSON of bounded size, depth and number of values, without duplicate keys;
- `_container`: the safetensors layout, checked before anything is allocated, with a checksum;
- `_values`: plain values, arrays and sparse matrices as a tree of JSON and tensor names;
- `_parts`, `_own_parts`, `_sklearn_parts`, `_net_state`: objects of an explicit list of classes;
- `_api`: `save`, `load` and the methods of the classifiers.

Nothing here knows pickle, evaluates text, or imports a module that a file names.
"""
