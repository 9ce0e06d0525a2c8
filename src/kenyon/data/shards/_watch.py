"""Who is told how the work goes on."""

from __future__ import annotations

from kenyon.data.shards._record import Shard


class LearnWatch:
    """Is told how the work goes on; this one shows nothing.

    Example:
        >>> LearnWatch().planned(n_shards=3, n_pieces=12, n_learned=4, rows=1000)
    """

    def note(self, message: str) -> None:
        """Something that the user should know."""

    def inspected(self, shard: Shard, done: int, total: int) -> None:
        """A shard was read and recorded."""

    def planned(self, n_shards: int, n_pieces: int, n_learned: int, rows: int) -> None:
        """Work begins, or goes on where `n_learned` pieces have been learned already."""

    def learned(self, rows: int, n_learned: int) -> None:
        """One more piece of so many rows was learned."""
