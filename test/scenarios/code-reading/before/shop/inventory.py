"""Stock of a small shop."""

from dataclasses import dataclass


@dataclass
class Item:
    name: str
    count: int
    price: float


class Inventory:
    def __init__(self):
        self._items = {}

    def add(self, item):
        known = self._items.get(item.name)
        if known:
            known.count += item.count
        else:
            self._items[item.name] = item

    def total(self):
        return sum(item.count * item.price for item in self._items.values())
