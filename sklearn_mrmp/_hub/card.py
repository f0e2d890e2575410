"""The model card of a fitted model: a README with a YAML head that the Hugging Face Hub reads.

Knows what is read from the model, scores, and markup that holds any names.
"""

from sklearn_mrmp._hub.evaluation import given_scores, scores_on
from sklearn_mrmp._hub.facts import REPO_ID, ModelFacts
from sklearn_mrmp._hub.kept_data import kept_data
from sklearn_mrmp._hub.markup import markdown_table, markdown_text, one_line, yaml_mapping
from sklearn_mrmp._pages.settings import package_versions

_LIBRARY = "sklearn-mrmp"
_HOME = "https://github.com/sklearn-mrmp/sklearn-mrmp"
_MOST_NAMES = 100
_NO_LIMITS = (
    "The author has not yet written what this model is meant for, what it must not be used for, "
    "and for whom it works less well."
)


def model_card(
    model,
    X_test=None,
    y_test=None,
    *,
    repo_id=None,
    title=None,
    description=None,
    limits=None,
    license=None,
    dataset=None,
    language=None,
    tags=(),
    metrics=None,
):
    r"""Write the model card of a fitted model.

    These parts are read from the model: its type, the columns that it reads, its labels, its base
    learners and their weights, parameters that differ from their defaults, the training data that
    its file contains, and versions. The author writes the rest.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline around one, that `save` can save.
    X_test, y_test : array-like, default=None
        Rows that the model was not fitted on, and their target. With them the card has a table
        with accuracy and, for label matrices, the F1 scores.
    repo_id : str, default=None
        Where the model will be, such as ``"someone/tags"``, for the lines that load it.
    title : str, default=None
        The heading; None takes the name in `repo_id`, or the name of the class.
    description : str, default=None
        Markdown below the heading: what the model is for, and which data it has learned from.
    limits : str, default=None
        Markdown about intended uses and limits. With None, a sentence says that this section is not
        written yet.
    license : str, default=None
        Licence of the model by the Hub's identifier, such as ``"mit"``.
    dataset : str, default=None
        Name of the data of the evaluation.
    language : str or sequence of str, default=None
        Languages of the texts, such as ``"en"``.
    tags : sequence of str, default=()
        More tags for the Hub.
    metrics : mapping of str to float, default=None
        Other scores for the table.

    Returns
    -------
    card : str
        Markdown with a YAML head. Names of labels, columns and steps are escaped; `description` and
        `limits` are taken as they are.

    Raises
    ------
    ModelFileError
        When the model cannot be saved.

    See Also
    --------
    save_pretrained : Write the model and its card to a folder.
    push_to_hub : Upload them.

    Examples
    --------
    >>> from sklearn_mrmp import MLKNNClassifier, model_card
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
    >>> knn = MLKNNClassifier().fit(X[:40], Y[:40])
    >>> card = model_card(knn, X[40:], Y[40:], title="Neighbours", license="mit")
    >>> print("\n".join(card.splitlines()[:3]))
    ---
    library_name: "sklearn-mrmp"
    license: "mit"
    """
    _check_texts(
        repo_id=repo_id,
        title=title,
        description=description,
        limits=limits,
        license=license,
        dataset=dataset,
    )
    if repo_id is not None:
        check_repo_id(repo_id)
    kept = kept_data(model)
    facts = ModelFacts.of(model)
    scores = _scores(model, X_test, y_test, metrics)
    title = title or (repo_id or facts.names[-1]).rpartition("/")[2]
    head = _head(facts, scores, title, license, dataset, _list("language", language), tags)
    body = [
        f"# {markdown_text(title)}",
        description,
        _what_it_is(facts),
        f"## How to use it\n\n{_how_to_use(facts, repo_id)}",
        f"## {'Labels' if facts.is_multilabel else 'Classes'}\n\n{_labels(facts)}",
        f"## Evaluation\n\n{_evaluation(scores, dataset, X_test)}",
        f"## Intended uses and limits\n\n{limits or _NO_LIMITS}",
        f"## Training data in the file\n\n{_kept(kept)}",
        *_technical(facts),
    ]
    return "\n\n".join([head, *(part for part in body if part)]) + "\n"


def check_repo_id(repo_id):
    """Refuse what cannot be the name of a repository of somebody."""
    if not isinstance(repo_id, str) or not REPO_ID.fullmatch(repo_id):
        raise ValueError(
            "repo_id is the name of an owner and of a repository, such as 'someone/tags', in "
            f"letters, digits, '-', '_' and '.'; got {one_line(repr(repo_id))}."
        )


def _check_texts(**texts):
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} must be a str or None; got {type(text).__name__}.")


def _list(name, texts):
    texts = [texts] if isinstance(texts, str) else list(texts or ())
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name} must have texts; got {texts!r:.100}.")
    return texts


def _scores(model, X_test, y_test, metrics):
    if (X_test is None) != (y_test is None):
        raise ValueError("Pass X_test and y_test together, or neither of them.")
    given = given_scores(metrics)
    computed = {} if X_test is None else scores_on(model, X_test, y_test)
    if twice := sorted(given.keys() & computed.keys()):
        raise ValueError(
            f"{', '.join(twice)} would be in the card twice: metrics has a value, and X_test and "
            "y_test give another. Leave it out of metrics."
        )
    return computed | given


