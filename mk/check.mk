# Checks of the source and of what it compiles to.
