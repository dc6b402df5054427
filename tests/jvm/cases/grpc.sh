# Endpoints without code (endpoints=) of gRPC as Debian has it (libgrpc-java 1.41), in a server of the same process: each call
# of a method, of all four kinds, has its name on whatever threads it goes on, behind interceptors that put something around calls, and is one; from its begin to when its
# listener is told that it is closed, whoever answered it, and if it failed. By the network, which is Netty, a call is one, too, and no request of Netty's. Likewise in the midst of the load; what other threads do has no endpoint.
# once: what the framework does does not depend on the JDK, and how classes are written again is the matter of other cases.
. "$(dirname "$LIB")/attach.sh"
. "$(dirname "$LIB")/containers.sh"

program=Calls ROUNDS=6 lasting='*/Later'
owners='inGet shop.Orders/Get
inList shop.Orders/List
beforePut shop.Orders/Put
inPut shop.Orders/Put
inChat shop.Orders/Chat
inFail shop.Orders/Fail
inLater shop.Orders/Later
behindLater shop.Orders/Later'
counted=(shop.Orders/{Get,List,Put,Chat,Fail,Later})

class_path=$(jars_of grpc-{api,core,stub,context} guava perfmark-api)
[ -n "$class_path" ] || not_run "libgrpc-java or libperfmark-java is not installed"
mkdir application
compile_java -nowarn -cp "$class_path" -d application "$(dirname "$LIB")/grpc/Calls.java" >javac.out 2>&1 || fail "$(head -n 1 javac.out)"
from_start calls "application:$class_path" calls.Calls
over=$(jars_of grpc-netty netty-{buffer,codec,codec-http,codec-http2,codec-socks,common,handler,handler-proxy,resolver,transport})
if [ -n "$over" ]; then
    compile_java -nowarn -cp "application:$class_path:$over" -d application "$(dirname "$LIB")/grpc/OnNetty.java" >javac.out 2>&1 || fail "$(head -n 1 javac.out)"
    from_start on-netty "application:$class_path:$over" calls.OnNetty
else
    skip_part "libnetty-java is not installed"
fi
in_the_midst grpc calls "application:$class_path" calls.Calls
end_server calls
