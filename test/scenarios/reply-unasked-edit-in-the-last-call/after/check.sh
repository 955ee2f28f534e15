grep -q 'a \* a' area.py && grep -q '4 \* a' edge.py
