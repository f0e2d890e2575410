"""Public data sets by name: downloaded once into scikit-learn's data home, then read from there.

The data home is laid out as ``mulan/<name>/<name>-train.arff``, ``-test.arff``, ``<name>.xml`` and
``reuters21578/*.sgm``; files that are already there are used as they are. Transport, checksums and
putting a file in its place as a whole are scikit-learn's `fetch_file`; which failures are tried
again, and what an error says, is decided here.
"""

import hashlib
import os
import re
import tarfile
import tempfile
import time
import warnings
import zlib
from contextlib import suppress
from http.client import HTTPException
from numbers import Integral, Real
from pathlib import Path
from urllib.error import HTTPError

from sklearn.datasets import fetch_file

from sklearn_mrmp._sklearn_compat import Interval, StrOptions, validate_params
from sklearn_mrmp.datasets._checksums import MULAN_SHA256, REUTERS_SHA256
from sklearn_mrmp.datasets._mulan import load_mulan
from sklearn_mrmp.datasets._reuters import load_reuters21578

MULAN_URL = "https://raw.githubusercontent.com/tsoumakas/mulan/master/data/multi-label"
REUTERS_URL = (
    "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld/reuters21578.tar.gz"
)
_PASSING = {408, 425, 429, 500, 502, 503, 504}  # HTTP errors that may be gone at the next try
_COMMON = {
    "data_home": [str, os.PathLike, None],
    "download_if_missing": ["boolean"],
    "subset": [StrOptions({"all", "train", "test"})],
    "n_retries": [Interval(Integral, 0, None, closed="left")],
    "delay": [Interval(Real, 0, None, closed="left")],
}


@validate_params({"name": [str], "base_url": [str], **_COMMON}, prefer_skip_nested_validation=True)
def fetch_mulan(
    name,
    data_home=None,
    download_if_missing=True,
    *,
    subset="all",
    base_url=MULAN_URL,
    n_retries=3,
    delay=1.0,
):
    """Load a Mulan data set by name, and download it first when it is not there.

    Parameters
    ----------
    name : str
        Name of the data set. The files of ``"bibtex"``, ``"birds"``, ``"delicious"``,
        ``"emotions"``, ``"medical"``, ``"scene"`` and ``"yeast"`` are verified by their SHA-256
        sums; any other name that the server has is downloaded with a warning.

    data_home : str or path-like, default=None
        Folder of the data sets; that of `sklearn.datasets.get_data_home` when None. The files of
        a data set are in ``mulan/<name>`` below it.

    download_if_missing : bool, default=True
        If False, raise an error instead of downloading.

    subset : {"all", "train", "test"}, default="all"
        Which rows, as in `load_mulan`.

    base_url : str, default=MULAN_URL
        Folder on the server that holds ``<name>/<name>.xml`` and the ARFF files; the repository
        of the Mulan project by default.

    n_retries : int, default=3
        How often to try again after a failed download.

    delay : float, default=1.0
        Seconds before the first new try; doubled for each further one.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        What `load_mulan` returns.

    Raises
    ------
    OSError
        When files are missing and cannot be, or may not be, downloaded.

    Examples
    --------
    >>> from sklearn_mrmp.datasets import fetch_mulan
    >>> scene = fetch_mulan("scene")  # doctest: +SKIP
    >>> scene.data.shape  # doctest: +SKIP
    (2407, 294)
    """
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise ValueError(f"name must be the plain name of a data set, got {name!r}.")
    folder = data_home_folder(data_home) / "mulan" / name
    wanted = [f"{name}.xml", f"{name}-train.arff", f"{name}-test.arff"]
    if subset == "all" and (folder / f"{name}.arff").is_file():
        wanted = wanted[:1]
    missing = [file for file in wanted if not (folder / file).is_file()]
    if missing:
        _check_may_download(download_if_missing, folder, missing)
        options = {"n_retries": int(n_retries), "delay": float(delay)}
        _download_mulan(f"{base_url.rstrip('/')}/{name}", folder, name, missing, options)
    return load_mulan(folder, name, subset=subset)


