package deps

import (
	_ "github.com/apache/arrow/go/v17/arrow/array"
	_ "github.com/apache/arrow/go/v17/arrow/memory"
	_ "github.com/apache/arrow/go/v17/parquet/pqarrow"
	_ "github.com/go-json-experiment/json/jsontext"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/uuid"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/marcboeker/go-duckdb/v2"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/goleak"
	_ "golang.org/x/oauth2"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sync/semaphore"
	_ "golang.org/x/term"
	_ "golang.org/x/time/rate"
	_ "golang.org/x/tools/txtar"
	_ "gopkg.in/yaml.v3"
)
