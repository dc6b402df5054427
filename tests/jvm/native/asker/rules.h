/*
 * rules - what belongs together in the names of the workload Churn: method m123 to class C123 and its one line, h123 to the hidden
 * class H123; and of R0 to R7 each line to one version of one method. Who calls whom, too. All of it may run in a signal handler.
 */
#ifndef JW_TESTS_ASKER_RULES_H
#define JW_TESTS_ASKER_RULES_H

/* Which of its classes that is: 'C', 'H' or 'R', with its number; 0: none of them. */
char rules_family(const char *class_name, int *number);

/* The method that is named so with bodies like this one: what is wrong with it; NULL: nothing. `line`: -1: not asked. */
const char *rules_wrong_frame(const char *class_name, const char *method, int line);

/* A frame, as it was told. */
struct rules_frame {
    const char *class_name, *method;
    int line; /* 0: not known */
};

/* What is wrong with this call; NULL: nothing. */
const char *rules_wrong_call(const struct rules_frame *caller, const struct rules_frame *callee);

#endif
