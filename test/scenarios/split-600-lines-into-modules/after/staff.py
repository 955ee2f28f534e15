"""Functions about staff."""


def staff_00(rows):
    """Works on staff number 0."""
    result = []
    for row in rows:
        if row["staff"] == 0:
            result.append(row["value"] * 1)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_01(rows):
    """Works on staff number 1."""
    result = []
    for row in rows:
        if row["staff"] == 1:
            result.append(row["value"] * 2)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_02(rows):
    """Works on staff number 2."""
    result = []
    for row in rows:
        if row["staff"] == 2:
            result.append(row["value"] * 3)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_03(rows):
    """Works on staff number 3."""
    result = []
    for row in rows:
        if row["staff"] == 3:
            result.append(row["value"] * 4)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_04(rows):
    """Works on staff number 4."""
    result = []
    for row in rows:
        if row["staff"] == 4:
            result.append(row["value"] * 5)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_05(rows):
    """Works on staff number 5."""
    result = []
    for row in rows:
        if row["staff"] == 5:
            result.append(row["value"] * 6)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_06(rows):
    """Works on staff number 6."""
    result = []
    for row in rows:
        if row["staff"] == 6:
            result.append(row["value"] * 7)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_07(rows):
    """Works on staff number 7."""
    result = []
    for row in rows:
        if row["staff"] == 7:
            result.append(row["value"] * 8)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_08(rows):
    """Works on staff number 8."""
    result = []
    for row in rows:
        if row["staff"] == 8:
            result.append(row["value"] * 9)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_09(rows):
    """Works on staff number 9."""
    result = []
    for row in rows:
        if row["staff"] == 9:
            result.append(row["value"] * 10)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_10(rows):
    """Works on staff number 10."""
    result = []
    for row in rows:
        if row["staff"] == 10:
            result.append(row["value"] * 11)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_11(rows):
    """Works on staff number 11."""
    result = []
    for row in rows:
        if row["staff"] == 11:
            result.append(row["value"] * 12)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_12(rows):
    """Works on staff number 12."""
    result = []
    for row in rows:
        if row["staff"] == 12:
            result.append(row["value"] * 13)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_13(rows):
    """Works on staff number 13."""
    result = []
    for row in rows:
        if row["staff"] == 13:
            result.append(row["value"] * 14)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_14(rows):
    """Works on staff number 14."""
    result = []
    for row in rows:
        if row["staff"] == 14:
            result.append(row["value"] * 15)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_15(rows):
    """Works on staff number 15."""
    result = []
    for row in rows:
        if row["staff"] == 15:
            result.append(row["value"] * 16)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_16(rows):
    """Works on staff number 16."""
    result = []
    for row in rows:
        if row["staff"] == 16:
            result.append(row["value"] * 17)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_17(rows):
    """Works on staff number 17."""
    result = []
    for row in rows:
        if row["staff"] == 17:
            result.append(row["value"] * 18)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_18(rows):
    """Works on staff number 18."""
    result = []
    for row in rows:
        if row["staff"] == 18:
            result.append(row["value"] * 19)
    if not result:
        return 0
    return sum(result) / len(result)


def staff_19(rows):
    """Works on staff number 19."""
    result = []
    for row in rows:
        if row["staff"] == 19:
            result.append(row["value"] * 20)
    if not result:
        return 0
    return sum(result) / len(result)
