def amount_of(order):
    """The order's worth; above 100 with ten percent off."""
    amount = sum(line["count"] * line["price"] for line in order["lines"])
    return amount * 0.9 if amount > 100 else amount


def sum_by_customer(orders):
    sums = {}
    for order in orders:
        name = order["customer"]
        sums[name] = sums.get(name, 0) + amount_of(order)
    return sums


def report(orders):
    by_customer = sum_by_customer(orders)
    text = "REPORT\n"
    for name in sorted(by_customer):
        text += f"{name:<20}{by_customer[name]:>10.2f}\n"
    text += f"{'total':<20}{sum(by_customer.values()):>10.2f}\n"
    return text
