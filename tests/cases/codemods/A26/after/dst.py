base = 7 \
    # gap
