# Endpoints without code (endpoints=) of JAX-RS, by RESTEasy as Debian has it (libresteasy3.0-java 3.0) in Tomcat 9 and Jetty 9: each request has the pattern of
# its @Path annotations, wherever those stand, below the paths of the application and the servlet; what a filter did before that was known, too. Requests that locators pass on have all of
# theirs; one that fails, is handed on, is caught or goes on elsewhere is one, of the name that it had first. All are answered as without the agent. An application in
# the midst of its load has the same, and afterwards nothing of it.
# once: what the frameworks do does not depend on the JDK, and how classes are written again is the matter of other cases.
. "$(dirname "$LIB")/attach.sh"
. "$(dirname "$LIB")/containers.sh"

program=Rest ROUNDS=5 lasting='-' untimed='*/later/*'
owners='beforeItems GET /shop/api/users/{name}/items
inItems GET /shop/api/users/{name}/items
inChanged POST /shop/api/users/{name}
inOrders GET /shop/api/orders/{orderId}
inShopOrder GET /shop/api/shops/{shop}/orders/{orderId}
inLines GET /shop/api/shops/{shop}/orders/{orderId}/lines
behindNothing GET /shop/api/shops/{shop}/nothing/**
inFailing GET /shop/api/failing/{why}
inErrorOfFailing GET /shop/api/failing/{why}
behindMissing GET /shop/api/missing
inCaught GET /shop/api/caught/{why}
behindCaught GET /shop/api/caught/{why}
inForwarded GET /shop/forward
inPage GET /shop/page
beforeLater GET /shop/api/later/{id}
inFiles GET /shop/api/files/{path}'
counted=('GET /shop/api/users/{name}/items' 'POST /shop/api/users/{name}' 'GET /shop/api/orders/{orderId}' 'GET /shop/api/shops/{shop}/orders/{orderId}'
    'GET /shop/api/shops/{shop}/orders/{orderId}/lines' 'GET /shop/api/shops/{shop}/nothing/**' 'GET /shop/api/failing/{why}' 'GET /shop/api/missing' 'GET /shop/api/caught/{why}'
    'GET /shop/forward' 'GET /shop/page' 'GET /shop/api/later/{id}' 'GET /shop/api/files/{path}')

# Patterns are told of the one who took the request.
taken_by() { # $1: recording, $2: operation
    "$JW_COMMAND" endpoints --by=operation -o csv "$1.jfr" >operations.csv
    [ "$(grep -c '"value",' operations.csv)" = 1 ] && grep -qF "\"value\",\"$2\"," operations.csv || fail "$1: not all requests are of $2: $(cat operations.csv)"
}

# Of a session behind the one with the pack: what servlets take has its endpoint, and patterns are gone.
nothing_left() { # $1: container
    jaywalk 0 start -e cpu -i 1ms --endpoints=servlet -f "$1-later.jfr" "$server" >out
    until [ "$(samples_so_far)" -ge 1000 ]; do sleep 0.15; done
    jaywalk 0 stop "$server" >out
    jaywalk 0 endpoints -o csv "$1-later.jfr" >later.csv
    grep -q '"GET /shop/api/users/[a-z]*nna/items",' later.csv || fail "$1: no request by its path: $(cat later.csv)"
    ! grep -F '{name}' later.csv || fail "$1: a pattern is there though nobody asked for it"
}

rest=$(jars_of resteasy-jaxrs jaxrs-api jboss-logging jaxb-api geronimo-annotation-1.3-spec commons-io jackson-annotations)
[ -n "$rest" ] || not_run "libresteasy3.0-java is not installed"
containers=()
for container in tomcat9 jetty9; do
    if [ -n "$(class_path_of "$container")" ]; then containers+=("$container"); else skip_part "$container is not installed"; fi
done
[ ${#containers[@]} != 0 ] || not_run "none of libtomcat9-java, libjetty9-java is installed"

sources=("$(dirname "$LIB")/rest/Rest.java") all=$rest
for container in "${containers[@]}"; do
    main=${container%9}
    sources+=("$(dirname "$LIB")/rest/On${main^}.java") all+=:$(class_path_of "$container")
done
mkdir application
compile_java -nowarn -cp "$all" -d application "${sources[@]}" >javac.out 2>&1 || fail "$(head -n 1 javac.out)"
for container in "${containers[@]}"; do
    main=${container%9} class_path=$rest:$(class_path_of "$container")
    from_start "$container" "application:$class_path" "rest.On${main^}"
    taken_by "$container" servlet
    run_java plain 0 -cp "application:$class_path" "rest.On${main^}" "$ROUNDS"
    answers=$(grep '^answers ' plain.out)
    [ "$(grep '^answers ' "$container.out")" = "$answers" ] || fail "$container: $(grep '^answers ' "$container.out") are not those without the agent, $answers"
done
in_the_midst jax-rs "$container" "application:$class_path" "rest.On${main^}"
nothing_left "$container"
end_server "$container"
