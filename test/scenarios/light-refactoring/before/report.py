def report(orders):
    total = 0
    by_customer = {}
    for order in orders:
        amount = 0
        for line in order["lines"]:
            amount += line["count"] * line["price"]
        if amount > 100:
            amount = amount * 0.9
        total += amount
        name = order["customer"]
        by_customer[name] = by_customer.get(name, 0) + amount
    text = "REPORT\n"
    for name in sorted(by_customer):
        text += f"{name:<20}{by_customer[name]:>10.2f}\n"
    text += f"{'total':<20}{total:>10.2f}\n"
    return text
