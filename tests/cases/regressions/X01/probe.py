from report import row
from trainer import Trainer
t = Trainer()
t.advance()
print(row(t), row(t, full=True))
