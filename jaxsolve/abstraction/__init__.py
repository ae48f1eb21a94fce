"""Card abstraction: features of hands, clusters of them, and tables of buckets."""

from jaxsolve.abstraction._chunks import in_chunks as in_chunks
from jaxsolve.abstraction._chunks import processors as processors
from jaxsolve.abstraction._features import emd_features as emd_features
from jaxsolve.abstraction._kmeans import assign as assign
from jaxsolve.abstraction._kmeans import kmeans as kmeans
from jaxsolve.abstraction._kmeans import nearest_native as nearest_native
from jaxsolve.abstraction._kmeans import nearest_numpy as nearest_numpy
