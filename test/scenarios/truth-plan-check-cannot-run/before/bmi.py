def bmi(kg, m):
    return kg / m**2
