"""Small functions of plane geometry."""

import math


def area(radius):
    """Returns the area of a circle."""
    return math.pi * radius**2


def distance(a, b):
    """Returns the distance of two points, given as sequences of equal length."""
    return math.dist(a, b)
