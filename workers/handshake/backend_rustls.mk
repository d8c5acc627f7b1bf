# rustls, by the glue in rustls/ that a kit's recipe builds with cargo: a library behind the border of foreign.h.
SOURCES_rustls := backend_foreign foreign_inspect expected certificate material
LIBS_rustls ?= -lkexbench_rustls
