def edge(a):
    return 4 * a
