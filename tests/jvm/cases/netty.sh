# Endpoints without code (endpoints=) of servers on Netty as Debian has it (libnetty-java 4.1): each request of HTTP/1 is counted once, whether handlers are given it whole or in parts, that come as its bytes do, one
# by one or two requests at once; what the event loop does for it, and for what is left of it, has its endpoint. What the same event loops do for answers that they asked for themselves and for
# another protocol has none, nor what other threads do. No request has a time, since nobody knows of which one an answer is. All are answered as without the agent. A program in the midst of its load has the same.
# once: what the frameworks do does not depend on the JDK, and how classes are written again is the matter of other cases.
. "$(dirname "$LIB")/attach.sh"
. "$(dirname "$LIB")/containers.sh"

program=Reads ROUNDS=10 lasting='-' untimed='*'
owners='inOrders GET /orders/{id}/items
inPosted POST /orders/{id}
behindFailing GET /failing
inFirst GET /first/{id}
inSecond GET /second/{id}
beforeAsking GET /asks
inAsked GET /asked
beginOfPut PUT /blobs/{id}
midstOfPut PUT /blobs/{id}
endOfPut PUT /blobs/{id}
beforeLater GET /later/{id}'
counted=('GET /orders/{id}/items' 'POST /orders/{id}' 'GET /failing' 'GET /first/{id}' 'GET /second/{id}' 'GET /asks' 'GET /asked' 'PUT /blobs/{id}' 'GET /later/{id}')

class_path=$(jars_of netty-{buffer,codec,codec-http,common,handler,resolver,transport})
[ -n "$class_path" ] || not_run "libnetty-java is not installed"
mkdir application
compile_java -nowarn -cp "$class_path" -d application "$(dirname "$LIB")/netty/Reads.java" >javac.out 2>&1 || fail "$(head -n 1 javac.out)"
from_start reads "application:$class_path" netty.Reads
run_java plain 0 -cp "application:$class_path" netty.Reads "$ROUNDS"
[ "$(cat reads.out)" = "$(cat plain.out)" ] || fail "it does not say what it says without the agent: $(tr '\n' ' ' <reads.out)"
in_the_midst netty reads "application:$class_path" netty.Reads
end_server reads
