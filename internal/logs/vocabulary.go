package logs

// CommandFailed is the name of the last line of a command that failed.
const CommandFailed = "command failed"

// Warning is the name of a warning of the result, whose text the runbook lists.
const Warning = "warning"

// Word is a line that a command may print on stderr.
type Word struct {
	Name    string   // the field msg
	Fields  []string // besides time, level and msg; a line may lack some
	Meaning string
}

// Vocabulary has all lines, by subject.
var Vocabulary = []Word{
	// Any command.
	{CommandFailed, []string{"error", "exit_code"}, "the error that ended the command"},
	{Warning, []string{"detail"}, "a warning of the result, which `--json` has in `warnings`"},
	{"unknown variable", []string{"variable", "near"}, "no setting has this variable; near is the one that is probably meant"},
	{"secret file is open to others", []string{"secret", "path", "mode"}, "other users of the machine can open a file with a secret"},
	{"settings file written", []string{"path"}, "`init` is done"},
	{"the work folder could not be removed", []string{"error"}, "unfinished files are left in the folder of `--work-dir`"},
	{"the work folder could not be created", []string{"error"}, "name a folder with free space with `--work-dir`"},
	{"the metrics file could not be read or written", []string{"path", "error"}, "the file of `--metrics-file`; the command is not concerned"},
	{"an event of OpenLineage was not sent", []string{"event", "error"}, "from `--openlineage`; the command is not concerned"},
	{"a hook failed", []string{"hook", "error"}, "from `--on-success` or `--on-failure`; the command is not concerned"},
	{"folders of dead processes could not be removed", []string{"error"}, "they take space in the folder of `--work-dir`"},

	// Attempts of commands, which are recorded in the lake.
	{"no attempt can be put now", []string{"error"}, "the lake cannot be written, or there is none yet"},
	{"earlier attempts still wait in the work folder", []string{"error"}, "they could not be put; the next start tries again"},
	{"attempts that were killed could not be looked for", []string{"error"}, "the next start looks again"},
	{"the start of this attempt was not recorded in the lake", []string{"error"}, "its end says the same"},
	{"this attempt was not recorded in the lake; it waits in the work folder until the next start", []string{"error"}, "the command is not concerned"},
	{"this attempt was not recorded in the work folder either", []string{"error"}, "only this line and the exit code say what became of it"},
	{"a kill of this command could not be told by the next start", []string{"error"}, "its folder in `--work-dir` cannot be written"},
	{"a command that was killed could not be recorded", []string{"command", "run", "error"}, "`runs` will lack it"},
	{"an earlier command was killed", []string{"command", "run", "started_at", "owner"}, "it began, and its process ended without a word"},
	{"attempts that made no commit are not listed", []string{"error"}, "`runs` shows the commits alone"},
	{"the object of a commit is lost", []string{"commit"}, "what it added and removed is not known; run `dealflow verify`"},

	// Pulls.
	{"progress", []string{"feed", "phase", "deals", "pages", "deals_per_second", "eta_seconds"}, "each 30 seconds of a pull, for each feed that is being read; eta_seconds only where the number of deals is known from the last snapshot"},
	{"waiting", []string{"feed", "phase", "url", "key", "seconds", "wait", "reason"}, "a request waits: the server asks for it, after a failure, or to keep to the rate"},
	{"feed done", []string{"feed", "outcome", "deals", "new", "changed", "removed", "pages", "bytes", "error"}, "a feed of a pull is done"},
	{"drift", []string{"feed", "kind", "pointer", "count", "example"}, "data that the schema does not expect"},
	{"more drift", []string{"feed", "count"}, "kinds of drift that are not printed"},
	{"commit", []string{"commit", "lake", "known_at", "outcome", "deals", "new", "changed", "removed", "back", "unchanged", "files", "bytes", "files_removed", "bytes_removed", "seconds"}, "a commit is made"},
	{"nothing new", []string{"lake", "seconds"}, "nothing changed, so there is no commit"},

	// Requests, to the API or to the lake's store.
	{"request failed", []string{"feed", "url", "op", "key", "attempt", "error", "path", "error_id"}, "an attempt of a request failed, and it is repeated; from `serve`: an error of the server"},
	{"request is repeated at once", []string{"feed", "url", "error"}, "the token or the connection had ended, which is expected"},
	{"page with broken records is requested again", []string{"feed", "url", "broken"}, "records of a page are no JSON or no UTF-8, perhaps damaged on the way"},
	{"records that cannot be read are requested again", []string{"feed", "deals"}, "by id, because they may have been damaged on the way"},
	{"records that cannot be read could not be requested again, and go into the quarantine", []string{"feed", "error"}, "a request by id failed"},
	{"lowering the request rate", []string{"feed", "requests_per_second"}, "the server asks for fewer requests"},
	{"page", []string{"feed", "url", "records", "bytes"}, "a page was read"},
	{"got a token", []string{"expires"}, "the API issued a token"},
	{"the server does not accept pageSize; continuing without it", []string{"feed", "url"}, "pages have the server's size"},
	{"the server refused its own cursor; reading again from the start", []string{"feed", "error"}, "a cursor has ended"},

	// What a pull finds.
	{"feed read", []string{"feed", "phase", "deals", "pages", "sweeps", "requests", "bytes"}, "a list is read completely"},
	{"another round", []string{"feed", "round", "fresh", "kept"}, "the list changed while it was read"},
	{"the list is not sorted by update, so its updatedSince links are not used", []string{"feed"}, "syncs will read the list completely"},
	{"a deal without evidence was asked for again, and the request failed", []string{"feed", "deal", "error"}, "the deal is kept"},
	{"the list shows a deal, but the API says otherwise by id", []string{"feed", "list", "deal", "answer"}, "the deal is kept"},
	{"feed is not part of the account", []string{"feed", "error"}, "the API refuses the feed, as always before"},
	{"the API no longer returns a deal in quarantine; the next run decides whether it was removed", []string{"feed", "deal", "answer"}, "from `quarantine retry`"},

	// Commands at the same time.
	{"another command is at work; waiting for its lease", []string{"command", "owner", "run", "at_most"}, "a run waits for a sync or maintenance"},
	{"another run holds the lease; continuing at the same time", []string{"owner", "run", "command"}, "safe: only one of them gets the next commit"},
	{"another run committed first; deciding again on its state", []string{"error"}, "the pull makes its decisions again, and commits after it"},
	{"another run committed first; trying again on its state", []string{"error"}, "the maintenance is planned again"},
	{"the lease was not renewed; the run continues", []string{"error"}, "others may begin at the same time, which is safe"},
	{"the store does not support all operations of a lake", []string{"error"}, "`dealflow doctor` says what follows"},
	{"rows of the last snapshot were taken over", []string{"feed", "deals"}, "deals that have not changed, and were not flattened again"},
	{"the last snapshot cannot be read: all deals are flattened again", []string{"feed", "error", "next"}, "the run is as right as without it, and slower; the files of that snapshot may be damaged"},
	{"the quality checks could not be run", []string{"error"}, "before the commit: it was accepted, or none of them could have held it"},
	{"the hold was not remembered", []string{"feed", "error"}, "nothing was committed; the next run decides on the feed as if it had not been held"},
	{"a step after the commit failed", []string{"step", "error"}, "the commit is valid; the step says what to run"},

	// The catalog and readers.
	{"files are not read as aliases", []string{"files"}, "from `catalog`: the folder of aliases has files with other names than those of aliases, perhaps misspelt"},
	{"catalog published", []string{"catalog", "commit"}, "`catalog` is done"},
	{"the latest versions are read again", []string{"why"}, "after the commit; what the run had of them in its work folder could not be read back"},
	{"the catalog is built again", []string{"why"}, "that of this commit could not be finished"},
	{"the catalog is built from scratch", []string{"why"}, "the previous one could not be extended"},
	{"the catalog is built again with more memory", []string{"why", "mib"}, "the lake is larger than the usual limit of DuckDB's memory allows for"},
	{"the aliases cannot be read; if the previous catalog can be extended, its aliases stay", []string{"error"}, "correct the file of aliases"},
	{"the published catalog is not used; a private one answers", []string{"why", "next"}, "answers are right, but slower"},
	{"answers lack what a lost commit said", []string{"error", "next"}, "the lake has lost commits"},
	{"report written", []string{"path", "bytes", "commit", "known_at"}, "`report` is done"},
	{"no record is listed", []string{"lake"}, "`quarantine list` found none for its flags"},
	{"record", []string{"feed", "page", "reason", "detail"}, "what `quarantine show` prints on stdout"},

	// Maintenance.
	{"nothing to merge", []string{"lake"}, "`compact` found no small files"},
	{"history is unchanged", []string{"lake"}, "`replay` found what the payloads say"},
	{"tables published", []string{"lake", "commit", "kept", "objects", "bytes", "seconds"}, "the Iceberg tables show that commit; kept is the number of commits as of which they can be read"},
	{"tables removed", []string{"lake"}, "`iceberg off` is done"},
	{"tables keep files", []string{"files", "bytes"}, "files that `expire` keeps because the published Iceberg tables name them"},
	{"garbage of tables", []string{"applied", "files", "bytes"}, "objects of earlier Iceberg tables that `expire` removed, or would remove"},
	{"garbage", []string{"applied", "files", "bytes", "checkpoints", "unfinished", "waiting_files", "waiting_bytes", "attempts"}, "what `expire` removed, or would remove"},
	{"day taken back", []string{"applied", "day"}, "what `expire --drop-day` did, or would do"},
	{"nothing was removed", nil, "`expire` without `--apply`"},
	{"exported", []string{"target", "manifest", "commit", "tables", "files", "rows", "bytes"}, "`export` is done; rows are those to insert"},
	{"nothing to export", []string{"target", "manifest", "commit"}, "no commit is new since the last export, or the same export is there already"},
	{"no file is listed", []string{"lake", "commit"}, "`files` found none for its flags, such as none that was added after the commit of `--since`"},
	{"files are no longer part of the lake", []string{"files", "commit"}, "`files --commit` lists files that a later commit removed; `expire` may have deleted them"},
	{"copied", []string{"from", "to", "commits", "files", "bytes", "next"}, "`copy` is done"},
	{"upgraded", []string{"from", "to", "commits", "files", "bytes", "rows_read_otherwise", "next"}, "`upgrade` is done"},

	// watch.
	{"watching", []string{"lake", "run_at", "day_zone", "sync_every", "maintain_at", "health"}, "`watch` has begun"},
	{"command begins", []string{"command", "day", "scheduled"}, "`watch` carries out a run or maintenance"},
	{"command ended", []string{"command", "day", "exit_code"}, "it needs no other attempt"},
	{"command is tried again later", []string{"command", "day", "exit_code", "retry"}, "it failed; retry is when `watch` tries again"},
	{"command is cancelled: it has taken too long", []string{"command", "day", "limit"}, "`--command-limit` of `watch`"},
	{"nights were missed", []string{"days", "why"}, "they have no complete snapshot"},
	{"the lake is gone; nothing is pulled until it is there again", []string{"lake", "retry"}, "`watch` has seen the lake there before"},
	{"the lake could not be told that this watch is at work", []string{"error"}, "its object could not be put; `status` will say that it is silent"},
	{"watch ends", []string{"lake"}, "it was asked to end, or cannot continue"},

	// serve.
	{"serving", []string{"market", "url", "accounts"}, "the server is ready"},
	{"serving without TLS", nil, "`--insecure-http`: secrets and tokens cross the network unencrypted"},
	{"request", []string{"method", "path", "status", "bytes", "dur", "remote", "account", "error_id"}, "a request that was answered, with `--access-log`"},
	{"parameters ignored", []string{"path", "ignored"}, "from `serve`: a request has parameters that its path does not know"},
	{"connection", []string{"detail"}, "what the HTTP library says of a connection"},

	// ui.
	{"explorer", []string{"lake", "url", "readers"}, "the pages are ready"},
	{"no commit yet", nil, "from `ui`: the lake has no commit, and the pages say so until there is one"},
	{"page of the explorer", []string{"method", "path", "status", "dur"}, "a request for a page that was answered, without what was searched for"},
	{"a statement of the explorer failed", []string{"path", "error"}, "the page says the same to its reader"},
	{"a page of the explorer failed", []string{"path", "error"}, "the page says the same to its reader"},
	{"a page of the explorer was cut off", []string{"path", "error"}, "its top had been sent, and the rest could not be made; the reader's connection was closed"},
	{"the engine of the explorer failed, and is opened again", []string{"path", "error"}, "DuckDB failed in itself; the next reader gets the same commit"},
	{"a download was cut off", []string{"error"}, "the reader's connection was closed, so that the file is seen to be incomplete"},
	{"an older catalog could not be closed", []string{"error"}, "its files stay in the folder of `--work-dir` until the command ends"},
}

// Find returns the word with a name; nil for none.
func Find(name string) *Word {
	for i := range Vocabulary {
		if Vocabulary[i].Name == name {
			return &Vocabulary[i]
		}
	}
	return nil
}
