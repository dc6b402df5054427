# features=pcaddr: on top of each stack, once, the address of the instruction at which the thread was interrupted: it lies in the function
# that is named below it, in its library, or in code that the JVM made; in recordings and in graphs that the agent draws.
# once: the same code on each JDK.
cat >hot.c <<'C'
#include <stdio.h>
#include <stdlib.h>
extern char __start_hot[], __stop_hot[];
static long calls;
__attribute__((section("hot"), noinline)) static long hot_loop(long rounds)
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile("" : "+r"(calls));
    return calls;
}
long storm_burn(long rounds);
long storm_burn(long rounds)
{
    return hot_loop(rounds) + 1;
}
/* What is mapped, while it is there: of the last look all is known. */
__attribute__((destructor)) static void tell(void)
{
    FILE *from = fopen("/proc/self/maps", "r"), *to = fopen(getenv("MAPS_FILE"), "w");
    int byte;
    if (from == NULL || to == NULL)
        abort();
    fprintf(to, "%lx-%lx hot\n", (unsigned long)__start_hot, (unsigned long)__stop_hot);
    while ((byte = getc(from)) != EOF)
        putc(byte, to);
    fclose(from);
    fclose(to);
}
C
"${CC:-gcc}" -O2 -shared -fPIC -Wl,--build-id=sha1 -o libhot.so hot.c
export MAPS_FILE=$OUT/maps
profile addresses event=cpu,interval=1ms,features=vtable+pcaddr,file=addresses.jfr LibraryStorm 0 600 "$OUT/libhot.so" "$OUT/libhot.so"
silent addresses
check_once Addresses addresses.jfr maps
check_once Whole "$COUNTERS" addresses.jfr
"$JW_COMMAND" convert -q addresses.jfr - --output=collapsed >stacks
grep -qE ';storm_burn;hot_loop;0x[0-9a-f]+ [0-9]+$' stacks || fail "no address in collapsed stacks: $(grep -m 1 hot_loop stacks)"
! grep -vE ';0x[0-9a-f]+ [0-9]+$' stacks >without || fail "a stack without an address: $(head -n 1 without)"

profile drawn event=cpu,interval=1ms,cstack=no,features=pcaddr,file=drawn.collapsed LibraryStorm 0 100 "$OUT/libhot.so" "$OUT/libhot.so"
grep -qE ';LibraryStorm.visit;0x[0-9a-f]+ [0-9]+$' drawn.collapsed || fail "no address in a graph: $(grep -m 1 visit drawn.collapsed)"
