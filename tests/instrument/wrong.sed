# Detaching as it must not be: the call sites are linked to nothing, and that is all. Nobody looks whether the attach is alive, or
# waits for who is inside. The case `probes` must find that out.
s/handler\.isAlive = false/handler.isAlive = true/
s/^    int insideCount() {$/    int insideCount() { if (true) return 0;/
