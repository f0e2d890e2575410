"""Parquet, by pyarrow, which the extra ``parquet`` installs; read batch by batch."""

from sklearn_mrmp._cli.formats.chunks import Chunk, DataError
from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._host.optional import import_optional


class ParquetFile:
    """A table with typed columns.

    Parameters
    ----------
    path : str
        The file.
    """

    is_matrix = False

    def __init__(self, path):
        parquet = import_optional("pyarrow.parquet", "parquet")
        self.path = path
        if path == "-":
            raise DataError("standard input", "parquet is read from files alone.")
        try:
            self._file = parquet.ParquetFile(user_path(path))
        except ValueError as error:  # pyarrow's own errors are such
            raise DataError(path, f"not readable as parquet: {error}.") from error
        self.columns = list(self._file.schema_arrow.names)

    def chunks(self, n_rows):
        """Read rows as dicts, `n_rows` at a time."""
        first = 1
        for batch in self._file.iter_batches(batch_size=n_rows):
            rows = batch.to_pylist()
            yield Chunk(rows, [f"{self.path}, row {first + i}" for i in range(len(rows))])
            first += len(rows)
