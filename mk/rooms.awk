# Reads src/LAYERS; prints `room,` and the rooms that it may use, directly or not, one line a room.
/^[a-z]+:/ {
    room = substr($1, 1, length($1) - 1)
    names = room
    for (i = 2; i <= NF; i++) {
        count = split(under[$i], used, ",")
        for (j = 1; j <= count; j++)
            if (index("," names ",", "," used[j] ",") == 0)
                names = names "," used[j]
    }
    under[room] = names
    print names
}
