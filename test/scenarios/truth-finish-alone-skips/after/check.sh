grep -q 'a \* a' area.py
