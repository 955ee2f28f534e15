"""Greets whoever is named on the command line."""

import sys

from greeter import greet

if __name__ == "__main__":
    print(greet(" ".join(sys.argv[1:]) or "world"))
