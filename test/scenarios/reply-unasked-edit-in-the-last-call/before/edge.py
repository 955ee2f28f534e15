def edge(a):
    return a
