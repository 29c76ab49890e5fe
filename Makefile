# dealflow: `make help` says what there is.
GO      ?= go
BIN     := bin/dealflow
LINT    := $(GO) tool -modfile=.ci/tools/go.mod golangci-lint

# A real S3 server for the tests, in a module of its own so that the product does not depend on it.
S3      := bin/versitygw
# Another maker's, for `make interop-full` alone.
MINIO   := bin/minio
test race soak bench bench-peers interop interop-full: export TEST_VERSITYGW := $(CURDIR)/$(S3)

# Markets of TestTruth: few here, more in .ci/run, as many as there is time for in `make soak`. Lives in `make sim`.
SEEDS   ?= 1
SOAK    ?= 10m

# Heaps of tests are small and would be collected all the time, and their memory returned to the system and asked for
# again at once. With this, tests take a fifth less processor time.
MEMORY  := GOGC=400 GODEBUG=madvdontneed=0

# Tests write and delete thousands of small files: in memory, if there are 8 GB for it, they wait less. What go builds stays on disk; so
# the tests themselves must not see GOTMPDIR, which is where their t.TempDir would be (HERE).
RAM     := $(shell df --output=avail -BG /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 + 0 >= 8 {print "/dev/shm"}')
FILES   := GOTMPDIR="$${GOTMPDIR:-$${TMPDIR:-/tmp}}" $(if $(RAM),TMPDIR=$(RAM))
HERE    := $(if $(RAM),-exec 'env -u GOTMPDIR')

# Nobody debugs the test programs, each of which has DuckDB in it: without the tables for that they are linked in half the time.
LEAN    := -vet off -ldflags '-s -w'

# Packages in which goroutines meet, and their tests that do not let them: the detector sees Go alone, not DuckDB, and
# learns nothing from one more run over other data. `make soak` leaves out nothing.
RACE      := ./extract ./internal/catalog ./internal/maintain ./internal/pull ./internal/simulation ./internal/watch/... ./load ./load/mirror ./load/store/... ./load/verify ./serve ./serve/lakesource ./serve/sim ./cmd/dealflow
RACE_SKIP := TestAnalyses TestDerivedForward TestBackfill TestChangedRows TestQuality TestAliases TestCatalog TestSnapshotMonths \
  TestSnapshotsAreHistory TestRoundTrip TestDamagedLakes TestMetamorphic TestReplay[^B] TestMaintenanceKeepsAnswers TestNobodyIsRemovedOnDoubt \
  TestFatesOfAbsentDeals TestRemovalGuard TestPartialFailure TestOldLakes TestNotPartOfTheAccount TestBrokenPages TestQuarantine$$ TestManySyncs \
  TestClock TestCompact[SW] TestSoundAfterRewriting TestTruth$$ TestTruthOnS3 TestFetchO TestContract TestRetryQuarantined TestSync[INFQ] \
  TestRunReports TestNothingNew TestLosesForGood TestYearHasNoHolds TestSameSeedSameLife \
  TestDictionariesChangeNoByte TestSameRowsSameBytes TestVerifyEveryByte TestSource/[^M] \
  TestConsistency TestCut TestVerifyLongLog TestMarginals TestFields TestEveryDocumentedField TestRequiredFields TestOptionalFields TestAllValues TestLifecycle TestQuirks \
  TestSegmentsAreDerived TestLongLog TestShortLog TestSharedDay$$ TestCompactAcrossMarkets TestLaterTables TestTakesOver TestTruthBelowNamedFolders \
  TestSoundLakes TestBankCounts TestTooOldAfterMerging TestWatchYear TestYearCompressed TestSameSeedAndInstant TestPricingDateBounds TestReadme TestScripts/[^rs]|TestScripts/(re|ru[^n]|s[^ye]|settings) TestRequests TestChains TestCommandsOnS3
SPACE     := $(subst ,, )

# What a build says of itself: the commit of its source, and when that was made. Without git it says nothing.
STAMP = -X main.releaseRevision=$$(git rev-parse HEAD 2>/dev/null)$$(test -z "$$(git status --porcelain 2>/dev/null)" || echo -dirty) \
  -X main.releaseTime=$$(git log -1 --format=%ct 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help build dist demo test race lint bench bench-peers fuzz interop interop-full generate soak sim clean FORCE

help: ## Say what there is
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## Build bin/dealflow

$(BIN): FORCE
	@$(GO) build -trimpath -ldflags "$(STAMP)" -o $(BIN) ./cmd/dealflow

dist: ## Make the files of a release in dist/ (VERSION=0.1.0): tar, deb, bill of materials, checksums
	@.ci/release/run $(VERSION)

demo: $(BIN) ## Show the whole thing: a simulated market, ten nights of runs, first answers
	@$(BIN) demo --nights 10 --seed 1 --dir demo-lake

$(S3): .ci/s3server/go.mod .ci/s3server/go.sum ## Build the S3 server that the tests run
	cd .ci/s3server && $(GO) build -trimpath -o ../../$(S3) github.com/versity/versitygw/cmd/versitygw
	@touch $(S3)

$(MINIO): .ci/s3minio/go.mod .ci/s3minio/go.sum
	cd .ci/s3minio && $(GO) build -trimpath -o ../../$(MINIO) github.com/minio/minio
	@touch $(MINIO)

# How much is tried: .ci/run has other counts.
COUNTS  := TEST_QUICK=1 TEST_SEEDS=$(SEEDS) TEST_LINKS=3 TEST_SIM_SEEDS=10 TEST_DOUBLE=10 TEST_CRAWLS=100 TEST_RACES=3 TEST_KILLS=1 TEST_NIGHTS=2 TEST_STRIDE=40

test: $(S3) ## Run the tests: unit, golden, real servers, the truth end to end
	$(COUNTS) $(FILES) $(MEMORY) $(GO) test $(TESTFLAGS) $(LEAN) $(HERE) -parallel 4 -timeout 40m ./...

race: $(S3) ## Run the tests in which goroutines meet under the race detector, with small counts
	TEST_QUICK=1 TEST_SEEDS=1 TEST_LINKS=3 TEST_SIM_SEEDS=10 TEST_DOUBLE=2 TEST_CRAWLS=50 TEST_RACES=3 TEST_KILLS=1 TEST_STRIDE=40 \
	  $(FILES) $(MEMORY) $(GO) test -race -short $(LEAN) $(HERE) -timeout 40m -skip '$(subst $(SPACE),|,$(strip $(RACE_SKIP)))' $(RACE)

lint: ## Check format, vet, linters, and that go.mod is tidy
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(LINT) run ./...

# Where the benchmarks' output goes: `make bench BENCH=docs/bench` publishes it.
BENCH   ?= bench
measure = $(GO) test -run '^$$' -timeout 0

bench bench-peers: export TEST_FULL := 1
bench: $(S3) ## Measure, and print the table of goals; with `make bench-peers` before it, the others' figures too
	@mkdir -p $(BENCH)
	$(measure) -bench . -benchmem ./transform ./serve ./serve/sim ./sql/analyses ./internal/ui ./internal/testkit/longlake ./load/iceberg > $(BENCH)/rooms.txt
	$(measure) -bench 'Floor|Run|ParquetSize|Start' -benchtime 3x ./internal/bench > $(BENCH)/whole.txt
	TEST_SIZES=1k $(measure) -bench Afar -benchtime 1x ./internal/bench > $(BENCH)/afar.txt
	TEST_NIGHTS=365 TEST_GROWTH=$(abspath $(BENCH))/growth.csv $(measure) -bench . -benchtime 1x ./internal/bench/growth > $(BENCH)/growth.txt
	$(GO) run ./internal/bench/growth/plot < $(BENCH)/growth.csv > $(BENCH)/growth.svg
	TEST_COMMITS=525000 $(measure) -bench Years -benchtime 1x ./load > $(BENCH)/years.txt
	TEST_NIGHTS=100 TEST_SYNCS=2 TEST_PAST=5250 TEST_KEEP_DAYS=35 TEST_GROWTH=$(abspath $(BENCH))/years.csv $(measure) -bench . -benchtime 1x ./internal/bench/growth >> $(BENCH)/years.txt
	$(GO) run ./internal/bench/growth/plot < $(BENCH)/years.csv > $(BENCH)/years.svg
	$(GO) run ./internal/bench/goals $(BENCH)/*.txt | tee $(BENCH)/goals.md

bench-peers: ## Measure next to other tools: dlt, DuckDB, polars, pyarrow (needs Python; they come through pip)
	@mkdir -p $(BENCH)
	.ci/peers/setup bin/peers
	TEST_SIZES=10k TEST_PYTHON=$(CURDIR)/bin/peers/bin/python $(measure) -bench 'Floor/.*/(download-gzip|flatten-and-write)|Run/.*/first-night/cores=2|Peers' -benchtime 3x ./internal/bench > $(BENCH)/peers.txt
	$(GO) run ./internal/bench/goals $(BENCH)/*.txt | tee $(BENCH)/goals.md

fuzz: ## Run each fuzz target for a while (FUZZTIME=1m)
	.ci/fuzz

interop: $(BIN) $(S3) ## Check with other programs, a small case of each: a generated client, DuckDB, pandas, polars, chDB, pyiceberg, a notebook, Chromium (needs Python)
	.ci/interop/run

interop-full: $(BIN) $(S3) $(MINIO) ## The same with all their cases, the S3 tests on MinIO and S3Proxy, Spark, Trino, dbt, warehouses, and the recipes of docs/ops (needs Java 17 and Maven, too)
	.ci/interop/run full

generate: ## Rewrite golden files (look at the difference before you commit it)
	$(GO) test ./transform ./transform/text ./schemas/lake ./internal/chart ./internal/logs ./internal/metrics -update
	$(GO) test ./sql -run TestLayout -update
	$(GO) test ./serve -run TestExamples -update
	$(GO) test ./cmd/dealflow -run "TestReadme|TestCLIDoc|TestSettingsDoc" -update

soak: $(S3) ## Try ever more seeds, races and kills; the truth for SOAK=10m at the end
	TEST_SEEDS=1 $(GO) test -race -short -timeout 0 ./...
	TEST_FULL=1 TEST_STRIDE=7 $(GO) test -count=1 -timeout 0 ./...
	TEST_SIM_SEEDS=20000 TEST_DOUBLE=10000 TEST_CRAWLS=10000 TEST_DAYS=365 TEST_EVERY=1 TEST_FULL=1 $(GO) test -count=1 -failfast -timeout 0 ./internal/simulation
	TEST_UPKEEP=1 $(GO) test -count=1 -timeout 0 -run TestUpkeepKeepsPages ./internal/ui
	TEST_FULL=1 $(GO) test -count=1 -timeout 0 -run 'TestKilledRun|TestStoreFaults|Stumbles' ./internal/pull ./internal/maintain
	TEST_LINKS=5000 $(GO) test -count=1 -timeout 0 -run TestUpdatedSinceIsExact ./serve
	TEST_RACES=340 $(GO) test -count=1 -timeout 0 -run TestRaces ./internal/pull
	TEST_LOOKAHEAD=8 TEST_ANALYSES=16 TEST_NIGHTS=30 $(GO) test -count=1 -timeout 0 -run 'TestNoLookAhead|TestAnalyses|TestRoundTrip' ./sql/... ./serve/lakesource
	TEST_WATCH_DAYS=365 $(GO) test -count=1 -timeout 0 -run TestWatchYear ./cmd/dealflow
	TEST_KILLS=500 $(GO) test -count=1 -timeout 0 -run TestKilled ./cmd/dealflow
	$(MAKE) fuzz FUZZTIME=100000x
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 0 ./...
	TEST_SEEDS=60000 timeout $(SOAK) $(GO) test -run TestTruth -failfast -timeout 0 ./internal/pull; test $$? -eq 124

sim: ## Simulate whole lives of a lake, SEEDS of them (SEEDS=20000)
	TEST_SIM_SEEDS=$(SEEDS) $(GO) test -count=1 -timeout 0 -failfast -run TestSeeds ./internal/simulation

clean: ## Remove what building, the demo and the tutorial have left
	rm -rf bin demo-lake try-lake report.html
