"""fetch_*: against a server on loopback that can fail, lie and be absent."""

import gzip
import hashlib
import http.server
import io
import os
import re
import socket
import tarfile
import threading
import warnings
import zlib

import pytest
from sklearn.datasets import get_data_home

from sklearn_mrmp.datasets import _fetch, fetch_mulan, fetch_reuters21578

XML = b'<labels><label name="a"/><label name="b"/></labels>'
ARFF = b"@relation t\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,0,1\n"
WIRE = (
    '<REUTERS TOPICS="YES" LEWISSPLIT="{}" NEWID="1"><TOPICS><D>corn</D></TOPICS>'
    "<TEXT><BODY>x</BODY></TEXT></REUTERS>"
)


class Server:
    """Serves ``files``; the first ``failures[path]`` requests of a path get an error or less."""

    def __init__(self):
        outer = self
        self.files, self.failures, self.requests, self.status = {}, {}, [], 503

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(self.path)
                body = outer.files.get(self.path)
                if outer.failures.get(self.path, 0) > 0:
                    outer.failures[self.path] -= 1
                    if outer.status != "cut":
                        return self.send_error(outer.status)
                    self.send_response(200)
                    self.send_header("Content-Length", len(body))
                    self.end_headers()
                    return self.wfile.write(body[: len(body) // 2])
                if body is None:
                    return self.send_error(404)
                self.send_response(200)
                self.send_header("Content-Length", len(body))
                self.end_headers()
                return self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@pytest.mark.parametrize("fetch", [lambda **k: fetch_mulan("t", **k), fetch_reuters21578])
def test_looking_for_data_makes_no_folder(fetch, tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(home))
    for options in ({}, {"data_home": home}):
        with pytest.raises(OSError, match="not found in"):
            fetch(download_if_missing=False, **options)
    assert not home.exists()


def test_the_data_home_is_found_as_scikit_learn_finds_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SCIKIT_LEARN_DATA", raising=False)
    for given in (None, "~/mine", tmp_path / "other"):
        assert str(_fetch.data_home_folder(given)) == get_data_home(given)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", "~/set")
    assert str(_fetch.data_home_folder(None)) == get_data_home(None)


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def tiny(server, monkeypatch):
    """The server has a data set "tiny" whose checksums are known."""
    files = {"tiny.xml": XML, "tiny-train.arff": ARFF, "tiny-test.arff": ARFF}
    server.files = {f"/tiny/{name}": content for name, content in files.items()}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    monkeypatch.setattr(_fetch, "MULAN_SHA256", sums)
    return server


def fetch(server, home, name="tiny", **options):
    return fetch_mulan(name, home, base_url=server.url, delay=0.001, **options)


def test_files_are_downloaded_once_into_the_documented_layout(tiny, tmp_path):
    dataset = fetch(tiny, tmp_path)
    assert dataset.data.shape == (2, 1)
    assert dataset.target_names == ["a", "b"]
    found = sorted(path.name for path in (tmp_path / "mulan" / "tiny").iterdir())
    assert found == ["tiny-test.arff", "tiny-train.arff", "tiny.xml"]
    assert len(tiny.requests) == 3
    assert fetch(tiny, tmp_path, subset="test").data.shape == (1, 1)
    assert len(tiny.requests) == 3


def test_the_data_home_is_scikit_learns(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    fetch(tiny, None)
    assert (tmp_path / "home" / "mulan" / "tiny" / "tiny.xml").is_file()


@pytest.mark.parametrize("status", [503, "cut"])
def test_passing_failures_are_tried_again(tiny, tmp_path, status):
    tiny.status = status
    tiny.failures["/tiny/tiny-train.arff"] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fetch(tiny, tmp_path).data.shape == (2, 1)
    assert tiny.requests.count("/tiny/tiny-train.arff") == 3


@pytest.mark.parametrize(("status", "n_requests"), [(503, 3), ("cut", 3), (403, 1)])
def test_lasting_failures_leave_no_file_behind(tiny, tmp_path, status, n_requests):
    tiny.status = status
    tiny.failures["/tiny/tiny-train.arff"] = 99
    with pytest.raises(OSError, match=r"Cannot download .*tiny-train.arff .*put the file at"):
        fetch(tiny, tmp_path, n_retries=2)
    assert tiny.requests.count("/tiny/tiny-train.arff") == n_requests
    assert [path.name for path in (tmp_path / "mulan" / "tiny").iterdir()] == ["tiny.xml"]


def test_a_wrong_checksum_is_an_error_and_keeps_nothing(tiny, tmp_path):
    tiny.files["/tiny/tiny.xml"] = XML.replace(b"a", b"z")
    with pytest.raises(OSError, match=r"checksum of tiny.xml \(.* expected .*put the file at"):
        fetch(tiny, tmp_path, n_retries=1)
    assert tiny.requests == ["/tiny/tiny.xml"] * 2  # it may have been damaged on its way
    assert list((tmp_path / "mulan" / "tiny").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o755, 0o644), (0o700, 0o600)])
def test_who_can_read_the_folder_can_read_the_files(tiny, tmp_path, folder_mode, file_mode):
    folder = tmp_path / "mulan" / "tiny"
    folder.mkdir(parents=True)
    folder.chmod(folder_mode)
    fetch(tiny, tmp_path)
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {file_mode}


def test_without_a_network_the_error_says_what_to_do(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(OSError, match="Check the network connection, or put the file at"):
        fetch_mulan("scene", tmp_path, base_url=url, n_retries=0)
    folder = re.escape(str(tmp_path / "reuters21578"))
    with pytest.raises(OSError, match=rf"connection, or put its \*.sgm files into {folder} your"):
        fetch_reuters21578(tmp_path, url=f"{url}/r.tar.gz", n_retries=0)


def test_a_silent_server_is_given_up_when_sockets_have_a_timeout(tmp_path):
    before = socket.getdefaulttimeout()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        socket.setdefaulttimeout(0.05)
        try:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with pytest.raises(OSError, match=r"Cannot download .*scene.xml \(timed out\)"):
                fetch_mulan("scene", tmp_path, base_url=url, n_retries=1, delay=0)
        finally:
            socket.setdefaulttimeout(before)


def test_downloading_can_be_forbidden(tiny, tmp_path):
    with pytest.raises(OSError, match=r"tiny.xml, .* not found in .*download_if_missing=False"):
        fetch(tiny, tmp_path, download_if_missing=False)
    with pytest.raises(OSError, match=r"reut2-002.sgm and 19 more not found"):
        fetch_reuters21578(tmp_path, download_if_missing=False)
    assert tiny.requests == []


def test_unknown_data_sets_are_downloaded_with_a_warning_and_may_lack_parts(server, tmp_path):
    server.files = {"/own/own.xml": XML, "/own/own.arff": ARFF}
    with pytest.warns(UserWarning, match="No checksums are known for 'own'"):
        assert fetch(server, tmp_path, "own").data.shape == (1, 1)
    n_requests = len(server.requests)
    fetch(server, tmp_path, "own")
    assert len(server.requests) == n_requests


@pytest.mark.filterwarnings("ignore:No checksums")
def test_names_the_server_does_not_have_are_reported(server, tmp_path):
    with pytest.raises(OSError, match=r"nothing.xml does not exist \(HTTP Error 404"):
        fetch(server, tmp_path, "nothing")
    assert server.requests == ["/nothing/nothing.xml"]
    with pytest.raises(ValueError, match=r"plain name of a data set, got '../x'"):
        fetch(server, tmp_path, "../x")


def archive(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def damaged(content):
    """Give the archive half of its content, and then no deflate block."""
    plain, packer = gzip.decompress(content), zlib.compressobj(wbits=31)
    half = packer.compress(plain[: len(plain) // 2]) + packer.flush(zlib.Z_FULL_FLUSH)
    return half + b"\xff" * 99


@pytest.fixture
def wires(monkeypatch):
    files = {f"{p}.sgm": WIRE.format(p.upper()).encode() for p in ("train", "test")}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    monkeypatch.setattr(_fetch, "REUTERS_SHA256", sums)
    return files


def test_the_reuters_archive_is_unpacked_without_its_folders(server, tmp_path, wires):
    server.files["/r.tar.gz"] = archive(
        {f"./../data/{name}": content for name, content in wires.items()} | {"README.txt": b"x"}
    )
    url = f"{server.url}/r.tar.gz"
    assert fetch_reuters21578(tmp_path, url=url).target_names == ["corn"]
    found = sorted(path.name for path in (tmp_path / "reuters21578").iterdir())
    assert found == ["test.sgm", "train.sgm"]
    assert len(fetch_reuters21578(tmp_path, url=url, subset="test").data) == 1
    assert len(server.requests) == 1


def test_a_wrong_reuters_archive_is_an_error_and_keeps_nothing(server, tmp_path, wires):
    cases = {
        "holds no test.sgm": archive({"train.sgm": wires["train.sgm"]}),
        "SHA-256 sum of train.sgm": archive({**wires, "train.sgm": b"other"}),
        "is not the Reuters-21578 archive": b"<html>moved</html>",
        "Reuters-21578 archive: .* invalid block": damaged(archive({"train.sgm": bytes(1 << 20)})),
    }
    for message, content in cases.items():
        server.files["/r.tar.gz"] = content
        with pytest.raises(OSError, match=message):
            fetch_reuters21578(tmp_path, url=f"{server.url}/r.tar.gz")
        assert list((tmp_path / "reuters21578").iterdir()) == []


def test_a_download_replaces_an_older_file_as_a_whole(server, tmp_path, wires):
    server.files["/r.tar.gz"] = archive(wires)
    older = tmp_path / "reuters21578" / "train.sgm"
    older.parent.mkdir()
    older.write_bytes(b"old content" * 99)
    fetch_reuters21578(tmp_path, url=f"{server.url}/r.tar.gz")
    assert older.read_bytes() == wires["train.sgm"]


def test_the_default_addresses_are_the_projects_own():
    assert _fetch.MULAN_URL.startswith("https://")
    assert _fetch.REUTERS_URL.startswith("https://archive.ics.uci.edu/")
    assert len(_fetch.REUTERS_SHA256) == 22
    assert {name.split("-")[0].split(".")[0] for name in _fetch.MULAN_SHA256} == {
        *("bibtex", "birds", "delicious", "emotions", "medical", "scene", "yeast")
    }
