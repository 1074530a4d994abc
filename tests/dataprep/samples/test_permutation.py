from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from dataprep.samples import Permutation


@pytest.mark.parametrize("key", [(0,), (1, 2), (-7, 2**40)])
def test_every_small_range_is_permuted(key: tuple[int, ...]) -> None:
    for n in [*range(1, 300), 1023, 1024, 1025, 4095, 65536, 99991]:
        image = Permutation(n, *key)(np.arange(n))
        assert image.dtype == np.int64
        assert np.array_equal(np.sort(image), np.arange(n)), n


@pytest.mark.parametrize("n", [2**31 - 1, 2**40 + 17, 2**62])
def test_large_ranges_stay_inside_and_do_not_collide(n: int) -> None:
    image = Permutation(n, 3)(np.arange(50_000))
    assert image.min() >= 0
    assert image.max() < n
    # By chance, 50,000 draws with replacement from the smallest range would collide only about once
    # in two runs; a permutation never does.
    assert len(np.unique(image)) == 50_000


def test_any_part_in_any_shape_gives_the_same_images() -> None:
    whole = Permutation(1000, 5)(np.arange(1000))
    some = np.array([[999, 0, 3], [3, 500, 1]])
    assert np.array_equal(Permutation(1000, 5)(some), whole[some])
    assert Permutation(1000, 5)(17) == whole[17]
    assert Permutation(1000, 5)(np.empty(0, dtype=np.int64)).shape == (0,)


def test_images_never_change() -> None:
    """Stored runs resume by these numbers: a new version must not reshuffle them."""
    assert Permutation(10, 0, 0)(np.arange(10)).tolist() == [1, 8, 2, 7, 3, 6, 0, 4, 9, 5]
    assert Permutation(10**12, 1234, 5)(np.arange(4)).tolist() == [
        786506041415,
        129252309853,
        595844742275,
        416928994163,
    ]


def test_all_orders_of_few_elements_are_equally_likely() -> None:
    keys = 4_000
    for n in (2, 3, 5):
        seen = Counter(tuple(Permutation(n, k)(np.arange(n)).tolist()) for k in range(keys))
        orders = list(itertools.permutations(range(n)))
        expected = keys / len(orders)
        chi2 = sum((seen[o] - expected) ** 2 / expected for o in orders)
        # Mean: degrees of freedom; five standard deviations of a chi-square distribution above.
        freedom = len(orders) - 1
        assert chi2 < freedom + 5 * np.sqrt(2 * freedom) + 10, (n, chi2)


@pytest.mark.parametrize("n", [7, 12, 37])
def test_every_element_lands_everywhere_equally_often(n: int) -> None:
    keys = 100 * n
    images = np.stack([Permutation(n, k)(np.arange(n)) for k in range(keys)])
    counts = np.stack([np.bincount(images[:, i], minlength=n) for i in range(n)])
    chi2 = ((counts - 100) ** 2 / 100).sum()
    freedom = (n - 1) ** 2
    assert abs(chi2 - freedom) < 6 * np.sqrt(2 * freedom)


def test_neighbours_part_and_keys_differ() -> None:
    n = 100_000
    image = Permutation(n, 9)(np.arange(n))
    other = Permutation(n, 10)(np.arange(n))
    # Of the pairs of neighbours and of equal positions about 2 and 1 meet by chance.
    assert (np.abs(np.diff(image)) == 1).sum() < 15
    assert (image == other).sum() < 12
    # Neither places nor steps follow one another.
    for series in (image, np.diff(image)):
        centred = series - series.mean()
        for lag in (2, 3, 317):
            correlation = (centred[:-lag] * centred[lag:]).mean() / centred.var()
            assert abs(correlation) < 6 / np.sqrt(n), lag


def test_positions_outside_are_refused() -> None:
    with pytest.raises(IndexError, match=r"\[0, 10\)"):
        Permutation(10, 0)(np.array([3, 10]))
    with pytest.raises(IndexError, match=r"\[0, 10\)"):
        Permutation(10, 0)(-1)
    with pytest.raises(ValueError, match="0 elements"):
        Permutation(0, 0)
