"""Greets people."""

from greeter.greet import greet

__all__ = ["greet"]
