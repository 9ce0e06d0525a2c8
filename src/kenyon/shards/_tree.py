"""The tree in which the models of pieces are merged. It follows from their number alone, so that the result does too.

A node is a range of pieces, and its model a file of the work folder. Two neighbours are merged as soon as both are
there, so that there are never more files than workers and levels of the tree.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Node(NamedTuple):
    """Pieces start .. stop - 1.

    Example:
        >>> Node(0, 5).children
        (Node(start=0, stop=4), Node(start=4, stop=5))
    """

    start: int
    stop: int

    @property
    def is_leaf(self) -> bool:
        return self.stop - self.start == 1

    @property
    def children(self) -> tuple[Node, Node]:
        """The two halves, the first of them as many pieces as the largest power of two that leaves some."""
        middle = self.start + (1 << ((self.stop - self.start - 1).bit_length() - 1))
        return Node(self.start, middle), Node(middle, self.stop)

    def file(self, folder: Path) -> Path:
        """Where its model is kept."""
        return folder / f"{self.start:07}-{self.stop:07}.safetensors"


class Tree:
    """What is to be done next.

    Args:
        n_pieces: how many there are.
        folder: where models are kept; those that are there already are done.
    """

    def __init__(self, n_pieces: int, folder: Path) -> None:
        self.root = Node(0, n_pieces)
        self._folder = folder
        self._merges: list[Node] = []
        self._leaves: list[Node] = []
        self._parents: dict[Node, Node] = {}
        self._done: set[Node] = set()
        self._collect(self.root)
        self._leaves.reverse()

    def _collect(self, node: Node) -> bool:
        """Find what is missing below a node; True if the node itself is done."""
        if node.file(self._folder).exists():
            self._done.add(node)
            return True
        if node.is_leaf:
            self._leaves.append(node)
            return False
        first, second = node.children
        self._parents[first] = self._parents[second] = node
        both = [self._collect(first), self._collect(second)]
        if all(both):
            self._merges.append(node)
        return False

    @property
    def learned(self) -> int:
        """Pieces that were found learned, or have been since."""
        return sum(node.stop - node.start for node in self._tops())

    def _tops(self) -> list[Node]:
        return [node for node in self._done if self._parents.get(node) not in self._done]

    def next(self) -> Node | None:
        """A node that a worker can begin with, merges before leaves; None where all that is left waits for others."""
        return self._merges.pop() if self._merges else self._leaves.pop() if self._leaves else None

    def end(self, node: Node) -> None:
        """A node's model is in its file: its children's files are no longer needed."""
        self._done.add(node)
        if not node.is_leaf:
            for child in node.children:
                child.file(self._folder).unlink(missing_ok=True)
        parent = self._parents.get(node)
        if parent is not None and all(child in self._done for child in parent.children):
            self._merges.append(parent)

    @property
    def is_done(self) -> bool:
        return self.root in self._done
