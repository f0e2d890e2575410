"""Token states that are kept in a folder: found again, shared, and never trusted blindly."""

import multiprocessing
import pickle
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from sklearn_mrmp._encoders import pieces
from sklearn_mrmp._encoders.text import PretrainedEncoder
from tests.tiny_encoder import tiny_encoder

pytest.importorskip("transformers")
TEXTS = ["sea", "ship at sea", "", "a very long way from the sea to the desert and back again home"]
MORE = ["desert", "a way home", "the ship"]


@pytest.fixture(scope="module")
def pair():
    return tiny_encoder([*TEXTS, *MORE])


@pytest.fixture(scope="module")
def encoder(pair):
    return PretrainedEncoder.of(pair)


@contextmanager
def counted(encoder):
    """Collect how many windows each forward call of the model reads."""
    calls, model = [], encoder.loaded()[0]

    def count(module, args, options):
        calls.append(len(options["input_ids"]))

    hook = model.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield calls
    finally:
        hook.remove()


def kept(encoder, texts, folder, **options):
    return encoder.encode(texts, cache_dir=folder, **options)[0]


def n_encoded(encoder, texts, folder, **options):
    with counted(encoder) as calls:
        kept(encoder, texts, folder, **options)
    return sum(calls)


def assert_close(found, expected):
    """Equal but for the last digits, which depend on who shares a batch with whom."""
    assert found.lengths.tolist() == expected.lengths.tolist()
    for a, b in zip(rows_of(found), rows_of(expected), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)


def rows_of(rows):
    return [rows.take(np.array([i])).padded()["states"][0][:n] for i, n in enumerate(rows.lengths)]


def shards(folder, pattern="*.npy"):
    return sorted(folder.glob(f"*/{pattern}"))


def test_a_text_that_occurs_twice_is_encoded_once(encoder):
    with counted(encoder) as calls:
        rows = encoder.encode(["sea", "ship at sea", "sea", "sea"])[0]
    assert calls == [2]
    assert rows.lengths.tolist() == [3, 5, 3, 3]
    assert len(rows.states) == 3 + 5 + 2  # and a vector for each text as a whole
    assert_close(rows, encoder.encode(["sea", "ship at sea"])[0].take(np.array([0, 1, 0, 0])))


def test_texts_are_encoded_once_and_found_again(encoder, tmp_path):
    assert n_encoded(encoder, TEXTS, tmp_path) == 4
    assert n_encoded(encoder, TEXTS, tmp_path) == 0
    assert n_encoded(encoder, [*MORE, *TEXTS], tmp_path) == 3
    assert n_encoded(encoder, [MORE[0], TEXTS[0]] * 2, tmp_path) == 0
    assert len(shards(tmp_path)) == len(shards(tmp_path, "*.index")) == 2


def test_states_are_the_same_with_and_without_a_folder(encoder, tmp_path):
    expected = encoder.encode(TEXTS)[0]
    assert_close(kept(encoder, TEXTS, tmp_path), expected)
    assert_close(kept(encoder, TEXTS, tmp_path), expected)
    mixed = [*MORE, *TEXTS, MORE[1]]
    for _ in range(2):
        assert_close(kept(encoder, mixed, tmp_path), encoder.encode(mixed)[0])


def test_texts_of_one_shard_are_read_where_they_are(encoder, tmp_path):
    kept(encoder, MORE, tmp_path)
    kept(encoder, [*TEXTS, *MORE], tmp_path)
    kept(encoder, ["home"], tmp_path)
    rows = kept(encoder, [TEXTS[3], TEXTS[0], TEXTS[3]], tmp_path)
    assert isinstance(rows.states, np.memmap)
    assert not rows.states.flags.writeable
    assert rows.states.dtype == np.float16
    assert_close(rows, encoder.encode([TEXTS[3], TEXTS[0], TEXTS[3]])[0])


def test_texts_of_several_shards_are_gathered_in_memory_or_in_a_file(
    encoder, tmp_path, monkeypatch
):
    kept(encoder, TEXTS, tmp_path)
    kept(encoder, MORE, tmp_path)
    mixed = [TEXTS[1], MORE[0], TEXTS[2]]
    rows = kept(encoder, mixed, tmp_path)
    assert not isinstance(rows.states, np.memmap)
    assert len(rows.states) == rows.lengths.sum() + 3  # and nothing that was not asked for
    monkeypatch.setattr(pieces, "_MOST_BYTES", 10)
    filed = kept(encoder, mixed, tmp_path)
    assert isinstance(filed.states, np.memmap)
    assert_close(filed, rows)


def test_other_encoders_and_other_lengths_have_states_of_their_own(encoder, tmp_path):
    kept(encoder, TEXTS, tmp_path)
    other = PretrainedEncoder.of(tiny_encoder([*TEXTS, *MORE], seed=1))
    assert n_encoded(other, TEXTS, tmp_path) == 4
    assert n_encoded(encoder, TEXTS, tmp_path, max_tokens=4) == 4
    assert n_encoded(encoder, TEXTS, tmp_path, max_tokens=12) == 0  # the whole window, as None
    assert n_encoded(encoder, TEXTS, tmp_path, max_tokens=100) == 5
    assert len(list(tmp_path.iterdir())) == 4
    assert_close(kept(encoder, TEXTS, tmp_path, max_tokens=4), encoder.encode(TEXTS, 4)[0])
    assert_close(kept(encoder, TEXTS, tmp_path, max_tokens=100), encoder.encode(TEXTS, 100)[0])


