"""The tree in which the models of pieces are merged. It follows from how many pieces each shard has, and nothing else.

A node is a range of pieces, and its model a file of the work folder. The pieces of a shard are merged with each other
first, so that a shard can be left out as a whole until it is complete. Two neighbours are merged as soon as both are
there, so that there are never more files than workers and levels of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from kenyon.utils.system import replace_file


class Node(NamedTuple):
    """Pieces start .. stop - 1.

    Example:
        >>> Node(0, 1).is_leaf, Node(0, 5).is_leaf
        (True, False)
    """

    start: int
    stop: int

    @property
    def is_leaf(self) -> bool:
        return self.stop - self.start == 1

    def file(self, folder: Path) -> Path:
        """Where its model is kept."""
        return folder / f"{self.start:07}-{self.stop:07}.safetensors"


class Tree:
    """What is to be done next.

    Args:
        counts: how many pieces each shard has.
        folder: where models are kept; those that are there already are done.
    """

    def __init__(self, counts: Sequence[int], folder: Path) -> None:
        self._folder = folder
        self._merges: list[Node] = []
        self._leaves: list[Node] = []
        self._parents: dict[Node, Node] = {}
        self._children: dict[Node, tuple[Node, Node]] = {}
        self._done: set[Node] = set()
        ends = list(accumulate(counts))
        self.shards = [Node(end - count, end) for count, end in zip(counts, ends, strict=True)]
        self.root = self._join([self._join([Node(k, k + 1) for k in range(*shard)]) for shard in self.shards])
        self._collect(self.root)
        self._leaves.reverse()

    def _join(self, nodes: Sequence[Node]) -> Node:
        """A tree over neighbours, the first half of which is as many as the largest power of two that leaves some."""
        if len(nodes) == 1:
            return nodes[0]
        middle = 1 << ((len(nodes) - 1).bit_length() - 1)
        first, second = self._join(nodes[:middle]), self._join(nodes[middle:])
        node = Node(first.start, second.stop)
        self._children[node] = first, second
        self._parents[first] = self._parents[second] = node
        return node

    def _collect(self, node: Node) -> bool:
        """Find what is missing below a node; True if the node itself is done."""
        if node.file(self._folder).exists():
            self._done.add(node)
            return True
        if node.is_leaf:
            self._leaves.append(node)
            return False
        both = [self._collect(child) for child in self._children[node]]
        if all(both):
            self._merges.append(node)
        return False

    @property
    def learned(self) -> int:
        """Pieces that were found learned, or have been since."""
        return sum(node.stop - node.start for node in self._done if self._parents.get(node) not in self._done)

    def children(self, node: Node) -> tuple[Node, Node]:
        """The two nodes that a node is merged from."""
        return self._children[node]

    def shard_of(self, node: Node) -> int | None:
        """The number of the shard that a node is part of; None where it spans several."""
        within = [number for number, shard in enumerate(self.shards) if shard.start <= node.start < shard.stop]
        return within[0] if node.stop <= self.shards[within[0]].stop else None

    def is_over(self, number: int) -> bool:
        """Whether a shard is done, perhaps as part of a larger node, or left out."""
        node: Node | None = self.shards[number]
        while node is not None and node not in self._done:
            node = self._parents.get(node)
        return node is not None

    def leave_out(self, number: int) -> None:
        """Put an empty model in the place of a shard, whatever has been done of it."""
        if self.is_over(number):
            return
        shard = self.shards[number]
        self._merges, self._leaves = (
            [node for node in nodes if not shard.start <= node.start < node.stop <= shard.stop]
            for nodes in (self._merges, self._leaves)
        )
        replace_file(shard.file(self._folder), b"")
        self.end(shard)

    def next(self) -> Node | None:
        """A node that a worker can begin with, merges before leaves; None where all that is left waits for others."""
        return self._merges.pop() if self._merges else self._leaves.pop() if self._leaves else None

    def end(self, node: Node) -> None:
        """A node's model is in its file: its children's files are no longer needed."""
        number = self.shard_of(node)
        if number is not None and self.is_over(number):
            return  # its shard was left out meanwhile
        self._done.add(node)
        for child in self._children.get(node, ()):
            child.file(self._folder).unlink(missing_ok=True)
        parent = self._parents.get(node)
        if parent is not None and all(child in self._done for child in self._children[parent]):
            self._merges.append(parent)

    @property
    def is_done(self) -> bool:
        return self.root in self._done
