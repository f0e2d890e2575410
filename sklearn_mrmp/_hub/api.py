"""`save_pretrained`, `push_to_hub`, `from_pretrained`: a model and its card, here or on the Hub.

The names, and those of the options, are the ones that users of huggingface_hub know. That package
is imported when a repository is asked for; folders do without it.
"""

import os
import tempfile

from sklearn_mrmp._host.files import user_path, write_atomically
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._hub.card import check_repo_id, model_card
from sklearn_mrmp._hub.facts import REPO_ID
from sklearn_mrmp._hub.kept_data import kept_data
from sklearn_mrmp._model_files.api import load, save
from sklearn_mrmp._version import __version__

# Repositories keep files of this kind as large ones, and its tensors can be looked at there.
MODEL_FILE = "model.safetensors"
_CARD_FILE = "README.md"


def save_pretrained(model, save_directory, *, card=None, exist_ok=False, encoder_weights=False):
    """Save a fitted model and its model card to a folder, as a repository on the Hub has them.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline around one; see `save` for what can be saved.
    save_directory : str or path-like
        The folder, which is made if it does not exist. It gets the model as ``model.safetensors``
        and the card as ``README.md``.
    card : str, default=None
        The model card; None writes `model_card(model) <model_card>`.
    exist_ok : bool, default=False
        Whether the folder may have files already. The model and the card are then replaced, and
        other files are kept.
    encoder_weights : bool, default=False
        Whether a pretrained text encoder comes with its weights; see `save`.

    Raises
    ------
    ModelFileError
        When a part of the model is not plain data; nothing is written then.
    FileExistsError
        When the folder has files, and `exist_ok` is False.

    See Also
    --------
    from_pretrained : Load the model.
    push_to_hub : Upload it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_mrmp import MLKNNClassifier, from_pretrained, save_pretrained
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     folder = pathlib.Path(folder, "neighbours")
    ...     save_pretrained(MLKNNClassifier().fit(X, Y), folder)
    ...     print(sorted(path.name for path in folder.iterdir()))
    ...     from_pretrained(folder)
    ['README.md', 'model.safetensors']
    MLKNNClassifier()
    """
    _check_card(card)
    folder = user_path(save_directory)
    _check_folder(folder, exist_ok)
    if card is None:
        card = model_card(model)
    else:
        kept_data(model)  # refuses what cannot be saved before there is a folder
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / MODEL_FILE, encoder_weights=encoder_weights)
    write_atomically(folder / _CARD_FILE, [card.encode("utf-8", "replace")])


def push_to_hub(
    model,
    repo_id,
    *,
    card=None,
    private=None,
    exist_ok=False,
    encoder_weights=False,
    revision=None,
    create_pr=False,
    commit_message="Add model",
    token=None,
):
    """Upload a fitted model and its model card to the Hugging Face Hub.

    Needs the extra ``hub``. A model that cannot be saved is refused before anything is uploaded.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline around one; see `save` for what can be saved.
    repo_id : str
        Owner and name of the repository, such as ``"someone/tags"``. It is made if it does not
        exist.
    card : str, default=None
        The model card; None writes `model_card(model, repo_id=repo_id) <model_card>`.
    private : bool, default=None
        Whether only the owner can see a new repository; None uses the owner's settings on the Hub.
        It must be set for a model whose file contains training rows, such as a model with
        ``"neighbors"``. True also refuses an existing repository that is public.
    exist_ok : bool, default=False
        Whether the repository may exist. Its model and its card are then replaced by a new commit.
    encoder_weights : bool, default=False
        Whether a pretrained text encoder comes with its weights; see `save`.
    revision : str, default=None
        The branch, which is made if it does not exist; None is the main one.
    create_pr : bool, default=False
        Whether to open a pull request instead of adding a commit; the repository may exist then.
    commit_message : str, default="Add model"
        The message of the commit.
    token : str or bool, default=None
        A token of the Hub; None takes the one that is stored on this machine.

    Returns
    -------
    url : str
        Address of the commit, or of the pull request.

    Raises
    ------
    ModelFileError
        When a part of the model is not plain data.
    FileExistsError
        When the repository exists, and neither `exist_ok` nor `create_pr` is True.
    ValueError
        If the file contains training rows, and `private` is not set.

    See Also
    --------
    from_pretrained : Load the model.
    save_pretrained : Save the same files to a folder.

    Examples
    --------
    >>> from sklearn_mrmp import MLKNNClassifier, push_to_hub
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
    >>> knn = MLKNNClassifier().fit(X, Y)
    >>> push_to_hub(knn, "someone/tags", private=True)  # doctest: +SKIP
    'https://huggingface.co/someone/tags/commit/...'
    """
    check_repo_id(repo_id)
    _check_card(card)
    kept = kept_data(model)
    hub = _hub(token)
    exists = hub.repo_exists(repo_id)
    if exists and not exist_ok and not create_pr:
        raise FileExistsError(
            f"{repo_id} exists. Pass exist_ok=True to replace its model and its card by a new "
            "commit, or create_pr=True to suggest that."
        )
    is_private = hub.model_info(repo_id).private if exists else None
    _check_privacy(repo_id, kept, private, is_private)
    with tempfile.TemporaryDirectory() as folder:
        card = model_card(model, repo_id=repo_id) if card is None else card
        save_pretrained(model, folder, card=card, encoder_weights=encoder_weights)
        if not exists:
            hub.create_repo(repo_id, **({} if private is None else {"private": private}))
        if revision is not None and not create_pr:
            hub.create_branch(repo_id, branch=revision, exist_ok=True)
        commit = hub.upload_folder(
            repo_id=repo_id,
            folder_path=folder,
            commit_message=commit_message,
            revision=revision,
            create_pr=create_pr,
        )
    return str(commit.pr_url or commit.commit_url)


