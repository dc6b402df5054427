# The names are read before the records that bear them: what came between is not known.
s/^static void take(const struct generation \*generation)$/static dict_id last_class;\n&/
s/^static void check_record(/static dict_id last_class;\n&/
s/^    bool right = is_right(generation, record);$/    bool right = is_right(generation, record) \&\& record->class_name <= last_class;/
/^    event_take(generation->events, check_record, NULL);$/i\    last_class = dict_last_id(generation->classes);
