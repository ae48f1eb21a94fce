"""Card abstraction: features of hands, clusters of them, and tables of buckets."""

from jaxsolve.abstraction._card_games import CardBuckets as CardBuckets
from jaxsolve.abstraction._card_games import CardRows as CardRows
from jaxsolve.abstraction._card_games import card_rows as card_rows
from jaxsolve.abstraction._card_games import cluster_hands as cluster_hands
from jaxsolve.abstraction._card_games import lossless as lossless
from jaxsolve.abstraction._card_games import showdown_histograms as showdown_histograms
from jaxsolve.abstraction._chunks import in_chunks as in_chunks
from jaxsolve.abstraction._features import emd_features as emd_features
from jaxsolve.abstraction._kmeans import assign as assign
from jaxsolve.abstraction._kmeans import kmeans as kmeans
from jaxsolve.abstraction._kmeans import nearest_native as nearest_native
from jaxsolve.abstraction._kmeans import nearest_numpy as nearest_numpy
