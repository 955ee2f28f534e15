"""Money in cents, so that no cent is lost to rounding."""


def parse(text):
    """Parse a price such as "12.50" into cents."""
    whole, _, rest = text.partition(".")
    return int(whole) * 100 + int(rest or 0)


def render(cents):
    return f"{cents // 100}.{cents % 100:02d}"
