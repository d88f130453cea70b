base = 7 \
    # gap
-3
left = base
