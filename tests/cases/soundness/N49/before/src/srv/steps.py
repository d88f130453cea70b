def spend(left):
    done = 0
    while left:
        left -= 1
        done += 1
    return done
