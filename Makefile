# The commands of this repository. The work is in scripts/; this page only names it.
.DEFAULT_GOAL := help
.PHONY: help run test check bench chaos smoke fmt

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build what is missing and run the demo ensemble in the terminal
	@scripts/run

test: ## Install what the tests need and run all of them
	@scripts/test

check: ## Formatting, lints, sizes, licences, advisories, what must not be committed
	@scripts/check

bench: ## Measure, in a release build
	cargo run --release --locked --package consort-bench

chaos: ## Run the tests that break things, longer than `make test` does
	@scripts/chaos

smoke: ## Talk to a real small model on this machine
	@scripts/smoke

fmt: ## Format the sources
	cargo fmt --all
