grep -q y b.txt
