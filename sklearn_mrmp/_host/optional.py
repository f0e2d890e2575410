"""Optional packages (pictures, data frames, progress bars): imported when used, with a hint."""

from importlib import import_module


def import_optional(module, extra):
    """Import `module`, or say which extra of this package installs it.

    Parameters
    ----------
    module : str
        Name of the module, such as ``"matplotlib.pyplot"``.
    extra : str
        The extra of sklearn-mrmp that brings it, such as ``"plot"``.

    Returns
    -------
    module : module
        The imported module.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"This needs {package}, which is not installed. "
            f'Install it with: pip install "sklearn-mrmp[{extra}]"'
        ) from error
