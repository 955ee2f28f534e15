def to_fahrenheit(celsius):
    return celsius * 9 / 5 + 32


def to_celsius(fahrenheit):
    return fahrenheit - 32 * 5 / 9


def to_kelvin(celsius):
    return celsius + 273.15
