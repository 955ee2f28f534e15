grep -q 'raise ValueError' bmi.py && exit 0
echo 'FAILED test_zero: no ValueError'
exit 1
