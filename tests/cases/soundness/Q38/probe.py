from srv.m import A
class B(A):
    def bump(self): self.x = 4
print(B().f(3))
