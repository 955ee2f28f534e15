"""Functions about sales."""


def sales_00(rows):
    """Works on sales number 0."""
    result = []
    for row in rows:
        if row["sales"] == 0:
            result.append(row["value"] * 1)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_01(rows):
    """Works on sales number 1."""
    result = []
    for row in rows:
        if row["sales"] == 1:
            result.append(row["value"] * 2)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_02(rows):
    """Works on sales number 2."""
    result = []
    for row in rows:
        if row["sales"] == 2:
            result.append(row["value"] * 3)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_03(rows):
    """Works on sales number 3."""
    result = []
    for row in rows:
        if row["sales"] == 3:
            result.append(row["value"] * 4)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_04(rows):
    """Works on sales number 4."""
    result = []
    for row in rows:
        if row["sales"] == 4:
            result.append(row["value"] * 5)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_05(rows):
    """Works on sales number 5."""
    result = []
    for row in rows:
        if row["sales"] == 5:
            result.append(row["value"] * 6)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_06(rows):
    """Works on sales number 6."""
    result = []
    for row in rows:
        if row["sales"] == 6:
            result.append(row["value"] * 7)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_07(rows):
    """Works on sales number 7."""
    result = []
    for row in rows:
        if row["sales"] == 7:
            result.append(row["value"] * 8)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_08(rows):
    """Works on sales number 8."""
    result = []
    for row in rows:
        if row["sales"] == 8:
            result.append(row["value"] * 9)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_09(rows):
    """Works on sales number 9."""
    result = []
    for row in rows:
        if row["sales"] == 9:
            result.append(row["value"] * 10)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_10(rows):
    """Works on sales number 10."""
    result = []
    for row in rows:
        if row["sales"] == 10:
            result.append(row["value"] * 11)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_11(rows):
    """Works on sales number 11."""
    result = []
    for row in rows:
        if row["sales"] == 11:
            result.append(row["value"] * 12)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_12(rows):
    """Works on sales number 12."""
    result = []
    for row in rows:
        if row["sales"] == 12:
            result.append(row["value"] * 13)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_13(rows):
    """Works on sales number 13."""
    result = []
    for row in rows:
        if row["sales"] == 13:
            result.append(row["value"] * 14)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_14(rows):
    """Works on sales number 14."""
    result = []
    for row in rows:
        if row["sales"] == 14:
            result.append(row["value"] * 15)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_15(rows):
    """Works on sales number 15."""
    result = []
    for row in rows:
        if row["sales"] == 15:
            result.append(row["value"] * 16)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_16(rows):
    """Works on sales number 16."""
    result = []
    for row in rows:
        if row["sales"] == 16:
            result.append(row["value"] * 17)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_17(rows):
    """Works on sales number 17."""
    result = []
    for row in rows:
        if row["sales"] == 17:
            result.append(row["value"] * 18)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_18(rows):
    """Works on sales number 18."""
    result = []
    for row in rows:
        if row["sales"] == 18:
            result.append(row["value"] * 19)
    if not result:
        return 0
    return sum(result) / len(result)


def sales_19(rows):
    """Works on sales number 19."""
    result = []
    for row in rows:
        if row["sales"] == 19:
            result.append(row["value"] * 20)
    if not result:
        return 0
    return sum(result) / len(result)