def test_a_tokenizer_that_splits_otherwise_is_another_encoder(pair):
    from tokenizers.normalizers import Lowercase

    model, tokenizer = pair
    other = pickle.loads(pickle.dumps(tokenizer))
    other.backend_tokenizer.normalizer = Lowercase()
    other.backend_tokenizer.add_tokens(["été"])
    tokenizer = pickle.loads(pickle.dumps(tokenizer))
    tokenizer.backend_tokenizer.add_tokens(["été"])
    marks = {PretrainedEncoder.of((model, t)).fingerprint_ for t in (tokenizer, other)}
    assert len(marks) == 2


def truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def removed(path):
    path.unlink()


def overwritten(path):
    path.write_bytes(b"\x93NUMPY\x01\x00" + b"{[(" * 60)


def changed(path):
    content = bytearray(path.read_bytes())
    for place in range(len(content) % 40, len(content), 40):
        content[place] ^= 0xFF
    path.write_bytes(content)


def of_another_width(path):
    np.save(path, np.zeros((50, 8), dtype=np.float16))


def of_another_type(path):
    np.save(path, np.load(path).astype(np.float32))


def turned(path):
    np.save(path, np.asfortranarray(np.load(path)))


DAMAGE = {
    "*.npy": [
        truncated,
        emptied,
        removed,
        overwritten,
        changed,
        of_another_width,
        of_another_type,
        turned,
    ],
    "*.index": [truncated, emptied, removed, overwritten, changed],
}


@pytest.mark.parametrize(
    ("pattern", "damage"),
    [(pattern, damage) for pattern, kinds in DAMAGE.items() for damage in kinds],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_is_damaged_is_ignored_and_made_again(encoder, tmp_path, pattern, damage):
    expected = kept(encoder, TEXTS, tmp_path)
    damage(shards(tmp_path, pattern)[0])
    assert_close(kept(encoder, TEXTS, tmp_path), expected)
    assert n_encoded(encoder, TEXTS, tmp_path) == 0
    assert_close(kept(encoder, TEXTS, tmp_path), expected)


def test_one_wrong_bit_costs_one_text(encoder, tmp_path):
    expected = kept(encoder, TEXTS, tmp_path)
    path = shards(tmp_path)[0]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert n_encoded(encoder, TEXTS, tmp_path) == 1
    assert_close(kept(encoder, TEXTS, tmp_path), expected)


def test_half_written_files_are_never_read(encoder, tmp_path, monkeypatch):
    def killed(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        kept(encoder, TEXTS, tmp_path)
    monkeypatch.undo()
    assert shards(tmp_path, "*") == []
    kept(encoder, TEXTS, tmp_path)
    assert n_encoded(encoder, TEXTS, tmp_path) == 0


def test_a_full_disk_costs_what_would_be_kept_and_not_the_states(encoder, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.warns(UserWarning, match="could not be kept in .*No space left"):
        rows = kept(encoder, TEXTS, tmp_path)
    assert_close(rows, encoder.encode(TEXTS)[0])
    assert shards(tmp_path, "*") == []


def test_a_folder_that_cannot_be_made_is_refused_before_texts_are_encoded(encoder, tmp_path):
    (tmp_path / "file").write_text("")
    with counted(encoder) as calls, pytest.raises(OSError, match="choose another folder"):
        kept(encoder, TEXTS, tmp_path / "file")
    assert calls == []


def _encode_in_process(folder, cache, texts):
    PretrainedEncoder.of(folder).encode(texts, cache_dir=cache)[0]


def test_processes_share_a_folder(pair, encoder, tmp_path):
    folder, cache = tmp_path / "encoder", tmp_path / "cache"
    for part in pair:
        part.save_pretrained(folder)
    spawn = multiprocessing.get_context("spawn")
    jobs = [
        spawn.Process(target=_encode_in_process, args=(str(folder), cache, texts))
        for texts in (TEXTS, [*TEXTS, *MORE])
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0, 0]
    assert n_encoded(encoder, [*TEXTS, *MORE], cache) == 0


def test_nothing_is_said_about_a_folder_that_works(encoder, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept(encoder, TEXTS, tmp_path)
        assert n_encoded(encoder, TEXTS, tmp_path) == 0


def test_progress_counts_texts_that_were_found(encoder, tmp_path):
    told = []
    kept(encoder, TEXTS, tmp_path, tell=told.append)
    assert told[-1] == 1
    told.clear()
    kept(encoder, TEXTS, tmp_path, tell=told.append)
    assert told == [1]
    told.clear()
    kept(encoder, [*TEXTS, MORE[0]], tmp_path, tell=told.append)
    assert min(told) >= 4 / 5
    assert told[-1] == 1


def test_the_folder_may_begin_with_the_home_folder(encoder, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    kept(encoder, TEXTS, "~/states")
    assert len(shards(tmp_path / "states")) == 1
