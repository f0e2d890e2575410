"""Fuzzy ART: learn hyperboxes from rows presented one after the other (Carpenter et al., 1991).

The winner for an input is the box with the greatest choice function among those that pass the
vigilance test; it grows to hold the input, or a new box is made when none passes. The learning
rule is sequential, so the work per row is what counts: boxes that change are kept in a small
dense buffer, all others stay sparse and are compared with a whole block of rows at once.
It knows `_hyperboxes`, and nothing of labels.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from sklearn_mrmp._baselines.hyperboxes import Hyperboxes, csr_from_dense, extensions, stack

# The choice parameter: so small that it only keeps the division defined ("conservative limit").
ALPHA = 1e-13

# Values in one of the two dense buffers (float64: 8 MB); bounds the rows of a block.
_BUFFER_CELLS = 2**20

# Sums of the same numbers in another order differ by rounding; per feature.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LearnedBoxes:
    """What `learn_boxes` returns.

    Attributes
    ----------
    boxes : Hyperboxes
        The learned boxes, in the order in which they were made.
    founders : ndarray of int of shape (n_boxes,)
        Row each box was made for.
    winners : ndarray of int of shape (n_rows,)
        Box each row went to when it was last presented.
    n_epochs : int
        How many times the rows were presented.
    """

    boxes: Hyperboxes
    founders: np.ndarray
    winners: np.ndarray
    n_epochs: int


def learn_boxes(inputs, rows, vigilance, learning_rate=1.0, max_epochs=1):
    """Present `rows` of `inputs` in order, up to `max_epochs` times, and learn boxes.

    Learning ends early after an epoch in which no box changed.
    """
    boxes, founders = inputs.take(slice(0, 0)), []
    winners = np.empty(len(rows), dtype=np.intp)
    block_size = max(8, _BUFFER_CELLS // inputs.n_features)
    n_epochs, changed = 0, True
    while changed and n_epochs < max_epochs:
        n_epochs, changed = n_epochs + 1, False
        for part in gen_batches(len(rows), block_size):
            block = _Block(boxes, inputs, rows[part], vigilance, learning_rate)
            winners[part] = block.present()
            changed |= block.changed
            founders.extend(block.founders)
            boxes = block.result()
    return LearnedBoxes(boxes, np.array(founders, dtype=np.intp), winners, n_epochs)


class _Block:
    """A block of rows meets the boxes learned so far.

    Boxes are numbered 0, 1, …: first the given ones, then new ones. A box that grows, and every
    new box, has a slot in the dense buffers `low` and `high`.
    """

    def __init__(self, boxes, inputs, rows, vigilance, learning_rate):
        self.inputs, self.rows = inputs, rows
        self.vigilance, self.learning_rate = vigilance, learning_rate
        self.given = boxes
        self.given_extensions = extensions(inputs.take(rows), boxes) if len(boxes) else None
        self.n_boxes = len(boxes)
        self.norms = np.concatenate([boxes.norms, np.empty(len(rows))])
        self.slot_of_box = {}
        self.box_of_slot = np.empty(len(rows), dtype=np.intp)
        self.n_slots = 0
        self.low = self.high = np.empty((0, inputs.n_features))
        self.target = np.zeros(inputs.n_features)  # scratch: one corner of an input
        # Extension of each slot's box for an input of zeros; sparse inputs correct it.
        self.zero_extensions = np.zeros(len(rows))
        self.founders = []
        self.changed = False

    def present(self):
        """Present each row once; return the box each of them went to."""
        winners = np.empty(len(self.rows), dtype=np.intp)
        norms = self.inputs.norms[self.rows]
        for i, row in enumerate(self.rows):
            columns, low, high = self.inputs.row(row)
            growth = self._extensions(i, columns, low, high)
            winner = self._winner(growth, norms[i])
            if winner is None:
                winner = self._new_box(row, columns, low, high)
            elif growth[winner] > _ROUNDING * self.inputs.n_features:
                self._grow(winner, growth[winner], columns, low, high)
            winners[i] = winner
        return winners

    def _extensions(self, i, columns, low, high):
        """Extension of every box for the i-th row of the block, by box number."""
        used = slice(0, self.n_slots)
        slot_low, slot_high = self.low[used, columns], self.high[used, columns]
        change = np.maximum(slot_low - low, 0) + np.maximum(high - slot_high, 0)
        if not isinstance(columns, slice):
            change -= np.maximum(slot_low, 0) + np.maximum(-slot_high, 0)
        values = change.sum(axis=1) + self.zero_extensions[used]
        if self.given_extensions is None:
            return values  # every box has a slot, of its own number
        result = np.empty(self.n_boxes)
        result[: len(self.given)] = self.given_extensions[i]
        result[self.box_of_slot[used]] = values
        return result

    def _winner(self, growth, norm):
        """Box with the greatest choice value among those that pass the vigilance test."""
        norms = self.norms[: self.n_boxes]
        matches = norms - growth
        enough = self.vigilance * norm - _ROUNDING * self.inputs.n_features
        passing = np.flatnonzero(matches >= enough)
        if passing.size < 2:
            return int(passing[0]) if passing.size else None
        return int(passing[np.argmax(matches[passing] / (ALPHA + norms[passing]))])

    def _new_box(self, row, columns, low, high):
        box, slot = self.n_boxes, self._new_slot(self.n_boxes)
        self.low[slot, columns], self.high[slot, columns] = low, high
        self.norms[box] = self.inputs.norms[row]
        self._update_zero_extension(slot)
        self.n_boxes += 1
        self.founders.append(row)
        self.changed = True
        return box

    def _grow(self, box, growth, columns, low, high):
        """Move the sides of the box towards (with learning rate 1: to) those of the input."""
        slot = self._slot(box)
        for corner, values, extreme in ((self.low, low, np.minimum), (self.high, high, np.maximum)):
            self.target[columns] = values
            corner[slot] += self.learning_rate * (extreme(corner[slot], self.target) - corner[slot])
            self.target[columns] = 0
        self.norms[box] -= self.learning_rate * growth
        self._update_zero_extension(slot)
        self.changed = True

    def _slot(self, box):
        """Return the slot of a box; a given box moves into the buffer when it first grows."""
        if box not in self.slot_of_box:
            slot = self._new_slot(box)
            columns, low, high = self.given.row(box)
            self.low[slot, columns], self.high[slot, columns] = low, high
        return self.slot_of_box[box]

    def _new_slot(self, box):
        if self.n_slots == len(self.low):
            room = np.zeros((max(4, len(self.low)), self.inputs.n_features))
            self.low, self.high = np.vstack([self.low, room]), np.vstack([self.high, room])
        slot = self.n_slots
        self.slot_of_box[box], self.box_of_slot[slot] = slot, box
        self.n_slots += 1
        return slot

    def _update_zero_extension(self, slot):
        if sp.issparse(self.inputs.low):
            outside = np.maximum(self.low[slot], 0) + np.maximum(-self.high[slot], 0)
            self.zero_extensions[slot] = outside.sum()

    def result(self):
        """All boxes, in the order of their numbers."""
        if not self.n_slots:
            return self.given
        low, high = self.low[: self.n_slots], self.high[: self.n_slots]
        if sp.issparse(self.inputs.low):
            low, high = csr_from_dense(low), csr_from_dense(high)
        buffered = Hyperboxes(low, high)
        if not len(self.given):
            return buffered
        kept = np.setdiff1d(np.arange(len(self.given)), self.box_of_slot[: self.n_slots])
        order = np.argsort(np.concatenate([kept, self.box_of_slot[: self.n_slots]]))
        return stack([self.given.take(kept), buffered]).take(order)
