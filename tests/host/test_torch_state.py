"""Device choice, threads and generators."""

import signal
import threading
import time

import pytest
import torch

from sklearn_mrmp._host.threads import run_in_threads, run_on_rows
from sklearn_mrmp._host.torch_state import (
    resolve_device,
    run_torch_in_threads,
    seeded_torch,
    torch_threads,
)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_cuda_then_mps_then_cpu(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert resolve_device("auto") == expected


@pytest.fixture
def machine(monkeypatch):
    """Let torch find some devices."""

    def pretend(n_cuda, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: n_cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: n_cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return pretend


def test_a_named_device_is_taken_where_it_is(machine):
    machine(n_cuda=2, mps=True)
    for name in ("cpu", "cuda", "cuda:0", "cuda:1", "mps", "mps:0"):
        assert resolve_device(name) == name


@pytest.mark.parametrize("name", ["gpu", "", "cuda:x", "cuda:-1"])
def test_a_name_that_torch_does_not_know_is_refused(name):
    with pytest.raises(ValueError, match=f"{name!r} is not a device torch knows; use 'auto'"):
        resolve_device(name)


@pytest.mark.parametrize(
    ("n_cuda", "mps", "name", "seen"),
    [
        (0, False, "cuda", "no device but the CPU"),
        (0, False, "cuda:7", "no device but the CPU"),
        (0, False, "mps", "no device but the CPU"),
        (0, False, "xpu", "no device but the CPU"),
        (0, False, "meta", "no device but the CPU"),
        (2, False, "cuda:2", "cpu, cuda:0, cuda:1"),
        (0, True, "cuda", "cpu, mps"),
    ],
)
def test_a_device_that_is_not_there_is_refused_with_those_that_are(
    machine, n_cuda, mps, name, seen
):
    machine(n_cuda, mps)
    with pytest.raises(ValueError, match=rf"device='{name}' is not there.* {seen}\. .*'auto'"):
        resolve_device(name)


def test_threads_are_restored_also_after_an_error():
    before = torch.get_num_threads()

    def fail_inside():
        with torch_threads(before + 1):
            assert torch.get_num_threads() == before + 1
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_inside()
    assert torch.get_num_threads() == before


def test_calls_run_at_once_with_one_of_torchs_threads_each():
    before, both_there, seen = torch.get_num_threads(), threading.Barrier(2, timeout=30), []

    def call(item):
        both_there.wait()  # passes only when two are inside
        seen.append((item, torch.get_num_threads()))

    with torch_threads(2):
        run_torch_in_threads(call, [0, 1, 2, 3])
    assert sorted(seen) == [(item, 1) for item in range(4)]
    assert torch.get_num_threads() == before


def test_torchs_threads_are_shared_between_the_calls():
    seen = []
    with torch_threads(9):
        run_torch_in_threads(lambda item: seen.append(torch.get_num_threads()), range(20))
    assert set(seen) == {2}  # four calls at once


def test_threads_born_meanwhile_have_the_number_from_outside():
    before, inside, leave, seen = torch.get_num_threads(), threading.Event(), threading.Event(), []

    def stay(item):
        inside.set()
        leave.wait(30)

    def stay_twice():
        with torch_threads(2):
            run_torch_in_threads(stay, [0, 1])

    caller = threading.Thread(target=stay_twice)
    caller.start()
    inside.wait(30)

    def predict():
        with torch_threads(None):
            seen.append(torch.get_num_threads())

    newborn = threading.Thread(target=predict)
    newborn.start()
    newborn.join()
    leave.set()
    caller.join()
    assert seen == [before]


@pytest.fixture
def ctrl_c():
    """A process that a shell started in the background ignores Ctrl-C; this test must not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_after_the_calls_that_run():
    before, seen = torch.get_num_threads(), []

    def call(item):
        seen.append(item)
        if item == 0:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)

    with pytest.raises(KeyboardInterrupt), torch_threads(2):
        run_torch_in_threads(call, range(1000))
    n_calls = len(seen)
    assert n_calls < 1000
    time.sleep(0.1)
    assert len(seen) == n_calls
    assert torch.get_num_threads() == before


def test_one_thread_calls_in_order_and_here():
    seen = []
    run_in_threads(lambda item: seen.append((item, threading.current_thread())), [2, 1], 1)
    assert seen == [(2, threading.current_thread()), (1, threading.current_thread())]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_blocks_of_rows_cover_each_row_once(n_threads):
    seen = []
    with torch_threads(n_threads):
        run_on_rows(lambda rows: seen.extend(range(rows.start, rows.stop)), 1_000, 2**12)
        run_on_rows(lambda rows: seen.append("never"), 0, 5)
    assert sorted(seen) == list(range(1_000))


def test_an_error_in_a_thread_arrives_and_stops_the_rest():
    before, seen = torch.get_num_threads(), []

    def fail(item):
        seen.append(item)
        raise RuntimeError("no such luck")

    with pytest.raises(RuntimeError, match="no such luck"), torch_threads(2):
        run_torch_in_threads(fail, range(1000))
    assert len(seen) < 1000
    assert torch.get_num_threads() == before


def test_the_callers_generator_is_untouched():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with seeded_torch(0, "cpu"):
        inside = torch.rand(2)
    torch.testing.assert_close(torch.rand(2), expected)
    with seeded_torch(0, "cpu"):
        torch.testing.assert_close(torch.rand(2), inside)
