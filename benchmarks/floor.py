"""The floor of a cold search: the bare script that design section 8 fixes.

    python benchmarks/floor.py INDEX VECTORS DIMENSION TERM

tantivy, simsimd and mmap only: one term query, one scan of int8 vectors, top 10.
It reads the index and the vectors that memx built, knows nothing of freshness,
analysis, layers, scopes or output, and is what `memx search` is compared with.
"""

from __future__ import annotations

import mmap
import sys

import simsimd
import tantivy


def main(index_folder: str, rows_path: str, dimension: int, term: str) -> None:
    """Print the ten best documents' addresses and the ten nearest rows."""
    index = tantivy.Index.open(index_folder)
    searcher = index.searcher()
    query = tantivy.Query.term_query(index.schema, "exact", term, "freq")
    hits = searcher.search(query, 10).hits
    texts = [searcher.doc(address).get_first("packed") for _, address in hits]
    with open(rows_path, "rb") as file:
        rows = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    count = len(rows) // dimension
    matrix = rows[: count * dimension].cast("b", shape=[count, dimension])
    vector = rows[:dimension].cast("b", shape=[1, dimension])
    distances = memoryview(simsimd.cdist(vector, matrix, "cosine", out_dtype="float32"))
    flat = distances.cast("B").cast("f").tolist() if distances.ndim > 1 else distances.tolist()
    nearest = sorted(range(count), key=flat.__getitem__)[:10]
    sys.stdout.write(f"{len(texts)} {nearest}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
