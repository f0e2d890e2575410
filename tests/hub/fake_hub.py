"""The Hugging Face Hub in memory: takes the calls that the installed huggingface_hub would take."""

import inspect
from pathlib import Path
from types import SimpleNamespace

from huggingface_hub import CommitInfo, HfApi


class FakeHub:
    """Repositories, as a list of commits: branch and files each."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.private = {}
        self.commits = []
        self.calls = []

    def interface(self, *args, **kwargs):
        """What takes the place of ``huggingface_hub.HfApi``."""
        inspect.signature(HfApi.__init__).bind(None, *args, **kwargs)
        return _Interface(self)


class _Interface:
    def __init__(self, hub):
        self._hub = hub

    def __getattr__(self, name):
        real = inspect.signature(getattr(HfApi, name))

        def call(*args, **kwargs):
            bound = real.bind(None, *args, **kwargs)
            bound.apply_defaults()
            self._hub.calls.append(name)
            given = {key: value for key, value in bound.arguments.items() if key != "self"}
            return _ANSWERS[name](self._hub, SimpleNamespace(**given))

        return call


def _repo_exists(hub, given):
    return given.repo_id in hub.private


def _create_repo(hub, given):
    assert given.repo_id not in hub.private
    hub.private[given.repo_id] = bool(given.private)


def _create_branch(hub, given):
    assert given.repo_id in hub.private
    assert given.exist_ok


def _model_info(hub, given):
    return SimpleNamespace(private=hub.private[given.repo_id])


def _upload_folder(hub, given):
    assert given.repo_id in hub.private
    branch = given.revision or "main"
    files = {path.name: path.read_bytes() for path in Path(given.folder_path).iterdir()}
    if not given.create_pr:
        hub.commits.append((given.repo_id, branch, files))
    address = f"https://huggingface.co/{given.repo_id}"
    return CommitInfo(
        commit_url=f"{address}/commit/{len(hub.commits)}",
        commit_message=given.commit_message,
        commit_description="",
        oid=str(len(hub.commits)),
        pr_url=f"{address}/discussions/1" if given.create_pr else None,
    )


def _hf_hub_download(hub, given):
    branch = given.revision or "main"
    found = [files for repo, name, files in hub.commits if (repo, name) == (given.repo_id, branch)]
    path = hub.folder / given.filename
    path.write_bytes(found[-1][given.filename])
    return str(path)


_ANSWERS = {
    "repo_exists": _repo_exists,
    "create_repo": _create_repo,
    "create_branch": _create_branch,
    "model_info": _model_info,
    "upload_folder": _upload_folder,
    "hf_hub_download": _hf_hub_download,
}
