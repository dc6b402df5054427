# Endpoints without code (endpoints=) in Tomcat 9 and 10 and Jetty 9 as Debian has them (libtomcat9-java, libtomcat10-embed-java, libjetty9-java): an application with filters, forwards, error pages, asynchronous requests and files, asked by four threads that keep their connections. From the
# start each request is counted once, whatever its container dispatched for it; then, and where the session begins and ends in the midst of the load, no sample has
# an endpoint that is not its own, what is done for a request has its endpoint, and what other threads do has none.
# once: what the containers do does not depend on the JDK, and how classes are written again is the matter of other cases.
. "$(dirname "$LIB")/attach.sh"
. "$(dirname "$LIB")/containers.sh"

program=Shop lasting='*/async/*'
owners='inOrders GET /orders/{id}
inItems GET /items
inForwarded GET /forward
inFailing GET /failing
inErrorOfFailing GET /failing
inErrorOfMissing GET /missing
beforeAsync GET /async/{id}
behindAsync GET /async/{id}'
counted=('GET /orders/{id}' 'GET /items' 'GET /forward' 'GET /failing' 'GET /missing' 'GET /async/{id}' 'GET /file.txt')

mkdir files
seq 100 >files/file.txt
met=
for container in tomcat9 tomcat10 jetty9; do
    class_path=$(class_path_of "$container")
    if [ -z "$class_path" ]; then
        skip_part "$container is not installed"
        continue
    fi
    met=yes
    main=$(build_shop "$container" "$class_path")
    from_start "$container" "$class_path" "$main" files
    [ "$container" != tomcat9 ] || continue
    in_the_midst auto "$container" "$class_path" "$main" files
    end_server "$container"
done
[ -n "$met" ] || not_run "none of libtomcat9-java, libtomcat10-embed-java, libjetty9-java is installed"
