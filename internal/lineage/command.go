package lineage

import (
	"net/url"
	"path"
	"strings"
	"time"

	"dealflow/schemas/lake"
)

// Command is one execution of a command on a lake.
type Command struct {
	RunID     string // UUID; that of the commit, if the command made one
	Name      string // such as run
	Namespace string // of its job
	Lake      string // URL of the lake's root
	API       string // base URL of the API; "" for a command that does not use it
	Version   string // of this program
	StartedAt time.Time
}

// Ending is how a command ended.
type Ending struct {
	Type    EventType // not Start
	EndedAt time.Time
	Error   string         // "" if it succeeded
	Feeds   []lake.FeedRun // that it pulled, or tried to
	Commit  *lake.Commit   // that it made, with the files that it added; nil for none
}

// descriptions say what each command does.
var descriptions = map[string]string{
	"run":        "Pulls complete snapshots of the lists of a deal API into a lake, as one commit.",
	"sync":       "Pulls what changed in the lists of a deal API since the last pull, into history only.",
	"quarantine": "Requests again the deals that could not be read, by id.",
	"compact":    "Merges small history files of a lake into larger ones.",
	"expire":     "Drops old snapshots of a lake.",
	"replay":     "Flattens the stored payloads of a lake again under the current schema.",
	"verify":     "Proves that a lake is complete and undamaged.",
}

// Begun returns the event that says that a command began. Its data sets are in the event of its end.
func (c *Command) Begun() ([]byte, error) {
	e := c.event(Start, c.StartedAt)
	return e.encode()
}

// Ended returns the event that says how a command ended.
func (c *Command) Ended(end Ending) ([]byte, error) {
	e := c.event(end.Type, end.EndedAt)
	if end.Error != "" {
		e.Run.Facets["errorMessage"] = facet(e.Producer, "1-0-1", "ErrorMessageRunFacet", map[string]any{"message": end.Error, "programmingLanguage": "Go"})
	}
	for i := range end.Feeds {
		e.Inputs = append(e.Inputs, c.input(e.Producer, &end.Feeds[i]))
	}
	if end.Commit != nil {
		e.Outputs = c.outputs(e.Producer, end.Commit)
		if day, err := time.Parse(time.DateOnly, end.Commit.SnapshotDate); err == nil {
			e.Run.Facets["nominalTime"] = facet(e.Producer, "1-0-1", "NominalTimeRunFacet", map[string]any{"nominalStartTime": day, "nominalEndTime": day.AddDate(0, 0, 1)})
		}
	}
	return e.encode()
}

func (c *Command) event(kind EventType, at time.Time) event {
	producer := "urn:dealflow:" + url.PathEscape(c.Version)
	return event{
		EventType: kind, EventTime: at.UTC(), Producer: producer, SchemaURL: specification,
		Run: run{c.RunID, facetMap{
			"processing_engine": facet(producer, "1-1-1", "ProcessingEngineRunFacet", map[string]any{"name": "dealflow", "version": c.Version}),
		}},
		Job: job{c.Namespace, "dealflow." + c.Name, facetMap{
			"jobType":       facet(producer, "2-0-4", "JobTypeJobFacet", map[string]any{"processingType": "BATCH", "integration": "DEALFLOW", "jobType": "COMMAND"}),
			"documentation": facet(producer, "1-1-0", "DocumentationJobFacet", map[string]any{"description": descriptions[c.Name]}),
		}},
	}
}

// input returns a list of the API as a data set, with what was read of it.
func (c *Command) input(producer string, f *lake.FeedRun) dataset {
	d := dataset{Namespace: "api", Name: strings.TrimPrefix(f.Feed.Path(), "/"), Facets: facetMap{}}
	base := f.BaseURL
	if base == "" {
		base = c.API
	}
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		d.Namespace, d.Name = u.Scheme+"://"+u.Host, strings.TrimPrefix(path.Join(u.Path, f.Feed.Path()), "/")
	}
	// A sync counts the deals that changed; a run counts all of its snapshot.
	rows := max(f.Deals, f.Added+f.Changed+f.Reappeared+f.Unchanged)
	d.InputFacets = facetMap{
		"inputStatistics": facet(producer, "1-0-0", "InputStatisticsInputDatasetFacet", map[string]any{"rowCount": rows, "size": f.Bytes}),
	}
	return d
}

// outputs returns the tables to which a commit added files, with what it added.
func (c *Command) outputs(producer string, commit *lake.Commit) (all []dataset) {
	type sum struct{ rows, bytes, files int64 }
	sums := map[string]*sum{}
	var order []string
	for i := range commit.Add {
		f := &commit.Add[i]
		if sums[f.Table] == nil {
			sums[f.Table] = new(sum)
			order = append(order, f.Table)
		}
		s := sums[f.Table]
		s.rows, s.bytes, s.files = s.rows+f.Rows, s.bytes+f.Bytes, s.files+1
	}
	for _, table := range order {
		d := c.table(table)
		s := sums[table]
		d.Facets["version"] = facet(producer, "1-0-1", "DatasetVersionDatasetFacet", map[string]any{"datasetVersion": commit.KnownAt.String()})
		d.OutputFacets = facetMap{
			"outputStatistics": facet(producer, "1-0-2", "OutputStatisticsOutputDatasetFacet", map[string]any{"rowCount": s.rows, "size": s.bytes, "fileCount": s.files}),
		}
		if columns := lake.TableColumns(table); len(columns) > 0 {
			fields := make([]map[string]any, len(columns))
			for i := range columns {
				fields[i] = map[string]any{"name": columns[i].Name, "type": columns[i].Type.SQL(), "description": columns[i].Doc, "ordinal_position": i + 1}
			}
			d.Facets["schema"] = facet(producer, "1-2-0", "SchemaDatasetFacet", map[string]any{"fields": fields})
		}
		all = append(all, d)
	}
	return all
}

// table returns a table of the lake as a data set, by the naming rules of the specification: of a bucket s3://bucket and the
// prefix with the table, of a folder "file" and its path with the table.
func (c *Command) table(name string) dataset {
	d := dataset{Namespace: "file", Name: path.Join(strings.TrimPrefix(c.Lake, "file://"), name), Facets: facetMap{}}
	if scheme, rest, ok := strings.Cut(c.Lake, "://"); ok && scheme != "file" {
		bucket, prefix, _ := strings.Cut(rest, "/")
		d.Namespace, d.Name = scheme+"://"+bucket, path.Join(prefix, name)
	}
	return d
}
