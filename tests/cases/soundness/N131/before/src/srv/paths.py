SHARE = r"\\node\new"
