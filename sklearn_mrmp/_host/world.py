"""The processes that fit one classifier together: how many there are, and what they agree on.

Here is the world of a single process, in which every question has the obvious answer; that of
several processes, `_network.distributed.group.ProcessGroup`, has the same face. Knows the standard
library.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class World:
    """One of `size` processes that run the same fit; on its own, the only one.

    Every process takes the same steps in the same order. A method below is a step that all of them
    take together.

    Attributes
    ----------
    rank : int, default=0
        Which process this is.
    size : int, default=1
        Number of processes.

    Examples
    --------
    >>> World().once(lambda: 42), World().gathered("a"), World().agree(True)
    (42, ['a'], True)
    """

    rank: int = 0
    size: int = 1

    @property
    def is_first(self):
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    @property
    def is_alone(self):
        """Whether there is no other process."""
        return self.size == 1

    def once(self, step):
        """Return what a step returns that the first process alone takes, or raise what it raises.

        Parameters
        ----------
        step : callable
            Without arguments; it returns something that can be pickled.
        """
        return step()

    def agree(self, value):
        """Return the first process's value."""
        return self.once(lambda: value)

    def gathered(self, value):
        """Return the values of all processes in the order of their ranks."""
        return [value]

    def any(self, flag):
        """Return whether a flag is true in any of the processes."""
        return flag


ALONE = World()
