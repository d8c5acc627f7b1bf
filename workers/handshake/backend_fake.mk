SOURCES_fake := backend_fake fake_settings
LIBS_fake ?=
