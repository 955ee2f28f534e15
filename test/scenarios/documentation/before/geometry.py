import math


def area(radius):
    return math.pi * radius**2


def distance(a, b):
    return math.dist(a, b)
