# Endpoints without code (endpoints=) of Spring MVC as Debian has it (libspring-web-servlet-java 4.3), in Tomcat 9 and Jetty 9: each request has the
# pattern that Spring mapped it to, whatever stood in its path, below the paths of its application and its servlet; what a filter did before that was known, too. Requests
# that fail, that are handed on or included, whose page for an error is Spring's, and asynchronous ones are one each, of the name that they had first. An application in the
# midst of its load has the same, and afterwards nothing of it. Controllers are registered: this Spring reads class files of Java 8 at the most, and none are read so.
# once: what the frameworks do does not depend on the JDK, and how classes are written again is the matter of other cases.
. "$(dirname "$LIB")/attach.sh"
. "$(dirname "$LIB")/containers.sh"

program=Mvc ROUNDS=5 lasting='*/deferred/*'
owners='beforeOrders GET /shop/api/orders/{orderId}/items
inOrders GET /shop/api/orders/{orderId}/items
inFailing GET /shop/api/failing/{why}
inErrorOfFailing GET /shop/api/failing/{why}
inErrorOfMissing GET /shop/api/missing
inCaught GET /shop/api/caught/{why}
behindCaught GET /shop/api/caught/{why}
inForwarded GET /shop/api/forward/{to}
inIncluded GET /shop/page
beforeDeferred GET /shop/api/deferred/{id}
behindDeferred GET /shop/api/deferred/{id}
inFiles GET /shop/api/files/**'
counted=('GET /shop/api/orders/{orderId}/items' 'GET /shop/api/failing/{why}' 'GET /shop/api/missing' 'GET /shop/api/caught/{why}' 'GET /shop/api/forward/{to}' 'GET /shop/page'
    'GET /shop/api/deferred/{id}' 'GET /shop/api/callable/{id}' 'GET /shop/api/files/**')

# Of a session behind the one with the pack: what servlets take has its endpoint, and Spring's patterns are gone.
nothing_left() { # $1: container
    jaywalk 0 start -e cpu -i 1ms --endpoints=servlet -f "$1-later.jfr" "$server" >out
    until [ "$(samples_so_far)" -ge 1000 ]; do sleep 0.15; done
    jaywalk 0 stop "$server" >out
    jaywalk 0 endpoints -o csv "$1-later.jfr" >later.csv
    grep -q '"GET /shop/api/orders/[a-z]*nna/items",' later.csv || fail "$1: no request by its path: $(cat later.csv)"
    ! grep -F '{orderId}' later.csv || fail "$1: a pattern is there though nobody asked for it"
}

spring=$(jars_of spring3-{core,beans,aop,context,expression,web,web.servlet} commons-logging)
[ -n "$spring" ] || not_run "libspring-web-servlet-java is not installed"
containers=()
for container in tomcat9 jetty9; do
    if [ -n "$(class_path_of "$container")" ]; then containers+=("$container"); else skip_part "$container is not installed"; fi
done
[ ${#containers[@]} != 0 ] || not_run "none of libtomcat9-java, libjetty9-java is installed"

sources=("$(dirname "$LIB")/spring/Mvc.java") all=$spring
for container in "${containers[@]}"; do
    main=${container%9}
    sources+=("$(dirname "$LIB")/spring/On${main^}.java") all+=:$(class_path_of "$container")
done
mkdir application
compile_java -nowarn -cp "$all" -d application "${sources[@]}" >javac.out 2>&1 || fail "$(head -n 1 javac.out)"
for container in "${containers[@]}"; do
    main=${container%9} class_path=$spring:$(class_path_of "$container")
    from_start "$container" "application:$class_path" "mvc.On${main^}"
done
in_the_midst spring-mvc "$container" "application:$class_path" "mvc.On${main^}"
nothing_left "$container"
end_server "$container"
