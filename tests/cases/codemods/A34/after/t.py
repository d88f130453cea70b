import dst


class A:
	def f(self):
		return dst.f()

	def g(self):
	    return dst.g()
