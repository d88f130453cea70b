from m import Runner


class Stub(Runner):
    dp_default = 1

    def limit(self, asked=None):
        return 8 if asked is None else asked // self.attn_dp_size
