"""Activities as windows of motion: the raw readings of HAPT, an accelerometer and a gyroscope at 50 Hz.

Published as text: `RawData/acc_expEE_userUU.txt` and `gyro_...`, three numbers a line, in g and rad/s, and
`labels.txt`, lines of experiment, user, activity, first and last reading, counted from 1. Also read as one `hapt.npz`
with the same readings as int16: `X`, `y` (-1 where there is no label), `user`, `recording`. A window has the label that
at least half of its readings have, and is left out where there is none. Users are in one split each, as published; as
"hapt-people" every user is a domain, the first recording for training and the others for testing.

Reference: Reyes-Ortiz et al., Transition-aware human activity recognition using smartphones, 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._cache import made_once
from kenyon.data.streams._dataset import Split
from kenyon.data.streams._npz import read_members
from kenyon.data.streams._reading import reading
from kenyon.errors import DataError
from kenyon.features.front import Motion

SCALE = (8192, 8192, 8192, 3276, 3276, 3276)
"""What 1 g and 1 rad/s are in the integers."""

FRONT = Motion(inputs=6)
USERS = range(1, 31)
TEST_USERS = (2, 4, 9, 10, 12, 13, 18, 20, 24)
ACTIVITIES = 12
_Recordings = Iterator[tuple[NDArray[np.int16], NDArray[np.int64], int]]
_Part = Callable[[int, bool], bool]


def experiments() -> dict[int, int]:
    """The user of each experiment: two for each, and three for user 10."""
    users = [user for user in USERS for _ in range(3 if user == 10 else 2)]
    return dict(enumerate(users, start=1))


def part_of(test: bool, people: bool) -> _Part:
    """Whether a user's recording belongs to a split, by the user and whether it is the user's first."""
    if people:
        return lambda user, first: first != test
    return lambda user, first: (user in TEST_USERS) == test


def text_names(test: bool, people: bool = False) -> tuple[str, ...]:
    """The files of a split."""
    part, users = part_of(test, people), experiments()
    first = {user: number for number, user in reversed(users.items())}
    chosen = [(number, user) for number, user in users.items() if part(user, number == first[user])]
    names = [f"RawData/{kind}_exp{number:02}_user{user:02}.txt" for number, user in chosen for kind in ("acc", "gyro")]
    return (*names, "RawData/labels.txt")


def read_hapt_text(files: Sequence[Path], cache: Path | None) -> Split:
    """Read one split from its text files, labels last."""
    return _split(files, cache, "text", lambda: _from_text(files))


def read_hapt_npz(files: Sequence[Path], cache: Path | None, test: bool, people: bool = False) -> Split:
    """Read one split from the archive, which has both."""
    return _split(
        files,
        cache,
        f"npz {'people' if people else 'users'} {test}",
        lambda: _from_npz(files[0], part_of(test, people)),
    )


def _split(files: Sequence[Path], cache: Path | None, how: str, recordings: Callable[[], _Recordings]) -> Split:
    """Windows, their users and their labels lie in one array, the label last."""

    def make() -> NDArray[np.uint8]:
        return np.concatenate([_windows(x, y, user) for x, y, user in recordings()])

    table = made_once(cache, "hapt", files, f"{FRONT!r} {how} with users", make)
    return Split(table[:, :-2], table[:, -1].astype(np.int64), table[:, -2].astype(np.int64) - USERS[0])


def _windows(x: NDArray[np.int16], y: NDArray[np.int64], user: int) -> NDArray[np.uint8]:
    """The windows of a recording that have a label, the user, and that label, from 0."""
    spans = FRONT.spans(len(x))
    counts = np.zeros((len(x) + 1, ACTIVITIES + 1), np.int64)
    counts[1:] = np.cumsum(np.maximum(y, 0)[:, None] == np.arange(ACTIVITIES + 1), axis=0)
    inside = counts[spans[:, 1]] - counts[spans[:, 0]]
    inside[:, 0] = 0  # readings without a label
    label = inside.argmax(axis=1)
    labelled = 2 * inside.max(axis=1, initial=0) >= FRONT.length * FRONT.step
    more = np.stack([np.full(len(label), user), label - 1], axis=1)
    return np.concatenate([FRONT.transform(x), more], axis=1)[labelled].astype(np.uint8)


def _from_npz(path: Path, part: _Part) -> _Recordings:
    with reading(path, "is damaged or not an archive of HAPT"):
        X, y, user, number = read_members(path, ("X", "y", "user", "recording"))
        if X.ndim != 2 or X.shape[1] != FRONT.inputs or X.dtype != np.int16 or not len(X):
            raise DataError(f"{path}: X is {X.dtype} of shape {X.shape}: expected int16 of shape (n, {FRONT.inputs})")
        for name, column in (("y", y), ("user", user), ("recording", number)):
            if column.shape != (len(X),) or column.dtype.kind != "i":
                raise DataError(
                    f"{path}: {name} is {column.dtype} of shape {column.shape}: expected ({len(X)},) integers"
                )
        if y.max() > ACTIVITIES:
            raise DataError(f"{path}: a label is {y.max()}: expected at most {ACTIVITIES}")
        ends = np.flatnonzero((np.diff(user) != 0) | (np.diff(number) != 0)) + 1
        seen: set[int] = set()
        for rows in np.split(np.arange(len(X)), ends):
            who = int(user[rows[0]])
            if who not in USERS:
                raise DataError(f"{path}: a user is {who}: expected {USERS[0]} to {USERS[-1]}")
            if part(who, who not in seen):
                yield X[rows], y[rows].astype(np.int64), who
            seen.add(who)


def _from_text(files: Sequence[Path]) -> _Recordings:
    labels = _numbers(files[-1], 5).astype(np.int64)
    for acc, gyro in zip(files[:-1:2], files[1:-1:2], strict=True):
        both = [_numbers(path, 3) for path in (acc, gyro)]
        if len(both[0]) != len(both[1]):
            raise DataError(f"{gyro} has {len(both[1])} readings: expected {len(both[0])}, as {acc.name}")
        x = np.clip(np.round(np.concatenate(both, axis=1) * SCALE), -32768, 32767).astype(np.int16)
        number = int(acc.stem[7:9])
        y = np.full(len(x), -1)
        for _, _, activity, first, last in labels[labels[:, 0] == number]:
            if not (1 <= activity <= ACTIVITIES and 1 <= first <= last <= len(x)):
                raise DataError(
                    f"{files[-1]}: activity {activity} from {first} to {last} in experiment {number}: expected one of "
                    f"1 to {ACTIVITIES}, within 1 to {len(x)}"
                )
            y[first - 1 : last] = activity
        yield x, y, int(acc.stem[-2:])


def _numbers(path: Path, columns: int) -> NDArray[np.float64]:
    with reading(path, "cannot be read as numbers"):
        table = np.loadtxt(path, ndmin=2)
        if table.shape[1] != columns or not len(table) or not np.isfinite(table).all():
            raise DataError(f"{path} has shape {table.shape}: expected finite numbers in {columns} columns")
        return table
