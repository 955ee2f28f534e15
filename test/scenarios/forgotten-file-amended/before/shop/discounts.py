from shop.money import parse


def discounted(price, percent):
    return parse(price) * percent // 100
