"""Discounts on a total in cents."""

CODES = {"SPRING": 10, "STAFF": 30}


def apply(total, codes):
    """Apply the best of the given codes to the total."""
    rates = [CODES[c] for c in codes if c in CODES]
    best = max(rates, default=0)
    return total - total * best // 100
