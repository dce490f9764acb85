# Orrery. `make run` serves, `make test` proves it; both first install what is missing.
# CMakeLists.txt has the build itself.

BUILD  := build
CMAKE  := cmake -G Ninja -DCMAKE_C_COMPILER=gcc
NINJA  := ninja --quiet
ARM64  := -DCMAKE_TOOLCHAIN_FILE=tools/arm64.cmake -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O2 -DORRERY_ROCKSDB=OFF -DORRERY_POSTGRES=OFF
T      ?=
PREFIX ?= /usr/local
GROUPS := build test check bench arm64 packages

.PHONY: all run install test check bench soak fuzz test-sdks test-citus test-arm64 deb image tarball tarball-arm64 test-packages run-cluster format clean build asan tsan $(GROUPS:%=deps-%)

all: build

# Debian packages by what they are for; tools/install-deps has the lists.
$(GROUPS:%=deps-%): deps-%:
	@tools/install-deps $(sort build $*)

build: deps-build
	@$(CMAKE) -S . -B $(BUILD) > /dev/null && $(NINJA) -C $(BUILD)

asan: deps-test
	@$(CMAKE) -S . -B $(BUILD)/asan -DCMAKE_BUILD_TYPE=Debug -DORRERY_SANITIZE=address,undefined > /dev/null && $(NINJA) -C $(BUILD)/asan

tsan: deps-test
	@$(CMAKE) -S . -B $(BUILD)/tsan -DCMAKE_BUILD_TYPE=Debug -DORRERY_SANITIZE=thread -DORRERY_ROCKSDB=OFF > /dev/null && $(NINJA) -C $(BUILD)/tsan $$(tools/run-tests --threaded)

run: build
	@$(BUILD)/orrery serve --data data

# Three servers over one PostgreSQL with a standby, in a scratch directory.
run-cluster: deps-test build
	@tools/cluster

# The server, the client library, its header and its manual page: make install PREFIX=/usr DESTDIR=/tmp/package
install: build
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

# make test T=json runs what has "json" in its name.
test: deps-test build asan tsan
	@tools/install-deps browser || echo "no Chromium: the explorer is not tested in a browser"
	@tools/run-tests $(T)

test-sdks: deps-test build
	@tools/test-sdks

# The store in PostgreSQL over a Citus cluster, which is there: test/citus/README.md.
test-citus:
	@CITUS='$(CITUS)' tools/test-citus --ask
	@$(MAKE) --no-print-directory deps-test asan
	@CITUS='$(CITUS)' CITUS_NODE='$(CITUS_NODE)' tools/test-citus $(T)

# The build without RocksDB for another processor, which QEMU stands in for.
test-arm64: deps-arm64
	@cmake -G Ninja $(ARM64) -S . -B $(BUILD)/arm64 > /dev/null && $(NINJA) -C $(BUILD)/arm64
	@tools/run-tests --arm64 $(T)

# packaging/README.md: Debian packages, an OCI image, an archive with everything it needs. They go below build/.
deb: deps-packages
	@packaging/build-deb
	@lintian --fail-on error,warning $(BUILD)/deb/*.changes

image: build
	@packaging/build-image

tarball: build
	@packaging/build-tarball

tarball-arm64: deps-arm64
	@cmake -G Ninja $(ARM64) -S . -B $(BUILD)/arm64 > /dev/null && $(NINJA) -C $(BUILD)/arm64 orrery
	@packaging/build-tarball --build $(BUILD)/arm64 --architecture arm64

# As root: they are installed in a fresh Debian 12, started, upgraded and purged.
test-packages: deb image tarball
	@packaging/test $(T)

soak: deps-test build asan tsan
	@tools/soak

# Random queries against the service's own query compiler, where it is at hand: test/query/engine/fuzz --help.
fuzz: deps-test build
	@test/query/engine/fuzz

check: deps-check build
	@tools/check

bench: deps-bench build
	@tools/bench/run

format: deps-check
	@git ls-files --cached --others --exclude-standard '*.c' '*.h' | xargs clang-format-14 -i

clean:
	rm -rf $(BUILD)
