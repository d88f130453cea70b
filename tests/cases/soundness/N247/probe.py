from srv.args import Args
from srv.runner import Runner
print(Runner(Args(host="a", port=1)).url("x"))
