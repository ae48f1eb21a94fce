"""Card abstraction: features of hands, clusters of them, and tables of buckets."""
