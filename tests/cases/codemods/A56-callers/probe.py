from m import A, B, Other, outside
a, b = A(), B()
print(a.own(), b.below(), Other().beside(a), outside(b))
