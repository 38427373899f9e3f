# Thin targets over scripts/setup (Debian packages) and the CMake presets.

.PHONY: demo test snapshot snapshot-compare python mpi consumer install uninstall deb bench models compare-lme4 checks checked-fits honesty optima sbc picture screenshots reproduce asan fuzz tidy format format-check clean setup
.DEFAULT_GOAL := demo

setup:
	@scripts/setup

build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $*

demo: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_program
	@build/release/bin/lrvb fit mixture data/old_faithful.csv -c eruptions -k 2 --prior paper -o build/old_faithful.json
	@echo
	@build/release/bin/lrvb report build/old_faithful.json data/old_faithful.csv -o build/report.html

test: build/release/build.ninja with-python-release with-mpi-release
	@cmake --build --parallel $(shell nproc) --preset release
	@ctest --preset release

# The Python package, in build/release/python, and its tests; pip install . installs it. The core needs none of it.
python: build/release/build.ninja with-python-release
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_python lrvb_program
	@ctest --preset release -R '^python$$'

with-python-%: build/%/build.ninja
	@scripts/setup packages-python
	@grep -q '^LRVB_BUILD_PYTHON:BOOL=ON' build/$*/CMakeCache.txt || cmake --preset $* -D LRVB_BUILD_PYTHON=ON

# The program lrvb-mpi, in build/release/bin, and its tests. lrvb and the library need none of it.
mpi: build/release/build.ninja with-mpi-release
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_mpi_program lrvb_mpi_tests
	@ctest --preset release -R '^Mpi\.'

# Configured before MPI was there, a build looks for it again.
with-mpi-%: build/%/build.ninja
	@scripts/setup packages-mpi
	@grep -q '^MPI_CXX_LIB_NAMES:STRING=.' build/$*/CMakeCache.txt || cmake --preset $*

# Program, library, manual page, completions and documents: make install PREFIX=$HOME/.local
PREFIX = /usr/local
DESTDIR =

install: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_installed
	@scripts/install build/release '$(abspath $(PREFIX))' '$(DESTDIR)'

uninstall:
	@scripts/uninstall '$(abspath $(PREFIX))' '$(DESTDIR)'

# Debian packages of the program and of the library, in build/deb.
deb: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_installed
	@cpack --config build/release/CPackConfig.cmake -B build/deb >build/release/cpack.log || { cat build/release/cpack.log; exit 1; }
	@rm -rf build/deb/_CPack_Packages
	@ls build/deb/*.deb

picture: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target picture leverage_picture lrvb_program
	@build/release/examples/picture data > docs/sd_picture.svg.part && mv docs/sd_picture.svg.part docs/sd_picture.svg
	@build/release/examples/leverage_picture > docs/leverage_picture.svg.part && mv docs/leverage_picture.svg.part docs/leverage_picture.svg
	@build/release/bin/lrvb fit regression data/mtcars.csv --response mpg -c wt,qsec,am --quiet -o build/mtcars.json
	@build/release/bin/lrvb plot build/mtcars.json -o docs/report/intervals.svg
	@build/release/bin/lrvb fit mixture data/old_faithful.csv -k 2 --quiet -o build/old_faithful_pair.json
	@build/release/bin/lrvb plot build/old_faithful_pair.json data/old_faithful.csv --figure fit -o docs/report/fit.svg

# Pictures of the report in headless Chromium, for docs/report.md.
screenshots: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_program
	@node scripts/screenshots.mjs

reproduce: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_program lrvb_reproduce
	@build/release/bin/lrvb reproduce all -o docs/reproduction

# Models in BUGS against their exact posteriors: docs/models.md.
models: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_program
	@node scripts/models.mjs build/release/bin/lrvb docs/models.md

# The numbers of about 100 fits, kept in tests/snapshot/kept: recorded, or compared with those of this build.
# FITS='poisson pump' chooses fits by parts of their names.
snapshot snapshot-compare: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_program snapshot_models
	@node scripts/snapshot.mjs $(if $(filter snapshot,$@),record,compare) build/release $(FITS)

bench: build/release/build.ninja with-mpi-release
	@cmake --build --parallel $(shell nproc) --preset release --target benchmarks lrvb_program
	@build/release/bench/cholesky
	@build/release/bench/csv
	@build/release/bench/field
	@build/release/bench/scale
	@build/release/bench/mixture
	@build/release/bench/row_mixture
	@build/release/bench/leverage
	@build/release/bench/samplers
	@scripts/bench-cluster build/release
	@scripts/bench-lme4 build/release/bin/lrvb
	@PYTHONPATH=build/release/python scripts/bench-python

# The same models by lme4 and glmmTMB: estimates and standard errors beside means and sds. Installs R.
compare-lme4: build/release/build.ninja
	@scripts/setup packages-r
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_program
	@scripts/compare-lme4 build/release/bin/lrvb

# "Can be relied on", put to the test: exact means and sds against an independent Gibbs sampler.
checks: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target checks
	@build/release/bench/checks

# Small hierarchical regressions and their checks against an independent reference (numpy, scipy).
checked-fits: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target lrvb_program
	@bench/checked_fits/study.py build/release/bin/lrvb

# "ok", put to the test: forty mixtures against runs of ten times the draws.
honesty: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target honesty
	@build/release/bench/honesty

# Whether the starts of mixtures reach the best optimum that 200 starts of a plain ascent find.
optima: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target optima
	@build/release/bench/optima

# Simulation-based calibration of the no-U-turn sampler, and of hierarchical regressions: ranks of true values among
# draws are uniform.
sbc: build/release/build.ninja
	@cmake --build --parallel $(shell nproc) --preset release --target sbc field_sbc
	@build/release/bench/sbc
	@build/release/bench/field_sbc

# A project outside that takes the sources in by add_subdirectory: compiles the whole library once more.
consumer: build/release/build.ninja
	@cmake --build --preset release --target consumer

asan: build/asan/build.ninja with-python-asan with-mpi-asan
	@cmake --build --parallel $(shell nproc) --preset asan
	@ctest --preset asan

# A minute a target, from the kept corpus. What is new goes to build/fuzz/new, and what breaks a promise ends the run.
FUZZ_SECONDS = 60
FUZZ_OPTIONS = -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=2 -print_final_stats=1

# Models are parsed and walked with a small stack (kB): no depth may cost more.
FUZZ_STACK = 8192
fuzz-bugs: FUZZ_STACK = 256

fuzz: fuzz-bugs fuzz-csv fuzz-fit fuzz-formula fuzz-npy

fuzz-%: build/fuzz/build.ninja
	@cmake --build --parallel $(shell nproc) --preset fuzz --target fuzz_$*
	@mkdir -p build/fuzz/new/$*
	@ulimit -s $(FUZZ_STACK) && build/fuzz/fuzz/fuzz_$* $(FUZZ_OPTIONS) -artifact_prefix=build/fuzz/$*- build/fuzz/new/$* fuzz/corpus/$*

# Keeps of what is new the files that reach further than the corpus.
fuzz-keep-%: build/fuzz/build.ninja
	@cmake --build --parallel $(shell nproc) --preset fuzz --target fuzz_$*
	@build/fuzz/fuzz/fuzz_$* -merge=1 fuzz/corpus/$* build/fuzz/new/$*

tidy: build/tidy/build.ninja
	@cmake --build --parallel $(shell nproc) --preset tidy

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')

format: setup
	@clang-format -i $(SOURCES)

format-check: setup
	@clang-format --dry-run -Werror $(SOURCES)

clean:
	@rm -rf build
