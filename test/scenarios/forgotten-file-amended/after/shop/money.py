def parse(text):
    euros, cents = text.split(".")
    return int(euros) * 100 + int(cents)
