from shop.money import parse


def discounted(price, percent):
    return parse(price) * (100 - percent) // 100
