/* What Go cannot export: constants. */
#include "foreign.h"

const char foreign_library[] = "go";
const struct traits foreign_traits = {.own_heap = true, .own_threads = true, .early_tickets = true};
