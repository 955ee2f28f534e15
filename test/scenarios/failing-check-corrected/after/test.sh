set -e
[ "$(sh sum.sh 1 2)" = 3 ] || { echo "1 2 gives $(sh sum.sh 1 2)"; exit 1; }
[ "$(sh sum.sh 1 2 3)" = 6 ] || { echo "1 2 3 gives $(sh sum.sh 1 2 3)"; exit 1; }
echo ok
