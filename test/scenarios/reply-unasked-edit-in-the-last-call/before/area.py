def area(a):
    return a
