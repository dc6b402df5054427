# Every sample says what request it served, read by every stock reader: also an attribute that is named half-way, and who waits.
# once: requests are told by the program to the agent.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
JAVA_FLAGS+=(-cp "$JW_JAR:$API_CLASSES")

profile requests event=cpu,interval=2ms,wall=20ms,file=requests.jfr io.jaywalk.Requests 3000
silent requests
whole requests.jfr
ledger requests.jfr
read -r requests spans <requests.out
check Served requests.jfr "$requests" "$spans"
