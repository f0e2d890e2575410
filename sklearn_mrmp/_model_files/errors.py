"""The one exception of model files. Leaf module."""


class ModelFileError(ValueError):
    """A model cannot be saved as data, or a file is not a valid model file.

    `sklearn_mrmp.load` raises it for files that are truncated, changed, malicious, or written by a
    newer version. `sklearn_mrmp.save` raises it for a model with a part that is not plain data.
    Problems of the file system (no such file, no permission, a full disk) raise `OSError` instead.

    Examples
    --------
    >>> from sklearn_mrmp import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """


class UnsupportedPartError(ModelFileError):
    """A value that model files have no place for; `save` may leave it out or pass this on."""