def from_pretrained(
    pretrained_model_name_or_path,
    *,
    revision=None,
    cache_dir=None,
    force_download=False,
    local_files_only=False,
    token=None,
):
    """Load a model from the Hugging Face Hub or from a folder, without running code from it.

    Parameters
    ----------
    pretrained_model_name_or_path : str or path-like
        Owner and name of a repository, such as ``"someone/tags"``, or a folder that
        `save_pretrained` wrote. A folder of that name comes first.
    revision : str, default=None
        Branch, tag or commit of the repository. A branch can change at any time, and a commit never
        changes.
    cache_dir : str or path-like, default=None
        Where downloads are kept; None is the usual place of huggingface_hub.
    force_download : bool, default=False
        Whether to download what is kept already.
    local_files_only : bool, default=False
        Whether to use only files that were downloaded before.
    token : str or bool, default=None
        A token of the Hub; None takes the one that is stored on this machine.

    Returns
    -------
    model : estimator
        The fitted model, as by `load`.

    Raises
    ------
    ModelFileError
        If the file is no model file, damaged, or malicious.
    FileNotFoundError
        When the folder does not exist, or has no model.

    See Also
    --------
    push_to_hub : Upload a model.
    load : Load a model file.

    Examples
    --------
    >>> from sklearn_mrmp import from_pretrained
    >>> model = from_pretrained("someone/tags", revision="v1.0")  # doctest: +SKIP
    """
    name = pretrained_model_name_or_path
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"Expected a repository or a folder; got {type(name).__name__}.")
    folder = user_path(name)
    if folder.is_dir():
        return load(_model_in(folder, revision))
    if not isinstance(name, str) or not REPO_ID.fullmatch(name):
        raise FileNotFoundError(
            f"There is no folder {str(name)!r:.200}, and it is no name of a repository either, "
            "which would be an owner and a name, such as 'someone/tags'."
        )
    path = _hub(token).hf_hub_download(
        name,
        MODEL_FILE,
        revision=revision,
        cache_dir=cache_dir,
        force_download=force_download,
        local_files_only=local_files_only,
    )
    return load(path)


def _hub(token):
    """Return the Hub's interface."""
    package = import_optional("huggingface_hub", "hub")
    return package.HfApi(token=token, library_name="sklearn-mrmp", library_version=__version__)


def _model_in(folder, revision):
    """Return the model file of a folder."""
    if revision is not None:
        raise ValueError(
            f"{str(folder)!r:.200} is a folder here, which has no revision {revision!r}. Leave out "
            "revision, or load the repository from where there is no such folder."
        )
    path = folder / MODEL_FILE
    if not path.exists():
        raise FileNotFoundError(
            f"{str(folder)!r:.200} has no {MODEL_FILE}, which save_pretrained writes. For a model "
            "file of another name there is sklearn_mrmp.load."
        )
    return path


def _check_card(card):
    if card is not None and not isinstance(card, str):
        raise TypeError(
            f"card must be the text of a model card, as model_card returns it, or None; got "
            f"{type(card).__name__}."
        )


def _check_folder(folder, exist_ok):
    """Refuse a place that has something else."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{str(folder)!r:.200} is a file; save_directory must be a folder.")
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    if names and not exist_ok:
        shown = ", ".join(repr(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
        raise FileExistsError(
            f"{str(folder)!r:.200} has files already ({shown}). Choose another folder, or pass "
            f"exist_ok=True to replace {MODEL_FILE} and {_CARD_FILE} in it."
        )


def _check_privacy(repo_id, kept, private, is_private):
    """Refuse to show training rows to others unasked; `is_private` is None of a new repository."""
    if private and is_private is False:
        raise ValueError(
            f"{repo_id} exists and is public, and private=True does not change that. Make it "
            "private in its settings on the Hub first."
        )
    rows = [data for data in kept if data.shows_rows]
    if rows and private is None and not is_private:
        said = "; ".join(f"{data.what} ({data.count:,}, {data.where})" for data in rows)
        raise ValueError(
            f"The model file contains {said}: whoever can download the file has them. Pass "
            "private=True, or private=False if everybody may see them. A classifier without the "
            '"neighbors" voter keeps no training rows.'
        )
