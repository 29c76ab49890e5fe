// Package rest answers the requests of the Iceberg REST catalog that only read, for the published tables of a lake.
// Takes: the store of a lake.
// Gives: an http.Handler for the paths below /iceberg; the caller checks who may ask.
// Keeps: all answers about one table are of one publication. It gives no credentials for the store, and changes nothing.
// Fails: in the error form of the Iceberg REST catalog. What would write is a ForbiddenException.
// May change here: which endpoints there are.
package rest

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"dealflow/load/iceberg"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Prefix begins the paths of all endpoints.
const Prefix = "/iceberg/v1/"

// unitSeparator is between the parts of a namespace's name in a path.
const unitSeparator = "\x1f"

// Config says which tables are shown. Store must be set.
type Config struct {
	Store store.Store  // of the lake
	Log   *slog.Logger // gets the cause of each 500; default: none
}

type handler struct{ Config }

// New returns a handler of the endpoints, whose paths begin with Prefix. It may be called concurrently.
func New(cfg Config) http.Handler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{cfg}
	mux := http.NewServeMux()
	for _, e := range h.endpoints() {
		mux.Handle("GET "+Prefix+e.path, h.answer(e.get))
	}
	mux.Handle("/", h.answer(func(http.ResponseWriter, *http.Request) (any, error) {
		return nil, &failure{http.StatusForbidden, "ForbiddenException", "this catalog can only be read"}
	}))
	return mux
}

// endpoint is a path that GET and HEAD may ask for.
type endpoint struct {
	path string
	get  func(http.ResponseWriter, *http.Request) (any, error)
	told bool // config lists it
}

func (h *handler) endpoints() []endpoint {
	return []endpoint{
		{"config", h.config, false},
		{"namespaces", h.namespaces, true},
		{"namespaces/{namespace}", h.namespace, true},
		{"namespaces/{namespace}/tables", h.tables, true},
		{"namespaces/{namespace}/tables/{table}", h.table, true},
	}
}

// failure is an error that the client is told.
type failure struct {
	status  int
	kind    string
	message string
}

func (f *failure) Error() string { return f.message }

func noNamespace(name string) error {
	return &failure{http.StatusNotFound, "NoSuchNamespaceException", "no namespace " + shown(name) + ": want one of " + strings.Join(iceberg.Namespaces(), ", ")}
}

func noTable(namespace, name string) error {
	return &failure{http.StatusNotFound, "NoSuchTableException", "no table " + shown(namespace) + "." + shown(name) + " is published"}
}

// shown returns a client's text for a message.
func shown(text string) string {
	return strings.ReplaceAll(text[:min(len(text), 100)], unitSeparator, ".")
}

// answer answers with the value that get returns, as JSON, or with its error. A value of nil has been answered.
func (h *handler) answer(get func(http.ResponseWriter, *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		value, err := get(w, r)
		if err != nil {
			h.fail(w, r, err)
			return
		}
		if value != nil {
			write(w, r, http.StatusOK, value)
		}
	})
}

func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	var told *failure
	if !errors.As(err, &told) {
		h.Log.Error("request failed", "url", r.URL.Path, "error", err)
		told = &failure{http.StatusInternalServerError, "InternalServerError", "the lake could not be read"}
	}
	write(w, r, told.status, map[string]any{"error": map[string]any{"message": told.message, "type": told.kind, "code": told.status}})
}

func write(w http.ResponseWriter, r *http.Request, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		status, data = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodHead && status == http.StatusOK {
		status = http.StatusNoContent
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // a client that is gone needs no answer
	}
}

// config says what the catalog can do. It gives no credentials: a client opens the lake's files with its own.
func (h *handler) config(http.ResponseWriter, *http.Request) (any, error) {
	told := []string{}
	for _, e := range h.endpoints() {
		if e.told {
			told = append(told, "GET /v1/{prefix}/"+e.path)
		}
	}
	told = append(told, "HEAD /v1/{prefix}/namespaces/{namespace}", "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}")
	credentials := map[string]string{"dealflow.credentials": "none: the client opens the files itself, in file:// on this machine only, in s3:// with a key of its own"}
	return map[string]any{"defaults": credentials, "overrides": map[string]string{}, "endpoints": told}, nil
}

func (h *handler) namespaces(_ http.ResponseWriter, r *http.Request) (any, error) {
	names := [][]string{}
	switch parent := r.URL.Query().Get("parent"); {
	case parent == "":
		for _, name := range iceberg.Namespaces() {
			names = append(names, []string{name})
		}
	case !slices.Contains(iceberg.Namespaces(), parent):
		return nil, noNamespace(parent)
	}
	return map[string]any{"namespaces": names}, nil
}

// namespaceOf returns the namespace of a request's path.
func namespaceOf(r *http.Request) (string, error) {
	name := r.PathValue("namespace")
	if !slices.Contains(iceberg.Namespaces(), name) {
		return name, noNamespace(name)
	}
	return name, nil
}

func (h *handler) namespace(_ http.ResponseWriter, r *http.Request) (any, error) {
	name, err := namespaceOf(r)
	return map[string]any{"namespace": []string{name}, "properties": map[string]string{}}, err
}

type identifier struct {
	Namespace []string `json:"namespace"`
	Name      string   `json:"name"`
}

func (h *handler) tables(_ http.ResponseWriter, r *http.Request) (any, error) {
	name, err := namespaceOf(r)
	if err != nil {
		return nil, err
	}
	published, err := iceberg.ReadPublished(r.Context(), h.Store)
	if err != nil {
		return nil, err
	}
	found := []identifier{}
	if published != nil {
		for i := range published.Tables {
			if t := &published.Tables[i]; t.Namespace == name {
				found = append(found, identifier{[]string{t.Namespace}, t.Name})
			}
		}
	}
	return map[string]any{"identifiers": found}, nil
}

// readTries is how often a table is looked up: its metadata may be removed between the two reads, by `iceberg off`.
const readTries = 2

func (h *handler) table(w http.ResponseWriter, r *http.Request) (any, error) {
	for try := 1; ; try++ {
		answer, err := h.publishedTable(w, r)
		if !errors.Is(err, store.ErrNotFound) || try == readTries {
			return answer, err
		}
	}
}

func (h *handler) publishedTable(w http.ResponseWriter, r *http.Request) (any, error) {
	// An unknown namespace is an unknown table, too: Spark asks for TABLE.snapshots as for a table of such a namespace.
	namespace, name := r.PathValue("namespace"), r.PathValue("table")
	published, err := iceberg.ReadPublished(r.Context(), h.Store)
	if err != nil {
		return nil, err
	}
	if published == nil {
		return nil, noTable(namespace, name)
	}
	at := slices.IndexFunc(published.Tables, func(t iceberg.PublishedTable) bool { return t.Namespace == namespace && t.Name == name })
	if at < 0 {
		return nil, noTable(namespace, name)
	}
	key := published.Tables[at].Metadata()
	tag := `"` + lake.SHA256([]byte(published.SHA256 + key))[:32] + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil, nil
	}
	metadata, err := store.Read(r.Context(), h.Store, key)
	if err != nil {
		return nil, err
	}
	return map[string]any{"metadata-location": published.Location + key, "metadata": json.RawMessage(metadata), "config": map[string]string{}}, nil
}
