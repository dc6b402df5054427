/*
 * Exceptions on their way through frames of all kinds, for test_walk_oracle.c, which compiles this file, loads it and
 * samples it.
 */
#include <stdexcept>
#include <string>
#include <vector>

namespace {

volatile int sink;

struct Guard {
    std::string text;
    explicit Guard(const char *of) : text(of) {}
    ~Guard() { sink = sink + static_cast<int>(text.size()); }
};

__attribute__((noinline)) int thrower(int depth)
{
    Guard guard("a text that is too long to lie inside of its string");
    if (depth == 0)
        throw std::runtime_error("at the bottom");
    return thrower(depth - 1) + static_cast<int>(guard.text.size());
}

__attribute__((noinline)) int rethrower(int depth)
{
    std::vector<int> numbers(static_cast<std::size_t>(depth) + 3);
    try {
        return thrower(depth) + numbers.back();
    } catch (const std::exception &) {
        sink = sink + 1;
        throw;
    }
}

/* Nothing leaves it; what is thrown below is caught in it. */
__attribute__((noinline)) int keeper(int depth) noexcept
{
    try {
        return rethrower(depth);
    } catch (const std::runtime_error &error) {
        return static_cast<int>(std::string(error.what()).size());
    } catch (...) {
        return -1;
    }
}

} // namespace

extern "C" int throws_run(void)
{
    int sum = 0;
    for (int depth = 0; depth < 4; depth++)
        sum += keeper(depth);
    try {
        throw 7;
    } catch (int number) {
        sum += number;
    }
    return sum;
}
