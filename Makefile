# The commands of this repository. The work is in scripts/; this page only names it.
.DEFAULT_GOAL := help
.PHONY: help run install uninstall dist test check bench chaos smoke screenshots fmt

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build what is missing and serve the demo with the web UI on port 7329
	@scripts/run

install: ## Build consort with the web UI and install it below PREFIX: as root /usr/local, else ~/.local
	@scripts/install

uninstall: ## Take away what `make install` installed
	@scripts/install --remove

dist: ## Pack a release into target/dist, static where the musl target can be had; CONSORT_BIN packs a built binary
	@scripts/dist

test: ## Install what the tests need and run all of them
	@scripts/test

check: ## Formatting, lints, sizes, licences, advisories, what must not be committed
	@scripts/check

bench: ## Measure, in a release build; `make bench -- --quick --check` measures less, and fails on a missed target
	cargo build --release --locked --package consort-cli --package consort-bench
	cargo run --release --locked --package consort-bench -- $(filter --%,$(MAKECMDGOALS)) $(PARTS)

# What follows `--` on the command line are options of the command, and nothing to make.
--%:
	@:

chaos: ## Run the tests that break things, longer than `make test` does
	@scripts/chaos

smoke: ## Talk to a real small model on this machine
	@scripts/smoke

screenshots: ## Draw every page of the web UI, light and dark, wide and narrow, into target/screenshots
	@scripts/setup test
	@scripts/web build
	@cargo build --workspace --locked --bin consort --examples
	@scripts/web screenshots

fmt: ## Format the sources
	cargo fmt --all
