class Box:
    def __init__(self, items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)
