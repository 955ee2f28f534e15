"""Everything about the shop."""

import math


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


def overview(rows):
    return math.fsum([sales_00(rows), stock_00(rows), staff_00(rows)])
