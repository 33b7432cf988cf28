# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Programs with workers, as people write them: how many arrays pass, which are
copied, and what a worker's end waits for."""
import multiprocessing
import multiprocessing.queues
import multiprocessing.reduction
import resource
import subprocess
import sys

import numpy as np
import pytest

import dray
from deadline import DEADLINE

pytestmark = pytest.mark.usefixtures("revokes_waiting")

# More than what is copied because it is small.
LARGE = 5000


@pytest.fixture
def few_descriptors():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture(autouse=True)
def usual_sizes():
    dray.share_arrays()
    yield
    dray.share_arrays(min_bytes=0)


def shared(array):
    with dray.memory(shareable=True):
        return np.array(array)


def through_pickle(array):
    pickler = multiprocessing.reduction.ForkingPickler
    return pickler.loads(pickler.dumps(array))


def said(program):
    return subprocess.run([sys.executable, "-c", program], check=True,
                          capture_output=True, text=True,
                          timeout=DEADLINE).stdout


PICKLES = """
import numpy
import dray
from multiprocessing.reduction import ForkingPickler
def changed():
    return numpy.ndarray in ForkingPickler._extra_reducers
print(changed())
with dray.memory(): numpy.zeros(3)
print(changed())
{ask}
print(changed())
"""


@pytest.mark.parametrize("ask", [
    "dray.memory(shareable=True)", "dray.install(shareable=True)",
    "dray.pool(shareable=True)", "dray.shared_zeros(3)", "dray.share_arrays()",
    "dray.open('host:shareable')"])
@pytest.mark.host
def test_pickling_changes_when_it_is_asked_for(ask):
    assert said(PICKLES.format(ask=ask)) == "False\nFalse\nTrue\n"


def test_who_has_said_no_before_is_not_asked_again():
    assert said("import dray\n"
                "dray.share_arrays(False)\n"
                "dray.memory(shareable=True)\n"
                "print(dray.share_arrays(False))") == "False\n"


def test_small_arrays_are_copied():
    small, large = shared(np.zeros(1000)), shared(np.zeros(LARGE))
    assert not np.shares_memory(through_pickle(small), small)
    assert not np.shares_memory(through_pickle(large[:1000]), large)
    assert np.shares_memory(through_pickle(large), large)


def test_how_small_is_for_the_program():
    array = shared(np.zeros(1000))
    dray.share_arrays(min_bytes=8000)
    assert np.shares_memory(through_pickle(array), array)
    dray.share_arrays(min_bytes=8001)
    assert not np.shares_memory(through_pickle(array), array)


def test_small_arrays_that_were_made_to_be_shared_are():
    array = dray.shared_zeros(3)
    assert np.shares_memory(through_pickle(array), array)


def ones(count):
    with dray.memory(shareable=True):
        return np.ones(count)


@pytest.mark.parametrize("count", [100, LARGE])
def test_more_results_than_descriptors_arrive(fork, few_descriptors, count):
    with fork.Pool(2) as workers:
        results = workers.map_async(ones, [count] * 600).get(DEADLINE)
    assert sum(result.sum() for result in results) == 600 * count


@pytest.mark.parametrize("count", [100, LARGE])
def test_more_arguments_than_descriptors_arrive(fork, few_descriptors, count):
    arrays = [shared(np.ones(count)) for _ in range(600)]
    with fork.Pool(1) as workers:
        [total] = workers.map_async(sum_all, [arrays]).get(DEADLINE)
    assert total == 600 * count


def sum_all(arrays):
    return sum(array.sum() for array in arrays)


def many(count):
    return [ones(count) for _ in range(600)]


@pytest.mark.parametrize("count", [100, LARGE])
def test_a_list_of_more_arrays_than_descriptors_comes_back(
        fork, few_descriptors, count):
    with fork.Pool(1) as workers:
        [arrays] = workers.map_async(many, [count]).get(DEADLINE)
    assert sum_all(arrays) == 600 * count


def load(data, done, patience):
    """As a worker of PyTorch's DataLoader ends."""
    dray._pickle.PATIENCE_MS = patience
    with dray.memory(shareable=True):
        for _ in range(8):
            data.put(np.ones(LARGE))
    done.wait()
    data.cancel_join_thread()
    data.close()


# An emulated board takes long to start Python and NumPy.
@pytest.mark.parametrize("start", [
    "fork", pytest.param("spawn", marks=pytest.mark.host)])
def test_who_throws_its_queue_away_does_not_wait(start, capfd):
    context = multiprocessing.get_context(start)
    data, done = context.Queue(), context.Event()
    worker = context.Process(target=load, args=(data, done, 1_000_000))
    worker.start()
    assert data.get(timeout=DEADLINE).sum() == LARGE
    done.set()
    worker.join(DEADLINE)
    exitcode = worker.exitcode
    worker.kill()
    assert exitcode == 0
    # A checking handler may name what the queue still held.
    assert "are lost" not in capfd.readouterr().err


def load_and_answer(data, done, answers):
    answers.put(ones(LARGE))
    load(data, done, 1_000_000)


def test_but_it_waits_for_readers_of_other_queues(fork):
    data, done, answers = fork.Queue(), fork.Event(), fork.Queue()
    worker = fork.Process(target=load_and_answer, args=(data, done, answers))
    worker.start()
    data.get(timeout=DEADLINE)
    done.set()
    # Too short a wait hides a failure, and makes none.
    worker.join(0.2)
    assert answers.get(timeout=DEADLINE).sum() == LARGE
    worker.kill()
    worker.join(DEADLINE)
