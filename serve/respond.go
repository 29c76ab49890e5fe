package serve

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"dealflow/schemas/api"
)

const (
	typeHAL  = "application/hal+json"
	typeJSON = "application/json"

	// gzipFrom is the minimum size of a compressed body, in bytes: smaller ones gain too little.
	gzipFrom = 1024
)

var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant that exists
	}
	return w
}}

// pages is a pool of buffers for pages, which are large and used only briefly.
var pages = sync.Pool{New: func() any { return new([]byte) }}

// respondPage sends a page of a list.
func respondPage(w http.ResponseWriter, r *http.Request, base string, feed api.Feed, params params, page Page, next string) {
	buffer := pages.Get().(*[]byte)
	defer pages.Put(buffer)
	*buffer = appendPage((*buffer)[:0], base, feed, params, page, next)
	respond(w, r, http.StatusOK, typeHAL, *buffer)
}

// respond sends a complete body, compressed if the client accepts that. It ignores errors in writing: the client has
// closed the connection.
func respond(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Add("Vary", "Accept-Encoding")
	if damage(w, r, status, body) {
		return
	}
	if len(body) < gzipFrom || !acceptsGzip(r) {
		header.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(body)
		}
		return
	}
	header.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	zip := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(zip)
	zip.Reset(w)
	_, _ = zip.Write(body)
	_ = zip.Close()
}

// acceptsGzip reads Accept-Encoding. A quality of zero means no.
func acceptsGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(header, ",") {
			coding, params, _ := strings.Cut(part, ";")
			if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				continue
			}
			quality, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
			value, err := strconv.ParseFloat(quality, 64)
			return !found || (err == nil && value > 0)
		}
	}
	return false
}
