"""Fair turns in a tree: groups take turns, and within each group its members do, however many each group has."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

Path = tuple[int, ...]


class Turns:
    """The leaves of a tree of groups, such as (agency, tenant, endpoint). A path is the numbers that lead to a leaf.

    A leaf that has had its turn goes behind all its siblings, and so does each group that it is in.
    """

    def __init__(self) -> None:
        self._children: dict[int, Turns] = {}

    def add(self, path: Path) -> None:
        """Add a leaf behind its siblings. A leaf that is there already keeps its turn."""
        node = self
        for number in path:
            node = node._children.setdefault(number, Turns())

    def remove(self, path: Path) -> None:
        """Remove a leaf."""
        child = self._children.get(path[0])
        if child is not None and len(path) > 1:
            child.remove(path[1:])
        if child is None or not child._children:
            self._children.pop(path[0], None)

    def clear(self) -> None:
        self._children.clear()

    def end_turn(self, path: Path) -> None:
        """Put a leaf, and each group that it is in, behind its siblings."""
        child = self._children.get(path[0])
        if child is not None:
            self._children[path[0]] = self._children.pop(path[0])
            if len(path) > 1:
                child.end_turn(path[1:])

    def in_turn(self, *, most_of_each: int, is_skipped: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
        """Yield leaves: one of each group on the highest level, then a second of each, and so on down the tree.

        At most `most_of_each` come from each group on the highest level. A skipped group or leaf costs no other its
        turn. Nothing may be added or removed meanwhile.
        """
        return _one_of_each(
            islice(child._leaves((number,), is_skipped), most_of_each)
            for number, child in self._children.items()
            if not is_skipped((number,))
        )

    def _leaves(self, path: Path, is_skipped: Callable[[Path], bool]) -> Iterator[Path]:
        paths = (one for number in self._children if not is_skipped(one := (*path, number)))
        if all(child._children for child in islice(self._children.values(), 1)):
            return _one_of_each(self._children[one[-1]]._leaves(one, is_skipped) for one in paths)
        return paths


def _one_of_each(groups: Iterable[Iterator[Path]]) -> Iterator[Path]:
    """Yield one of each group, then a second of each that has more. A group is opened when its first turn comes."""
    while groups:
        going_on = []
        for group in groups:
            for path in group:
                yield path
                going_on.append(group)
                break
        groups = going_on