def _head(facts, scores, title, license, dataset, language, tags):
    """Return the YAML that the Hub reads."""
    task = "text-classification" if facts.reads_texts else "tabular-classification"
    kind = ["multi-label-classification"] if facts.is_multilabel else []
    names = ["scikit-learn", _LIBRARY, *kind, facts.names[-1].lower()]
    values = {
        "library_name": _LIBRARY,
        "license": license,
        "language": language,
        "pipeline_tag": task,
        "base_model": list(facts.encoders),
        "tags": list(dict.fromkeys([*names, *_list("tags", tags)])),
        "metrics": list(dict.fromkeys(map(_kind_of_metric, scores))),
        "model-index": [_results(scores, title, task, dataset)] if scores else [],
    }
    return "\n".join(["---", *yaml_mapping({k: v for k, v in values.items() if v}), "---"])


def _results(scores, title, task, dataset):
    """Return scores in the form of the Hub's tables of results."""
    data = dataset or "test rows of the author"
    metrics = [
        {"type": _kind_of_metric(name), "name": name, "value": round(value, 6)}
        for name, value in scores.items()
    ]
    result = {"task": {"type": task}, "dataset": {"name": data, "type": data}, "metrics": metrics}
    return {"name": title, "results": [result]}


def _kind_of_metric(name):
    """Return the name that the Hub knows a measure by."""
    return "f1" if name.startswith("f1_") else name


def _what_it_is(facts):
    names, count = " that ends in ".join(f"`{name}`" for name in facts.names), len(facts.labels)
    what, gets = "multi-label classifier", f"any number of {count:,} labels"
    if not facts.is_multilabel:
        what, gets = "classifier", f"one of {count:,} classes"
    return (
        f"A {what} made with [{_LIBRARY}]({_HOME}), a package for scikit-learn: it gives each row "
        f"{gets}. The model is a {names} and reads {_rows(facts)}."
    )


def _rows(facts):
    if facts.reads_records:
        return f"dicts, or rows of a data frame, with the columns {_named(facts.columns)}"
    if facts.reads_texts:
        return "texts"
    if facts.n_features is None:
        return "what its first step reads"
    named = f": {_named(facts.columns)}" if facts.columns else ""
    return f"rows with {facts.n_features:,} features{named}"


def _named(columns):
    shown, rest = columns[:_MOST_NAMES], len(columns) - _MOST_NAMES
    return ", ".join(map(markdown_text, shown)) + (f" and {rest:,} more" if rest > 0 else "")


def _how_to_use(facts, repo_id):
    place = repo_id or "path/to/this/folder"
    what = "labels" if facts.is_multilabel else "classes"
    rows = "texts" if facts.reads_texts and not facts.reads_records else "rows"
    lines = [
        "import sklearn_mrmp",
        "",
        f'model = sklearn_mrmp.from_pretrained("{place}")',
        f"model.predict(X)  # {what}; X has new {rows}",
    ]
    if facts.has_label_lists and facts.is_multilabel:
        lines.append("model.predict_labels(X)  # as lists of names")
    code = "\n".join(lines)
    encoder = " The text encoder is loaded by its name, unless the file has its weights."
    return (
        f'```bash\npip install "{_LIBRARY}[hub]"\n```\n\n```python\n{code}\n```\n\n'
        "The file is data: loading it runs no code out of it."
        f"{encoder if facts.encoders else ''}"
    )


def _labels(facts):
    shown = facts.labels[:_MOST_NAMES]
    rows = [[str(number), markdown_text(label)] for number, label in enumerate(shown)]
    table = markdown_table(["column", "name"], rows)
    rest = len(facts.labels) - len(shown)
    return table if rest <= 0 else f"{table}\n\nand {rest:,} more."


def _evaluation(scores, dataset, X_test):
    if not scores:
        return "The author gave no evaluation."
    said = [] if dataset is None else [f"Data: {markdown_text(dataset)}."]
    if X_test is not None:
        n_rows = X_test.shape[0] if hasattr(X_test, "shape") else len(X_test)
        said.append(f"Accuracy and F1 were computed on {n_rows:,} test rows.")
    rows = [[markdown_text(name), f"{value:.4g}"] for name, value in scores.items()]
    return "\n\n".join(filter(None, [" ".join(said), markdown_table(["metric", "value"], rows)]))


def _kept(kept):
    learned = "Learned numbers can say something about the rows they were learned from."
    if not kept:
        return f"The file keeps no training rows, label sets or words. {learned}"
    warning = "The file keeps no training rows, but it does keep what the table lists."
    if any(data.shows_rows for data in kept):
        warning = "**The file contains training rows: whoever has the file has them.**"
    rows = [[data.what, f"{data.count:,}", f"`{data.where}`"] for data in kept]
    table = markdown_table(["what", "how many", "part of the model"], rows)
    return f"{warning} {learned}\n\n{table}"


def _technical(facts):
    """Return sections of voters, parameters and versions."""
    parts = []
    if facts.voters:
        rows = [[markdown_text(name), f"{weight:.3g}"] for name, weight in facts.voters.items()]
        parts.append(f"## Voters\n\n{markdown_table(['voter', 'weight'], rows)}")
    rows = [[markdown_text(name), markdown_text(v)] for name, v in facts.parameters.items()]
    table = markdown_table(["parameter", "value"], rows) if rows else "None."
    parts.append(f"## Parameters that are not at their default\n\n{table}")
    versions = markdown_table(["package", "version"], package_versions().items())
    return [*parts, f"## Versions\n\n{versions}"]
