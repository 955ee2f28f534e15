grep -q 'a \* a' area.py || { echo area.py is wrong; exit 1; }
