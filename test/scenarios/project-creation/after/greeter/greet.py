"""The greeting itself."""


def greet(name: str) -> str:
    """Returns a greeting for a name; blanks around it do not count."""
    return f"Hello, {name.strip()}!"
