"""The closed list of steps that the tokenizer of a model file may have, and their limits.

Steps are those of the package `tokenizers`, as its JSON names them. They run on every text, so that
a stranger must not choose patterns, or how much longer a step makes a text. Knows plain values.
"""

import base64
import binascii

from sklearn_mrmp._model_files.part import require

# Patterns of the tokenizers that `transformers` makes for the encoders of `outline`.
_PATTERNS = (" {2,}", r"\s{2,}|[\n\r\t]", r"\s+")
_MOST_STEPS = 32
_MOST_SIGNS = 16  # of a prefix or a sign that stands for a space
_MOST_WORD = 200  # letters of a word that is cut into pieces, which takes their cube
_MOST_SPECIAL = 16  # tokens that are added to a text
_MOST_EXPANDED = 64  # bytes that stand for one sign; NFKC has 33

# What each step has besides its type: flags and short texts, and what is checked below.
_NORMALIZERS = {
    "BertNormalizer": {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"},
    "ByteLevel": set(),
    "Lowercase": set(),
    "NFC": set(),
    "NFD": set(),
    "NFKC": set(),
    "NFKD": set(),
    "Nmt": set(),
    "Precompiled": {"precompiled_charsmap"},
    "Prepend": {"prepend"},
    "Replace": {"pattern", "content"},
    "Strip": {"strip_left", "strip_right"},
    "StripAccents": set(),
}
_SPLITS = {
    "BertPreTokenizer": set(),
    "ByteLevel": {"add_prefix_space", "trim_offsets", "use_regex"},
    "Digits": {"individual_digits"},
    "Metaspace": {"replacement", "prepend_scheme", "split"},
    "Punctuation": {"behavior"},
    "Split": {"pattern", "behavior", "invert"},
    "Whitespace": set(),
    "WhitespaceSplit": set(),
}
_ENDS = {
    "BertProcessing": {"sep", "cls"},
    "ByteLevel": {"add_prefix_space", "trim_offsets", "use_regex"},
    "RobertaProcessing": {"sep", "cls", "trim_offsets", "add_prefix_space"},
    "TemplateProcessing": {"single", "pair", "special_tokens"},
}
_MODELS = {
    "BPE": {
        *("vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix"),
        *("end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges"),
    },
    "Unigram": {"vocab", "unk_id", "byte_fallback"},
    "WordLevel": {"vocab", "unk_token"},
    "WordPiece": {"vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"},
}
_WHOLE = {
    *("version", "truncation", "padding", "added_tokens"),
    *("normalizer", "pre_tokenizer", "post_processor", "decoder", "model"),
}


def check_parts(content, n_ids):
    """Check the content of a tokenizer's JSON, or raise ModelFileError.

    Parameters
    ----------
    content : object
        Out of a file; anything is expected.
    n_ids : int
        How many ids there are.
    """
    require(isinstance(content, dict) and content.keys() == _WHOLE, "parts of a tokenizer")
    unset = [content[name] for name in ("truncation", "padding", "decoder")]
    require(unset == [None, None, None], "limits of a tokenizer")
    _check_steps(content["normalizer"], _NORMALIZERS, "normalizers", n_ids)
    _check_steps(content["pre_tokenizer"], _SPLITS, "pretokenizers", n_ids)
    _check_steps(content["post_processor"], _ENDS, "processors", n_ids)
    model = content["model"]
    _check_part(model, _MODELS, n_ids)
    # A list is what Unigram has, whose ids are the places in it.
    require(isinstance(model.get("vocab"), list) == (model["type"] == "Unigram"), "a vocabulary")


def _check_steps(step, known, name, n_ids):
    """Check a step, or a sequence of them, in which only replacing is done more than once."""
    steps = _flat(step, name)
    kinds = [kind["type"] for kind in steps if isinstance(kind, dict) and "type" in kind]
    once = [kind for kind in kinds if kind not in ("Replace", "Split")]
    require(all(isinstance(kind, str) for kind in kinds), "steps of a tokenizer")
    require(len(steps) <= _MOST_STEPS and len(set(once)) == len(once), "steps of a tokenizer")
    for part in steps:
        _check_part(part, known, n_ids)
        if part["type"] == "Replace":
            _check_growth(part)


def _flat(step, name):
    """Return the steps of a sequence, which are no sequences themselves."""
    if step is None:
        return []
    if not isinstance(step, dict) or step.get("type") != "Sequence":
        return [step]
    require(step.keys() == {"type", name} and isinstance(step[name], list), "a tokenizer")
    return step[name]


def _check_part(part, known, n_ids):
    """Check the names and the values of a part, which must be of a known type."""
    require(isinstance(part, dict) and isinstance(part.get("type"), str), "a tokenizer's part")
    kind = part["type"]
    require(kind in known, f"a tokenizer with a part of type {kind!r:.50}")
    # Versions of the package differ in which of them they write.
    strange = sorted(part.keys() - known[kind] - {"type"})
    require(not strange, f"a tokenizer's {kind} with {strange!r:.100}")
    for name, value in part.items():
        check = _VALUES.get(name, _is_flag)
        require(check(value, n_ids), f"a tokenizer's {kind} with {name}={value!r:.50}")


def _is_flag(value, n_ids=None):
    return value is None or isinstance(value, bool) or _is_short(value)


def _is_short(value, n_ids=None):
    return isinstance(value, str) and len(value) <= _MOST_SIGNS


def _is_id(value, n_ids):
    return type(value) is int and 0 <= value < n_ids


def _is_text(value, n_ids=None):
    return value is None or isinstance(value, str)


def _is_vocabulary(value, n_ids):
    if isinstance(value, dict):
        return all(_is_id(number, n_ids) for number in value.values())
    pairs = isinstance(value, list) and len(value) <= n_ids
    return pairs and all(
        isinstance(pair, list)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and type(pair[1]) in (int, float)
        for pair in value
    )


def _is_pattern(value, n_ids=None):
    """Whether it is a text that is looked for, or one of the known patterns."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    if "Regex" in value:
        return value["Regex"] in _PATTERNS
    return _is_short(value.get("String")) and value["String"] != ""


def _check_growth(part):
    """Require that what is put in a place is no longer than what was there."""
    shortest, content = len(part["pattern"].get("String", " ")), part["content"]
    require(isinstance(content, str) and len(content) <= shortest, "a tokenizer with Replace")


def _is_charsmap(value, n_ids=None):
    """Whether no sign is replaced by a long text: the map ends with the texts, divided by zeros."""
    if not isinstance(value, str):
        return False
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    texts = raw[4 + int.from_bytes(raw[:4], "little") :]
    return len(raw) > 4 and max(map(len, texts.split(b"\0"))) <= _MOST_EXPANDED


def _is_special(value, n_ids):
    """Whether it is the pair of a token and its id."""
    pair = isinstance(value, list) and len(value) == 2
    return pair and isinstance(value[0], str) and _is_id(value[1], n_ids)


def _is_template(value, n_ids=None):
    return isinstance(value, list) and len(value) <= _MOST_SPECIAL


def _are_special(value, n_ids):
    """Whether each name stands for one token."""
    few = isinstance(value, dict) and len(value) <= _MOST_SPECIAL
    return few and all(
        isinstance(token, dict)
        and isinstance(token.get("ids"), list)
        and len(token["ids"]) == 1
        and _is_id(token["ids"][0], n_ids)
        for token in value.values()
    )


_VALUES = {
    "type": _is_text,
    "vocab": _is_vocabulary,
    "merges": lambda value, n_ids: isinstance(value, list),
    "dropout": lambda value, n_ids: value is None,  # tokens are not drawn at random
    "unk_token": _is_text,
    "unk_id": lambda value, n_ids: value is None or _is_id(value, n_ids),
    "max_input_chars_per_word": lambda value, n_ids: _is_id(value, _MOST_WORD + 1),
    "pattern": _is_pattern,
    "precompiled_charsmap": _is_charsmap,
    "sep": _is_special,
    "cls": _is_special,
    "single": _is_template,
    "pair": _is_template,
    "special_tokens": _are_special,
}
