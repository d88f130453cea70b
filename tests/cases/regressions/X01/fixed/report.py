COLUMNS = {"step": "step_count", "loss": "loss"}


def row(trainer, full=False):
    if not full:
        return {"loss": trainer.loss}
    return {column: getattr(trainer, name, None) for column, name in COLUMNS.items()}
