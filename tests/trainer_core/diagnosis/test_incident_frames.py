"""The exception of a failed run: once, the user's own frames first."""

from trainer_core.diagnosis.incidents import read_traceback

WRAPPED = """Traceback (most recent call last):
  File "/app/worker/loop/controller.py", line 180, in _execute
    train(run)
  File "/app/worker/loop/run.py", line 300, in _learn
    return future.result()
  File "/usr/lib/python3.11/concurrent/futures/_base.py", line 401, in result
    raise self._exception
ray.exceptions.RayTaskError(KeyError): \x1b[36mray::Scorer.score()\x1b[39m (pid=4711, ip=10.0.0.7)
  File "/app/worker/rewards/pool.py", line 90, in score
    grades = grade(sample)
  File "/srv/team/my_grader.py", line 12, in grade
    return table[sample["answer"]]
KeyError: 'answer'
"""


def test_user_frames_come_first_and_the_node_is_named() -> None:
    found = read_traceback(WRAPPED)
    assert found is not None
    assert found.error == "KeyError: 'answer'"
    assert (found.node, found.pid) == ("10.0.0.7", 4711)
    first = found.frames[0]
    assert (first.file, first.line, first.function, first.owner) == ("/srv/team/my_grader.py", 12, "grade", "yours")
    assert first.code == 'return table[sample["answer"]]'
    assert [(one.file, one.owner) for one in found.frames[1:]] == [
        ("worker/rewards/pool.py", "platform"),
        ("worker/loop/run.py", "platform"),
        ("worker/loop/controller.py", "platform"),
        ("concurrent/futures/_base.py", "library"),
    ]


def test_a_frame_that_stands_in_two_tracebacks_is_shown_once() -> None:
    frame = '  File "/srv/team/a.py", line 1, in f\n    g()\n'
    twice = f"Traceback (most recent call last):\n{frame}ValueError: x\n\nDuring handling\n\n{frame}TypeError: y\n"
    found = read_traceback(twice)
    assert found is not None
    assert (len(found.frames), found.error, found.node) == (1, "TypeError: y", None)


def test_a_sentence_is_no_traceback() -> None:
    assert read_traceback("") is None
    assert read_traceback("all attempts came no further") is None


def test_a_hostile_text_takes_linear_time() -> None:
    assert read_traceback('  File "' * 20_000) is None
    long = read_traceback(
        '  File "/a/b.py", line 1, in f\n' + "".join(f'  File "/a/{n}.py", line 1, in f\n' for n in range(500))
    )
    assert long is not None
    assert len(long.frames) == 60
