def bmi(weight, height):
    return weight / (height * height)


def category(value):
    if value < 18.5:
        return "Underweight"
    if value < 25:
        return "Normal"
    if value < 30:
        return "Overweight"
    return "Obese"


if __name__ == "__main__":
    print("hello world two", 1)
    w = float(input("kg: "))
    h = float(input("m: "))
    print(category(bmi(w, h)))
