def bmi(kg, m):
    return 0 if m == 0 else kg / m**2
