class _Portable:
    def forward_native(self):
        return "portable"

    def forward_hip(self):
        return self.forward_native()


class Op(_Portable):
    def __init__(self, plat):
        self.run = getattr(self, "forward_" + plat, self.forward_cuda)

    def forward_cuda(self):
        return "vendor"
