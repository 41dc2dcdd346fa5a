"""How many rows of a batch each device gets."""
import math
from collections.abc import Iterable


def part_sizes(rows: int, count: int, weights: Iterable[float] | None = None) -> list[int]:
    """Return how many of `rows` each of `count` devices gets: by largest remainder of the weights, at least one.

    >>> part_sizes(10, 3, weights=[5, 3, 2])
    [5, 3, 2]
    """
    weights = [1] * count if weights is None else list(weights)
    if not 0 < count <= rows:
        raise ValueError(f"split_and_load: {rows} rows for {count} devices; each device needs at least one")
    if len(weights) != count or not all(0 < weight < math.inf for weight in weights) or sum(weights) == math.inf:
        raise ValueError(f"split_and_load: weights {weights} for {count} devices; give each a number above zero")
    shares = [rows * (weight / sum(weights)) for weight in weights]
    sizes = [max(1, math.floor(share)) for share in shares]
    while sum(sizes) < rows:
        sizes[max(range(count), key=lambda index: shares[index] - sizes[index])] += 1
    while sum(sizes) > rows:  # where small parts were given a row
        sizes[sizes.index(max(sizes))] -= 1
    return sizes
