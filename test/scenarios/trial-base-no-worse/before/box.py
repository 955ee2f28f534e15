class Box:
    def __init__(self, items):
        self.items = list(items)
