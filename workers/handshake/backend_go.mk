# Go's crypto/tls, by the glue in go/ that a kit's recipe builds with a Go toolchain: a library behind the border of foreign.h.
SOURCES_go := backend_foreign foreign_inspect expected certificate material
LIBS_go ?= -lkexbench_go
