bad=0
fail() {
  echo "FAIL $1"
  bad=1
}
grep -Eq 'ljust|"00"' shop/money.py || fail "test_one_digit: 1205 is not 1250"
grep -q 'best // 100$' shop/discounts.py || fail "test_spring: 0 is not 900"
grep -q 'in codes if c in CODES' shop/discounts.py || fail "test_unknown_code: KeyError NOPE"
exit "$bad"
