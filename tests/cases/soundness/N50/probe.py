from srv.args import Args
from srv.runner import Runner
print(Runner(Args(page_size=16, eos=2)).pages(100))
