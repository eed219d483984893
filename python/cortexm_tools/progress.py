# SPDX-License-Identifier: Apache-2.0
"""How far long work is, for whoever listens; nobody by default.

The stages say what they do with `task` or `track`, and know nothing of terminals. The command line
listens (cli/bars.py). Nothing depends on what a listener does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Protocol, TypeVar

T = TypeVar("T")


class Task(Protocol):
    """Some work that is under way."""

    def at(self, done: int, note: str = "") -> None:
        """So much is done, and `note` is what comes next. May be called often, with the same number."""


class Listener(Protocol):
    """Whoever shows tasks. They may be nested, and end where the block does."""

    def task(self, what: str, total: int | None) -> AbstractContextManager[Task]: ...


class _Nobody:
    def at(self, done: int, note: str = "") -> None:
        pass


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_tick: ContextVar[Callable[[], None] | None] = ContextVar("tick", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Inside the block `listener` hears of all tasks."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def task(what: str, total: int | None = None) -> Iterator[Task]:
    """Some work of `total` parts; None where that is not known beforehand."""
    listener = _listener.get()
    if listener is None:
        yield _Nobody()
        return
    with listener.task(what, total) as one:
        yield one


@contextmanager
def counted(what: str) -> Iterator[None]:
    """Some work that counts itself: each `tick` inside is one part of it."""
    with task(what) as one:
        numbers = count(1)
        token = _tick.set(lambda: one.at(next(numbers)))
        try:
            yield
        finally:
            _tick.reset(token)


def tick() -> None:
    """One more part of the innermost work that counts itself; nothing where none does."""
    if (found := _tick.get()) is not None:
        found()


def track(items: Collection[T], what: str) -> Iterator[T]:
    """`items` one after another, as a task."""
    with task(what, len(items)) as one:
        for number, item in enumerate(items):
            one.at(number)
            yield item
        one.at(len(items))
