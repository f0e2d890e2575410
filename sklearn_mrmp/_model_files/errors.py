"""The one exception of model files. Leaf module."""


class ModelFileError(ValueError):
    """A model cannot be saved as data, or a file is not a model file that can be trusted.

    `sklearn_mrmp.load` raises it for every file that is truncated, changed, made by a newer
    version or made to do harm; `sklearn_mrmp.save` for a model with a part that is not plain data.
    Trouble with the file system itself (no such file, no permission, a full disk) stays the
    `OSError` it is.

    Examples
    --------
    >>> from sklearn_mrmp import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """


class UnsupportedPartError(ModelFileError):
    """A value that model files have no place for; `save` may leave it out or pass this on."""
