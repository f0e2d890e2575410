"""
Raw texts through a transformer
===============================

With a text encoder, `MrMPClassifier` reads strings. Labels then attend to the encoder's token
states, and not to words alone. The encoder of this example has random weights, so that nothing is
downloaded. To use a pretrained one, which is much better, write its name, as in
``encoder="sentence-transformers/all-MiniLM-L6-v2"``.
"""

# %%
# Some news
# ---------
# Each text says who buys whom. A company may be a buyer, a target, or neither. Which one it is
# depends on the order of the words.
import numpy as np

companies = ["oak", "pine", "elm", "ash"]
endings = ["", "for cash", "says the board", "and shares rise", "in a surprise move"]
label_names = [f"{company} {role}" for company in companies for role in ("buys", "is bought")]


def write_news(n_texts, rng):
    texts, Y = [], np.zeros((n_texts, len(label_names)), dtype=int)
    for row in range(n_texts):
        buyer, target = rng.choice(len(companies), size=2, replace=False)
        text = f"{companies[buyer]} buys {companies[target]} {rng.choice(endings)}"
        texts.append(text.strip())
        Y[row, 2 * buyer] = Y[row, 2 * target + 1] = 1
    return texts, Y


texts_train, Y_train = write_news(600, np.random.default_rng(0))
texts_test, Y_test = write_news(200, np.random.default_rng(2026))
print(texts_train[:3])

# %%
# A small encoder
# ---------------
# A model of `transformers` with two layers and random weights, and a tokenizer that knows the
# words of the training texts. Both have the same methods as pretrained ones.
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

words = sorted({word for text in texts_train for word in text.split()})
vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}
word_level = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
word_level.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=word_level, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32
)
torch.manual_seed(0)
encoder = BertModel(
    BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=32,
        initializer_range=0.3,
    )
)

# %%
# Strings in, labels out
# ----------------------
# Each text is encoded once. The network reads token states, and the logistic regression reads
# words.
from sklearn_mrmp import MrMPClassifier

clf = MrMPClassifier(encoder=(encoder, tokenizer), max_epochs=15, random_state=0)
clf.fit(texts_train, Y_train)
print("read as:", clf.input_type_)
print("weights:", {name: round(weight, 2) for name, weight in clf.vote_weights_.items()})

# %%
# Compared with words alone
# -------------------------
# These are the shares of texts whose labels are all right. Words alone say which two companies are
# meant, but not which of them buys.
for name, voter in clf.voters_.items():
    print(f"{name:10} {np.mean((voter.predict(texts_test) == Y_test).all(axis=1)):.2f}")
predicted = clf.set_params(metric="accuracy").predict(texts_test)
print(f"{'all':10} {np.mean((predicted == Y_test).all(axis=1)):.2f}")
