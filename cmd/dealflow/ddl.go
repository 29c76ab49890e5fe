package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/internal/ddl"
	"dealflow/internal/export"
	"dealflow/load/iceberg"
	"dealflow/schemas/lake"
)

// ddlOptions are the flags of ddl.
type ddlOptions struct {
	tables  string
	load    string
	iceberg bool
}

func newDDL(a *app) *cobra.Command {
	var o ddlOptions
	cmd := &cobra.Command{
		Use:   "ddl DIALECT",
		Short: "Print the SQL with which a warehouse keeps the tables",
		Long: fmt.Sprintf(`ddl prints SQL statements for a warehouse: %s.

Without a flag they create, for each table: the table with the present rows, with comments and its key;
<table>_history, which has every version that exports have brought; <table>_inserts, into which the
files of an export are loaded first; and the view <table>_versions, which has the interval of each version:
the table as of t are its rows WHERE valid_from <= t AND (valid_to IS NULL OR valid_to > t). For the
deals of each feed kind there are <kind>_changes and <kind>_deletes.

With --load they load one export, whose manifest is named. With --iceberg they register the Iceberg
tables of the lake, which "dealflow iceberg on" publishes; not all dialects can.`, strings.Join(ddl.Dialects(), ", ")),
		Example: `  dealflow ddl snowflake
  dealflow ddl postgres --tables bond_priced_deals,bond_priced_banks | psql
  dealflow ddl postgres --load /data/export/manifests/00000000000000000041-00000000000000000042.json | psql
  dealflow ddl trino --iceberg --lake s3://bucket/deals`,
		Args:      args(cobra.ExactArgs(1)),
		ValidArgs: ddl.Dialects(),
		RunE:      func(cmd *cobra.Command, args []string) error { return runDDL(cmd.Context(), a, o, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.tables, "tables", "", "tables to create, comma-separated, such as bond_priced_deals (default: all seventeen)")
	annotate(flags.Lookup("tables"), listFlag)
	flags.StringVar(&o.load, "load", "", "print the load of the export with this manifest, a file or s3://bucket/prefix/manifests/….json")
	flags.BoolVar(&o.iceberg, "iceberg", false, "print the registration of the lake's Iceberg tables")
	return cmd
}

func runDDL(ctx context.Context, a *app, o ddlOptions, dialect string) (err error) {
	if !slices.Contains(ddl.Dialects(), dialect) {
		return usagef("dialect %q: want %s", dialect, strings.Join(ddl.Dialects(), ", "))
	}
	switch {
	case o.load != "" && o.iceberg:
		return usagef("want one of --load and --iceberg")
	case o.tables != "" && (o.load != "" || o.iceberg):
		return usagef("--tables is for statements that create tables: a load has those of its manifest, and --iceberg all that are published")
	}
	var text string
	switch {
	case o.load != "":
		text, err = a.loadStatements(ctx, dialect, o.load)
	case o.iceberg:
		text, err = a.icebergStatements(ctx, dialect)
	default:
		var tables []*lake.Table
		if tables, err = tablesOf(o.tables); err != nil {
			return usagef("--tables: %w", err)
		}
		text, err = ddl.Tables(dialect, tables)
	}
	if err == nil {
		_, err = fmt.Fprint(a.Stdout, text)
	}
	return err
}

// tablesOf returns the tables that a flag names, in their usual order; all for an empty one.
func tablesOf(text string) ([]*lake.Table, error) {
	names := entriesOf(text)
	for _, name := range names {
		if _, ok := lake.TableByName(name); !ok {
			return nil, fmt.Errorf("there is no table %q: want names such as bond_priced_deals", name)
		}
	}
	return slices.DeleteFunc(lake.Tables(), func(t *lake.Table) bool { return names != nil && !slices.Contains(names, t.Name) }), nil
}

// loadStatements returns the statements that load the export with a manifest.
func (a *app) loadStatements(ctx context.Context, dialect, manifest string) (string, error) {
	i := strings.LastIndexByte(manifest, '/') + 1
	folder, name := manifest[:i], manifest[i:]
	target, ok := strings.CutSuffix(folder, "manifests/")
	if !ok || target != "" && !strings.HasSuffix(target, "/") {
		return "", usagef("--load %s: want the manifest of an export, such as out/manifests/00000000000000000001-00000000000000000002.json", shownAddress(manifest))
	}
	s, err := a.settings.storeAt(ctx, "--load", "", cmp.Or(target, "."))
	if err != nil {
		return "", err
	}
	m, err := export.ReadManifest(ctx, s, name)
	if err != nil {
		return "", err
	}
	return ddl.Load(dialect, m, s.URL())
}

// icebergStatements returns the statements that register the lake's Iceberg tables.
func (a *app) icebergStatements(ctx context.Context, dialect string) (string, error) {
	l, err := a.openLake(ctx)
	if err != nil {
		return "", err
	}
	published, err := iceberg.ReadPublished(ctx, l.Store())
	if err != nil {
		return "", err
	}
	if published == nil {
		return "", errors.New("the lake publishes no Iceberg tables: run `dealflow iceberg on`")
	}
	var tables []ddl.IcebergTable
	for i := range published.Tables {
		t := &published.Tables[i]
		address := strings.TrimSuffix(published.Location, "/") + "/" + t.Metadata()
		folder := address[:strings.LastIndex(address, "/metadata/")]
		tables = append(tables, ddl.IcebergTable{Namespace: t.Namespace, Name: t.Name, Folder: folder, Metadata: address})
	}
	return ddl.Iceberg(dialect, tables)
}