@validate_params(
    {"split": [StrOptions({"modapte"})], "url": [str], **_COMMON},
    prefer_skip_nested_validation=True,
)
def fetch_reuters21578(
    data_home=None,
    download_if_missing=True,
    *,
    split="modapte",
    subset="all",
    url=REUTERS_URL,
    n_retries=3,
    delay=1.0,
):
    """Load Reuters-21578, and download it first when it is not there.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets; that of `sklearn.datasets.get_data_home` when None. The SGML
        files are in ``reuters21578`` below it.

    download_if_missing : bool, default=True
        If False, raise an error instead of downloading.

    split : {"modapte"}, default="modapte"
        The split, as in `load_reuters21578`.

    subset : {"all", "train", "test"}, default="all"
        Which rows, as in `load_reuters21578`.

    url : str, default=REUTERS_URL
        Where the distribution (``reuters21578.tar.gz``, 8 MB) is; the UCI repository by default.
        Each of its 22 SGML files is verified by its SHA-256 sum.

    n_retries : int, default=3
        How often to try again after a failed download.

    delay : float, default=1.0
        Seconds before the first new try; doubled for each further one.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        What `load_reuters21578` returns.

    Raises
    ------
    OSError
        When files are missing and cannot be, or may not be, downloaded.

    Examples
    --------
    >>> from sklearn_mrmp.datasets import fetch_reuters21578
    >>> reuters = fetch_reuters21578(subset="test")  # doctest: +SKIP
    >>> len(reuters.data)  # doctest: +SKIP
    3019
    """
    folder = data_home_folder(data_home) / "reuters21578"
    missing = [file for file in REUTERS_SHA256 if not (folder / file).is_file()]
    if missing:
        _check_may_download(download_if_missing, folder, missing)
        _download_reuters(url, folder, {"n_retries": int(n_retries), "delay": float(delay)})
    return load_reuters21578(folder, split, subset=subset)


def data_home_folder(data_home=None):
    """Return the folder that scikit-learn's `get_data_home` names; that function also makes it."""
    if data_home is None:
        data_home = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")
    return Path(data_home).expanduser()


def _check_may_download(download_if_missing, folder, missing):
    if not download_if_missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise OSError(
            f"{', '.join(missing[:3])}{more} not found in {folder}, and download_if_missing=False."
        )


def _download_mulan(url, folder, name, missing, options):
    """Download the missing files; a data set without parts is one ARFF file."""
    if missing[0] not in MULAN_SHA256:
        warnings.warn(
            f"No checksums are known for {name!r}; its files are downloaded unverified.",
            UserWarning,
            stacklevel=3,
        )
    for file in missing:
        try:
            _download_file(f"{url}/{file}", folder / file, MULAN_SHA256.get(file), **options)
        except FileNotFoundError:
            if not file.endswith("-train.arff"):
                raise
            return _download_file(f"{url}/{name}.arff", folder / f"{name}.arff", **options)


def _download_reuters(url, folder, options):
    """Download the archive, verify the files in it, and put them into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as scratch:
        archive = Path(scratch, "reuters21578.tar.gz")
        _download_file(url, archive, by_hand=f"its *.sgm files into {folder}", **options)
        try:
            _unpack(archive, Path(scratch))
        except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
            raise OSError(f"{url} is not the Reuters-21578 archive: {error}.") from error
        for file in REUTERS_SHA256:
            os.replace(Path(scratch, file), folder / file)


def _unpack(archive, folder):
    """Write the SGML files of the archive into the folder, by their plain names."""
    with tarfile.open(archive) as tar:
        members = {Path(member.name).name: member for member in tar if member.isfile()}
        for file, expected in REUTERS_SHA256.items():
            if file not in members:
                raise OSError(f"it holds no {file}")
            content = tar.extractfile(members[file]).read()
            seen = hashlib.sha256(content).hexdigest()
            if seen != expected:
                raise OSError(f"the SHA-256 sum of {file} is {seen}, expected {expected}")
            (folder / file).write_bytes(content)


def _download_file(url, path, sha256=None, *, n_retries, delay, by_hand=None):
    """Download a file; FileNotFoundError when the server has none, OSError when all tries failed.

    The tries are counted here: `fetch_file` would ask again, with a warning each time, for a file
    that is not there, and would not for one with a wrong checksum.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(n_retries + 1):
        if attempt:
            time.sleep(delay * 2 ** (attempt - 1))
        try:
            fetch_file(url, path.parent, path.name, sha256, n_retries=0)
            return _share(path)
        except HTTPError as error:
            if error.code in (404, 410):
                raise FileNotFoundError(f"{url} does not exist ({error}).") from error
            failure = error
            if error.code not in _PASSING:
                break
        except (OSError, HTTPException) as error:
            failure = error
    raise OSError(
        f"Cannot download {url} ({failure}). Check the network connection, or put "
        f"{by_hand or f'the file at {path}'} yourself."
    ) from failure


def _share(path):
    """Let those read the file who can read its folder: `fetch_file` makes it private."""
    with suppress(OSError):  # another user's file, or a file system without permissions
        path.chmod(path.parent.stat().st_mode & 0o644)
