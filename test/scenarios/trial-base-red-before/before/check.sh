echo "FAIL test_missing: no module named colours"
exit 1
