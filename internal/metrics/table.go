package metrics

import "github.com/prometheus/client_golang/prometheus"

// metric is a metric of a lake. All are gauges: a value is what was true when it was read.
type metric struct {
	name, help string
	labels     []string // after lake
	ofLake     func(*Health) float64
	ofFeed     func(*Feed) float64
	ofCommand  func(*Ending) float64

	desc *prometheus.Desc
}

// table has all metrics of a lake.
var table = []metric{
	{name: "dealflow_lake_readable", help: "1 if the lake could be read, else 0: then the other metrics of the lake are of the last time that it could."},
	{name: "dealflow_lake_state", help: "1 for the state that status says, else 0.", labels: []string{"state"}},
	{name: "dealflow_lake_findings", help: "Findings of status, by kind.", labels: []string{"kind", "severity"}},
	{name: "dealflow_lake_max_age_seconds", help: "Age from which a feed's snapshot is a problem; 0: ages are not judged.",
		ofLake: func(h *Health) float64 { return h.MaxAge.Seconds() }},
	{name: "dealflow_lake_next_run_refused", help: "1 if the next run would be refused, else 0.",
		ofLake: func(h *Health) float64 { return boolean(h.Refused) }},
	{name: "dealflow_lake_lease_held", help: "1 if a command holds the lease, else 0.",
		ofLake: func(h *Health) float64 { return boolean(h.AtWork) }},
	{name: "dealflow_lake_attempts_waiting", help: "Attempts in the work folder of this machine that could not be put into the lake.",
		ofLake: func(h *Health) float64 { return float64(h.Waiting) }},
	{name: "dealflow_lake_last_success_timestamp_seconds", help: "known_at of the newest pull that made a commit; 0: none.",
		ofLake: func(h *Health) float64 { return seconds(h.LastSuccess) }},
	{name: "dealflow_lake_last_failure_timestamp_seconds", help: "Start of the newest attempt that failed, of any command; 0: none is recorded.",
		ofLake: func(h *Health) float64 { return seconds(h.LastFailure) }},
	{name: "dealflow_lake_last_failure_open", help: "1 if that command has not succeeded since its failure, else 0.",
		ofLake: func(h *Health) float64 { return boolean(h.FailureOpen) }},
	{name: "dealflow_lake_last_verify_timestamp_seconds", help: "Start of the newest verify; 0: none is recorded.",
		ofLake: func(h *Health) float64 { return seconds(h.LastVerify) }},
	{name: "dealflow_lake_last_verify_failed", help: "1 if the newest verify failed or found damage, else 0.",
		ofLake: func(h *Health) float64 { return boolean(h.VerifyBad) }},
	{name: "dealflow_lake_commit", help: "Number of the newest commit.",
		ofLake: func(h *Health) float64 { return float64(h.Size.Commit) }},
	{name: "dealflow_lake_catalog_commit", help: "Number of the commit that the published catalog shows; 0: no catalog can be read.",
		ofLake: func(h *Health) float64 { return float64(h.Size.CatalogCommit) }},
	{name: "dealflow_lake_files", help: "Data files of the lake.",
		ofLake: func(h *Health) float64 { return float64(h.Size.Files) }},
	{name: "dealflow_lake_bytes", help: "Size of the data files of the lake.",
		ofLake: func(h *Health) float64 { return float64(h.Size.Bytes) }},
	{name: "dealflow_lake_older_schema_files", help: "Data files of an older schema, which replay writes again.",
		ofLake: func(h *Health) float64 { return float64(h.Size.OlderFiles) }},

	{name: "dealflow_night_timestamp_seconds", help: "known_at of the newest run that made a commit; 0: none.",
		ofLake: func(h *Health) float64 { return seconds(h.Night.KnownAt) }},
	{name: "dealflow_night_duration_seconds", help: "Time of that run from its start to its commit.",
		ofLake: func(h *Health) float64 { return h.Night.Seconds }},
	{name: "dealflow_night_requests", help: "Requests of that run to the API, for its feeds.",
		ofLake: func(h *Health) float64 { return float64(h.Night.Requests) }},
	{name: "dealflow_night_received_bytes", help: "Size of the answers to that run, as sent over the network.",
		ofLake: func(h *Health) float64 { return float64(h.Night.BytesReceived) }},
	{name: "dealflow_night_added_bytes", help: "Size of the files of that run that are still part of the lake.",
		ofLake: func(h *Health) float64 { return float64(h.Night.BytesAdded) }},
	{name: "dealflow_night_added_files", help: "Files of that run that are still part of the lake.",
		ofLake: func(h *Health) float64 { return float64(h.Night.FilesAdded) }},

	{name: "dealflow_feed_snapshot_timestamp_seconds", help: "known_at of the feed's newest complete snapshot; 0: none.",
		ofFeed: func(f *Feed) float64 { return seconds(f.SnapshotAt) }},
	{name: "dealflow_feed_max_age_seconds", help: "Age from which the feed's newest snapshot is a problem; 0: its age is not judged.",
		ofFeed: func(f *Feed) float64 { return f.MaxAge.Seconds() }},
	{name: "dealflow_feed_deals", help: "Deals in the feed's newest complete snapshot.",
		ofFeed: func(f *Feed) float64 { return float64(f.Deals) }},
	{name: "dealflow_feed_held", help: "1 if the removal guard holds the feed, else 0.",
		ofFeed: func(f *Feed) float64 { return boolean(f.Held) }},
	{name: "dealflow_feed_failed", help: "1 if the last pull of the feed failed, else 0.",
		ofFeed: func(f *Feed) float64 { return boolean(f.Failed) }},
	{name: "dealflow_feed_quarantined_records", help: "Records of the last pull of the feed that could not be read.",
		ofFeed: func(f *Feed) float64 { return float64(f.Quarantined) }},
	{name: "dealflow_feed_drift_values", help: "Values of the last pull of the feed that are other than the API document says.",
		ofFeed: func(f *Feed) float64 { return float64(f.Drift) }},
	{name: "dealflow_feed_unproved_deals", help: "Deals that the feed's list lacks, and that are kept without evidence that they are gone.",
		ofFeed: func(f *Feed) float64 { return float64(f.Unproved) }},

	{name: "dealflow_command_success_timestamp_seconds", help: "End of the command's newest success, by its clock or as the lake knows it.", labels: []string{"command"}},
	{name: "dealflow_command_start_timestamp_seconds", help: "Start of the command, by this machine's clock.",
		ofCommand: func(e *Ending) float64 { return seconds(e.StartedAt) }},
	{name: "dealflow_command_end_timestamp_seconds", help: "End of the command, by this machine's clock.",
		ofCommand: func(e *Ending) float64 { return seconds(e.EndedAt) }},
	{name: "dealflow_command_duration_seconds", help: "Time from the command's start to its end.",
		ofCommand: func(e *Ending) float64 { return e.EndedAt.Sub(e.StartedAt).Seconds() }},
	{name: "dealflow_command_exit_code", help: "Exit code of the command.",
		ofCommand: func(e *Ending) float64 { return float64(e.ExitCode) }},
	{name: "dealflow_command_requests", help: "Requests of the command to the API, for its feeds.",
		ofCommand: func(e *Ending) float64 { return float64(e.Requests) }},
	{name: "dealflow_command_warnings", help: "Warnings of the command's result.",
		ofCommand: func(e *Ending) float64 { return float64(e.Warnings) }},
}

var lakeReadable, lakeState, lakeFindings, commandSuccess *metric

func init() {
	special := map[string]**metric{
		"dealflow_lake_readable": &lakeReadable, "dealflow_lake_state": &lakeState, "dealflow_lake_findings": &lakeFindings,
		"dealflow_command_success_timestamp_seconds": &commandSuccess,
	}
	for i := range table {
		m := &table[i]
		switch {
		case m.ofFeed != nil:
			m.labels = []string{"feed"}
		case m.ofCommand != nil:
			m.labels = []string{"command"}
		}
		m.desc = prometheus.NewDesc(m.name, m.help, append([]string{"lake"}, m.labels...), nil)
		if place := special[m.name]; place != nil {
			*place = m
		}
	}
}

// Description is a metric for readers of the documentation.
type Description struct {
	Name, Help string
	Labels     []string
}

// Describe returns all metrics of a lake.
func Describe() []Description {
	all := make([]Description, len(table))
	for i := range table {
		all[i] = Description{table[i].name, table[i].help, append([]string{"lake"}, table[i].labels...)}
	}
	return all
}
