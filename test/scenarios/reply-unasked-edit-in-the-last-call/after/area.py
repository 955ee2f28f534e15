def area(a):
    return a * a
