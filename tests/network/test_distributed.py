"""Fits that two real processes make together; `fits_of_processes` says what these do."""

import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch.distributed as dist
from filelock import FileLock
from joblib.externals.loky import ProcessPoolExecutor

from sklearn_mrmp._network.batches import bucketed, share_of
from sklearn_mrmp._network.distributed import group
from tests.network.fits_of_processes import NOT_DROPPED, X, Y, known, plain

ROOT = Path(__file__).parents[2]
PLACE = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
PROGRAM = Path(__file__).with_name("fits_of_processes.py")
SAME = (
    "all_voters",
    "twice_as_large_batches",
    "fewer_rows_than_processes",
    "stopping_early",
    "stopped_by_one",
    "interrupted",
    "frozen_encoder",
    "tuned_encoder",
    "shortlists",
    "folds_and_members",
    "again_on_all_rows",
    "going_on",
    "peer",
    "network_among_voters",
    "without_seed",
    "in_group_of_caller",
)
OTHERS = ("resumed", "failing_in_one", "different_rows", "different_rates", "failing_voter")


def environment(**variables):
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory, request):
    """Folder with what both processes know of all fits, which are made once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent
    folder = folder / "distributed"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            folder.mkdir()
            launch = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2")
            command = [sys.executable, "-m", *launch, str(PROGRAM), str(folder), *SAME, *OTHERS]
            done = subprocess.run(
                command, env=environment(), capture_output=True, text=True, timeout=600
            )
            (folder / "printed").write_text(done.stdout)
            assert done.returncode == 0, done.stderr
    return folder


def both(folder, name):
    return [pickle.loads((folder / f"{name}-{rank}.pickle").read_bytes()) for rank in (0, 1)]


def assert_same(a, b):
    assert len(a["weights"]) == len(b["weights"]) > 0
    for ours, theirs in zip(a["weights"], b["weights"], strict=True):
        assert ours.keys() == theirs.keys()
        for name, weight in ours.items():
            np.testing.assert_array_equal(weight, theirs[name], err_msg=name)
    np.testing.assert_array_equal(a["probabilities"], b["probabilities"])
    assert a["losses"] == b["losses"]
    assert a["vote_weights"] == b["vote_weights"]


@pytest.mark.parametrize("name", SAME)
def test_both_processes_end_with_the_same_classifier_bit_for_bit(outcomes, name):
    first, second = both(outcomes, name)
    assert "error" not in first
    assert_same(first, second)
    assert first["group"] is second["group"] is False  # what a fit opens it closes


def test_a_step_is_that_of_one_process_with_a_batch_as_large_as_both(outcomes):
    together, _ = both(outcomes, "twice_as_large_batches")
    alone = known(plain(**NOT_DROPPED, batch_size=16).fit(X, Y))
    # Later epochs have another order of rows.
    np.testing.assert_allclose(together["losses"][0], alone["losses"][0], rtol=1e-4)


def test_only_the_first_process_prints(outcomes):
    printed = (outcomes / "printed").read_text()
    assert printed.count("network: trains on") == 1


def test_early_stopping_and_callbacks_of_one_process_end_training_for_all(outcomes):
    early, _ = both(outcomes, "stopping_early")
    assert len(early["losses"]) < 20
    stopped, _ = both(outcomes, "stopped_by_one")
    assert len(stopped["losses"]) == 2


def test_ctrl_c_in_the_first_process_keeps_what_all_have_learned(outcomes):
    first, second = both(outcomes, "interrupted")
    assert first["n_epochs"] == second["n_epochs"] == 1


def test_a_training_that_broke_off_inside_an_epoch_goes_on_bit_for_bit(outcomes):
    for found in both(outcomes, "resumed"):
        assert_same(found["resumed"], found["whole"])
        assert "train.checkpoint" in found["files"]


def test_the_group_of_the_caller_is_used_and_left_alone(outcomes):
    own, given = both(outcomes, "all_voters")[0], both(outcomes, "in_group_of_caller")[0]
    assert given["is_still_there"]
    assert_same(own, given)


def test_the_network_looks_at_candidates_and_members_are_all_trained(outcomes):
    assert both(outcomes, "shortlists")[0]["shortlist"] == 2
    assert len(both(outcomes, "folds_and_members")[0]["weights"]) == 4


def test_an_error_in_one_process_ends_the_other_within_seconds(outcomes):
    first, second = both(outcomes, "failing_in_one")
    assert second["error"].startswith("Crash")
    assert first["error"].startswith("RuntimeError: Process 0 of 2 has lost the connection")
    assert first["seconds"] < second["seconds"] + 10


def test_an_error_of_a_voter_is_raised_by_all(outcomes):
    assert all(found["error"].startswith("Crash") for found in both(outcomes, "failing_voter"))


def test_processes_that_fit_different_things_are_refused(outcomes):
    for found in both(outcomes, "different_rows"):
        assert "ValueError: Process 1 of 2 fits with other data: X, y" in found["error"]
    for found in both(outcomes, "different_rates"):
        assert "lr is 0.01 in the first one and 0.02 here" in found["error"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_a_killed_process_ends_the_other_with_an_error(tmp_path):
    place = {**PLACE, "MASTER_PORT": free_port()}
    command = [sys.executable, str(PROGRAM), str(tmp_path), "killed_in_one"]
    processes = [
        subprocess.Popen(command, env=environment(**{**place, "RANK": str(rank)}))
        for rank in (0, 1)
    ]
    try:
        assert processes[1].wait(timeout=300) != 0
        assert processes[0].wait(timeout=60) == 0
    finally:
        for process in processes:
            process.kill()
            process.wait()
    found = pickle.loads((tmp_path / "killed_in_one-0.pickle").read_bytes())
    assert found["error"].startswith("RuntimeError: Process 0 of 2 has lost the connection")


@pytest.fixture(scope="module")
def alone():
    return known(plain().fit(X, Y))


def test_a_world_of_one_process_is_no_world_at_all(alone, monkeypatch, tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/a", rank=0, world_size=1)
    try:
        assert_same(known(plain().fit(X, Y)), alone)
    finally:
        dist.destroy_process_group()
    for name, value in {**PLACE, "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    assert_same(known(plain().fit(X, Y)), alone)
    assert not dist.is_initialized()


def test_workers_of_joblib_do_not_take_themselves_for_processes_of_the_group(alone):
    workers = ProcessPoolExecutor(max_workers=1, env=PLACE)
    try:
        found = workers.submit(known_of_fit).result(timeout=300)
    finally:
        workers.shutdown(kill_workers=True)
    np.testing.assert_array_equal(found["probabilities"], alone["probabilities"])


def known_of_fit():
    assert os.environ["WORLD_SIZE"] == "2"
    return known(plain().fit(X, Y))


def test_a_number_of_processes_that_is_none_is_refused(monkeypatch):
    for name, value in {**PLACE, "WORLD_SIZE": "two"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="WORLD_SIZE must be a whole number, got 'two'"):
        plain().fit(X, Y)


def test_fits_in_two_threads_of_a_process_of_the_group_are_refused(monkeypatch):
    for name, value in PLACE.items():
        monkeypatch.setenv(name, value)
    with group._busy, pytest.raises(RuntimeError, match=r"in another thread.*use n_jobs=1"):
        plain().fit(X, Y)


@pytest.mark.parametrize("n_processes", [2, 3, 5])
def test_every_row_is_in_the_share_of_one_process(n_processes):
    for batch in bucketed(np.arange(23), 4, np.random.default_rng(0)):
        shares = [share_of(batch, rank, n_processes, repeats=False) for rank in range(n_processes)]
        assert sorted(np.concatenate(shares)) == sorted(batch)
        padded = [share_of(batch, rank, n_processes) for rank in range(n_processes)]
        assert min(len(share) for share in padded) > 0
        assert {*np.concatenate(padded)} == {*batch}
