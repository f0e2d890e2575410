"""Device choice, threads and generators."""

import pytest
import torch

from sklearn_mrmp._runtime import resolve_device, seeded_torch, torch_threads


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_cuda_then_mps_then_cpu(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert resolve_device("auto") == expected


def test_a_named_device_is_taken_and_an_unknown_one_refused():
    assert resolve_device("cuda:1") == "cuda:1"
    with pytest.raises(ValueError, match="'gpu' is not a device"):
        resolve_device("gpu")


def test_threads_are_restored_also_after_an_error():
    before = torch.get_num_threads()

    def fail_inside():
        with torch_threads(before + 1):
            assert torch.get_num_threads() == before + 1
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_inside()
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
