"""Functions about stock."""


def stock_00(rows):
    """Works on stock number 0."""
    result = []
    for row in rows:
        if row["stock"] == 0:
            result.append(row["value"] * 1)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_01(rows):
    """Works on stock number 1."""
    result = []
    for row in rows:
        if row["stock"] == 1:
            result.append(row["value"] * 2)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_02(rows):
    """Works on stock number 2."""
    result = []
    for row in rows:
        if row["stock"] == 2:
            result.append(row["value"] * 3)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_03(rows):
    """Works on stock number 3."""
    result = []
    for row in rows:
        if row["stock"] == 3:
            result.append(row["value"] * 4)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_04(rows):
    """Works on stock number 4."""
    result = []
    for row in rows:
        if row["stock"] == 4:
            result.append(row["value"] * 5)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_05(rows):
    """Works on stock number 5."""
    result = []
    for row in rows:
        if row["stock"] == 5:
            result.append(row["value"] * 6)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_06(rows):
    """Works on stock number 6."""
    result = []
    for row in rows:
        if row["stock"] == 6:
            result.append(row["value"] * 7)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_07(rows):
    """Works on stock number 7."""
    result = []
    for row in rows:
        if row["stock"] == 7:
            result.append(row["value"] * 8)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_08(rows):
    """Works on stock number 8."""
    result = []
    for row in rows:
        if row["stock"] == 8:
            result.append(row["value"] * 9)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_09(rows):
    """Works on stock number 9."""
    result = []
    for row in rows:
        if row["stock"] == 9:
            result.append(row["value"] * 10)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_10(rows):
    """Works on stock number 10."""
    result = []
    for row in rows:
        if row["stock"] == 10:
            result.append(row["value"] * 11)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_11(rows):
    """Works on stock number 11."""
    result = []
    for row in rows:
        if row["stock"] == 11:
            result.append(row["value"] * 12)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_12(rows):
    """Works on stock number 12."""
    result = []
    for row in rows:
        if row["stock"] == 12:
            result.append(row["value"] * 13)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_13(rows):
    """Works on stock number 13."""
    result = []
    for row in rows:
        if row["stock"] == 13:
            result.append(row["value"] * 14)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_14(rows):
    """Works on stock number 14."""
    result = []
    for row in rows:
        if row["stock"] == 14:
            result.append(row["value"] * 15)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_15(rows):
    """Works on stock number 15."""
    result = []
    for row in rows:
        if row["stock"] == 15:
            result.append(row["value"] * 16)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_16(rows):
    """Works on stock number 16."""
    result = []
    for row in rows:
        if row["stock"] == 16:
            result.append(row["value"] * 17)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_17(rows):
    """Works on stock number 17."""
    result = []
    for row in rows:
        if row["stock"] == 17:
            result.append(row["value"] * 18)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_18(rows):
    """Works on stock number 18."""
    result = []
    for row in rows:
        if row["stock"] == 18:
            result.append(row["value"] * 19)
    if not result:
        return 0
    return sum(result) / len(result)


def stock_19(rows):
    """Works on stock number 19."""
    result = []
    for row in rows:
        if row["stock"] == 19:
            result.append(row["value"] * 20)
    if not result:
        return 0
    return sum(result) / len(result)
