# head.sh: the head of the table whose rows chaos_row of cell.sh prints.
chaos_head() {
    echo '| JDK | collector | flags | seconds | interval | signals | samples | lost | without a Java stack | unnamed frames | classes loaded | unloaded | threads begun | storms, turns | crashes | hangs | violations | unreadable files | result |'
    echo '| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |'
}
