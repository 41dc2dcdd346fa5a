"""How many rows of a batch each device gets."""
import math
from collections.abc import Iterable


def partition_sizes(rows: int, count: int, weights: Iterable[float] | None = None) -> list[int]:
    """Return how many of `rows` each of `count` devices gets: a share in proportion to its weight, but at least one.

    Without `weights` all devices weigh the same. Source: the largest-remainder method of apportionment (Hamilton's).

    Raises:
        ValueError: There are fewer rows than devices, or the weights are not `count` positive numbers.

    >>> partition_sizes(10, 3, weights=[5, 3, 2])
    [5, 3, 2]
    """
    weights = [1] * count if weights is None else list(weights)
    if not 0 < count <= rows:
        raise ValueError(f"split_and_load: {rows} rows for {count} devices; each device needs at least one")
    if len(weights) != count or not all(0 < weight < math.inf for weight in weights) or sum(weights) == math.inf:
        raise ValueError(f"split_and_load: weights {weights} for {count} devices; give each device a number above zero")
    shares = [rows * (weight / sum(weights)) for weight in weights]
    sizes = [max(1, math.floor(share)) for share in shares]
    while sum(sizes) < rows:
        index = max(range(count), key=lambda index: shares[index] - sizes[index])
        sizes[index] += 1
    while sum(sizes) > rows:  # because small parts were raised to one row
        index = sizes.index(max(sizes))
        sizes[index] -= 1
    return sizes
