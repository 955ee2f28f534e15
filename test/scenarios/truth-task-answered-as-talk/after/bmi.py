def bmi(w, h):
    return w / h
