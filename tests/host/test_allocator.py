"""Memory kept between training steps and prediction batches: when, and what is given back."""

import os
import subprocess
import sys

import pytest

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._host import allocator as _allocator
from sklearn_mrmp._host.allocator import kept_memory

LARGE = 2**30


class FakeLibc:
    """Remember what malloc was told."""

    def __init__(self):
        self.settings, self.n_trims = {}, 0

    def mallopt(self, name, value):
        self.settings[name] = value
        return 1

    def malloc_trim(self, pad):
        self.n_trims += 1


def is_setting_of_malloc(name):
    return name == "GLIBC_TUNABLES" or name.startswith("MALLOC_")


@pytest.fixture
def libc(monkeypatch):
    libc = FakeLibc()
    monkeypatch.setattr(_allocator, "_glibc", lambda: libc)
    for name in filter(is_setting_of_malloc, list(os.environ)):
        monkeypatch.delenv(name)
    return libc


def test_freed_blocks_are_kept_inside_and_given_back_afterwards(libc):
    with kept_memory(LARGE, "cpu"):
        assert libc.settings[_allocator._MMAP_MAX] == 0
        assert libc.n_trims == 0
    assert libc.settings[_allocator._MMAP_MAX] == 65_536  # glibc's own
    assert libc.n_trims == 1


def test_malloc_is_set_back_after_an_error_too(libc):
    with pytest.raises(KeyboardInterrupt), kept_memory(LARGE, "cpu"):
        raise KeyboardInterrupt
    assert libc.settings[_allocator._MMAP_MAX] == 65_536


def test_training_of_large_steps_keeps_its_memory(libc, related, monkeypatch):
    monkeypatch.setattr(_allocator, "_KEPT_ANYWAY", 0)
    MrMPClassifier(d_model=8, max_epochs=1, random_state=0).fit(*related)
    assert libc.n_trims == 1


@pytest.mark.parametrize(("step_bytes", "device"), [(2**20, "cpu"), (LARGE, "cuda")])
def test_small_steps_and_other_devices_leave_malloc_alone(libc, step_bytes, device):
    with kept_memory(step_bytes, device):
        pass
    assert not libc.settings
    assert not libc.n_trims


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MALLOC_MMAP_THRESHOLD_", "65536"),
        ("MALLOC_ARENA_MAX", "1"),
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1"),
    ],
)
def test_settings_of_the_user_win(libc, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with kept_memory(LARGE, "cpu"):
        pass
    assert not libc.settings


def test_other_c_libraries_are_left_alone(monkeypatch):
    class Musl:
        def __getattr__(self, name):
            raise AttributeError(name)

    monkeypatch.setattr(_allocator.ctypes, "CDLL", lambda name: Musl())
    assert _allocator._glibc() is None
    with kept_memory(LARGE, "cpu"):
        pass


_PROBE = """
import resource, sys
import torch
from sklearn_mrmp._host.allocator import kept_memory, _glibc
if _glibc() is None:
    sys.exit(77)

def faults_of_steps(n_numbers=2**24):  # 64 MB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        torch.ones(n_numbers)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

faults_of_steps()
outside, before = faults_of_steps(), resident()
with kept_memory(2**30, "cpu"):
    faults_of_steps()
    inside = faults_of_steps()
assert inside < outside / 10, (inside, outside)
assert resident() < before + 2**24, "memory was not given back"
# More than any block that may have stayed: malloc asks the system for it each time.
large = [faults_of_steps(2**26) for _ in range(2)]
assert large[1] > large[0] / 2, "malloc was not set back"
"""


_EXPECTING = """
import resource, sys
import torch
from sklearn_mrmp._host.allocator import expect_large_blocks, _glibc
if _glibc() is None:
    sys.exit(77)

def faults_of_a_batch():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    layers = [torch.ones(2**21) for _ in range(5)]  # 40 MB, in blocks of 8
    del layers
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults_of_a_batch()
outside = faults_of_a_batch()
expect_large_blocks()
faults_of_a_batch()
inside = faults_of_a_batch()
assert inside < outside / 10, (inside, outside)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux' counters")
@pytest.mark.parametrize("probe", [_PROBE, _EXPECTING])
def test_steps_cause_no_page_faults_and_memory_comes_back(probe):
    unset = {name: value for name, value in os.environ.items() if not is_setting_of_malloc(name)}
    command = [sys.executable, "-c", probe]
    run = subprocess.run(command, capture_output=True, text=True, env=unset)
    if run.returncode == 77:
        pytest.skip("the C library is not glibc")
    assert run.returncode == 0, run.stderr
