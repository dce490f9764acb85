# Orrery. `make run` serves, `make test` proves it; both first install what is missing.
# CMakeLists.txt has the build itself.

BUILD := build
CMAKE := cmake -G Ninja -DCMAKE_C_COMPILER=$(or $(CC_NAME),gcc)
T     ?=

.PHONY: all run test check bench soak test-sdks fuzz format clean deps build asan tsan

all: build

deps:
	@tools/install-deps $(DEPS)

build: DEPS = build
build: deps
	@$(CMAKE) -S . -B $(BUILD) > /dev/null && ninja -C $(BUILD) --quiet

asan: DEPS = build test
asan: deps
	@$(CMAKE) -S . -B $(BUILD)/asan -DCMAKE_BUILD_TYPE=Debug -DORRERY_SANITIZE=address,undefined > /dev/null && ninja -C $(BUILD)/asan --quiet

tsan: DEPS = build test
tsan: deps
	@$(CMAKE) -S . -B $(BUILD)/tsan -DCMAKE_BUILD_TYPE=Debug -DORRERY_SANITIZE=thread -DORRERY_ROCKSDB=OFF > /dev/null && ninja -C $(BUILD)/tsan --quiet

run: build
	@$(BUILD)/orrery serve --data data

# make test T=json runs what has "json" in its name.
test: build asan tsan
	@tools/run-tests $(T)

test-sdks: build
	@tools/test-sdks

soak: build asan tsan
	@tools/soak

check: DEPS = build check
check: build
	@tools/check

bench: DEPS = build bench
bench: build
	@tools/bench/run

format: DEPS = build check
format: deps
	@git ls-files --cached --others --exclude-standard '*.c' '*.h' | xargs clang-format-14 -i

clean:
	rm -rf $(BUILD)
