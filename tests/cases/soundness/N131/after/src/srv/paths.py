SHARE = "\\node\new"
