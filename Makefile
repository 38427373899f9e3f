# Thin targets over scripts/setup (Debian packages) and the CMake presets.

.PHONY: demo test bench picture asan tidy format format-check clean setup
.DEFAULT_GOAL := demo

setup:
	@scripts/setup

build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $*

demo: build/release/build.ninja
	@cmake --build --preset release --target lrvb_program
	@build/release/bin/lrvb fit mixture data/old_faithful.csv -c eruptions -k 2 --prior paper

test: build/release/build.ninja
	@cmake --build --preset release
	@ctest --preset release

picture: build/release/build.ninja
	@cmake --build --preset release --target picture
	@build/release/examples/picture data > docs/sd_picture.svg.part && mv docs/sd_picture.svg.part docs/sd_picture.svg

bench: build/release/build.ninja
	@cmake --build --preset release
	@build/release/bench/csv
	@build/release/bench/scale
	@build/release/bench/mixture

asan: build/asan/build.ninja
	@cmake --build --preset asan
	@ctest --preset asan

tidy: build/tidy/build.ninja
	@cmake --build --preset tidy

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')

format: setup
	@clang-format -i $(SOURCES)

format-check: setup
	@clang-format --dry-run -Werror $(SOURCES)

clean:
	@rm -rf build
