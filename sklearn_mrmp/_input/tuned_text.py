"""Rows of text for an encoder that learns with the network: its token ids, and words.

`TunedTextInput` is `TextInput` but for what the network reads: token ids, since states change with
every step of training. Knows what `TextInput` knows.
"""

from sklearn_mrmp._input.text import TextInput, complete_words
from sklearn_mrmp._model_files.part import Part


class TunedTextInput(TextInput):
    """Texts whose encoder is a part of the network.

    Its parameters are those of `TextInput`; ``encoder`` makes token ids, which count from 1, and is
    what the network makes its transformer of.
    """

    def table(self, rows):
        """Return what any scikit-learn estimator reads: how often each word occurs."""
        return rows.bag

    def wholes(self, rows):
        """Return nothing: the neighbour voter reads words."""

    @property
    def whole_width(self):
        """Number of words."""
        return self.n_tokens_

    def embedding(self):
        """Describe the module that reads the ids; see `sklearn_mrmp.nn.make_embedding`."""
        return {"kind": "transformer", "source": self.encoder}


TunedTextInput._model_part = Part(
    {"words_": "any", "n_tokens_": "int"}, local=("cache_dir",), complete=complete_words
)
