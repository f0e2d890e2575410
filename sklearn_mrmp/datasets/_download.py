"""Downloads that either leave a complete, verified file behind or nothing.

Knows the standard library only, and nothing of any data set.
"""

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

_CHUNK = 1 << 16
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}


class DownloadError(OSError):
    """A file could not be downloaded; the message says why and what to do without a network."""


class MissingRemoteFileError(DownloadError):
    """The server answered that there is no such file."""


def download(url, path, *, sha256=None, n_retries=3, delay=1.0, timeout=30.0):
    """Download a file, verify it, and only then put it in its place.

    Parameters
    ----------
    url : str
        Where the file is.
    path : Path
        Where it shall be; its folder is created.
    sha256 : str, default=None
        Expected SHA-256 sum in hexadecimal; None verifies nothing.
    n_retries : int, default=3
        How often to try again after a failure that may pass (no connection, time-out, cut short,
        overloaded server, wrong sum).
    delay : float, default=1.0
        Seconds before the first new try; doubled for each further one.
    timeout : float, default=30.0
        Seconds without an answer after which a try has failed.

    Raises
    ------
    DownloadError
        When all tries failed; `MissingRemoteFileError` when the server does not have the file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(n_retries + 1):
        if attempt:
            time.sleep(delay * 2 ** (attempt - 1))
        try:
            return _download_once(url, path, sha256, timeout)
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                raise MissingRemoteFileError(f"{url} does not exist ({error}).") from error
            failure = error
            if error.code not in _TRANSIENT:
                break
        except (OSError, http.client.HTTPException) as error:
            failure = error
    raise DownloadError(
        f"Cannot download {url} ({failure}). Check the network connection, or put the file at "
        f"{path} yourself."
    ) from failure


def _download_once(url, path, sha256, timeout):
    # Not tempfile's: its files are private, and a data home may be shared.
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with (
            partial.open("xb") as file,
            urllib.request.urlopen(url, timeout=timeout) as response,
        ):
            seen = _copy(response, file)
        if sha256 is not None and seen != sha256:
            raise OSError(f"its SHA-256 sum is {seen}, expected {sha256}")
        os.replace(partial, path)  # atomic: readers see the whole file or none
    finally:
        partial.unlink(missing_ok=True)


def _copy(response, file):
    """Copy the response to the file and return its SHA-256 sum; OSError when it is cut short."""
    digest, size = hashlib.sha256(), 0
    while chunk := response.read(_CHUNK):
        file.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    announced = response.headers.get("Content-Length")
    if announced is not None and size != int(announced):
        raise OSError(f"cut short after {size} of {announced} bytes")
    return digest.hexdigest()
