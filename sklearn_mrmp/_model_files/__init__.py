"""Model files that hold data and never code.

Five layers, each of which trusts the file no further than it has checked it itself:

- `bounded_json`: JSON of bounded size, depth and number of values, without duplicate keys;
- `container`: the safetensors layout, checked before anything is allocated, with a checksum;
- `encoding`, `decoding`: plain values, arrays and sparse matrices as a tree of JSON and names of
  tensors;
- `objects`, `admitted`, `sklearn_parts`, `table_parts`: objects of a closed list of classes, each
  of which says by its `part` what a file may hold of it;
- `api`: `save`, `load` and the methods of the classifiers.

`torch_weights` helps classes that hold weights of torch modules to check them.

Checkpoints use the first three. Nothing here knows pickle, evaluates text, or imports a module that
a file names.
"""
