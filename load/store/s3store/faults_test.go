package s3store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/internal/testkit/s3test"
	"dealflow/load/store"
	"dealflow/load/store/s3store"
)

// fault answers a request instead of the server, or returns false.
type fault func(w http.ResponseWriter, r *http.Request, server http.Handler) bool

// faulty returns a store over a real server. The first n requests of a kind meet a fault. It also returns the number of
// requests of that kind.
func faulty(t *testing.T, n int64, kind func(*http.Request) bool, f fault, changes ...func(*s3store.Config)) (*s3store.Store, *atomic.Int64) {
	t.Helper()
	seen := new(atomic.Int64)
	server := s3test.Start(t, s3test.Options{}).Front(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !kind(r) || seen.Add(1) > n || !f(w, r, server) {
				server.ServeHTTP(w, r)
			}
		})
	})
	return server.Store(t, "lake", append([]func(*s3store.Config){small}, changes...)...), seen
}

func refuse(status int, code string, headers ...string) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		s3test.Refuse(w, status, code, headers...)
		return true
	}
}

func lose(_ http.ResponseWriter, r *http.Request, server http.Handler) bool {
	s3test.Lose(server, r)
	return true
}

// Kinds of request.
func anything(*http.Request) bool { return true }
func puts(r *http.Request) bool {
	return r.Method == http.MethodPut && !r.URL.Query().Has("partNumber")
}
func parts(r *http.Request) bool  { return r.URL.Query().Has("partNumber") }
func begins(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploads") }
func finishes(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}
func batches(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("delete") }
func gets(r *http.Request) bool    { return r.Method == http.MethodGet && !r.URL.Query().Has("list-type") }

func wantBody(t *testing.T, s store.Store, key string, want []byte) {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s holds %d bytes, %v, want %d, or they differ", key, len(got), err, len(want))
	}
}

func body(n int) []byte { return bytes.Repeat([]byte("0123456"), n/7+1)[:n] }

// TestPutSurvives runs create-only puts against faults of providers that are no answer about the object: all succeed.
func TestPutSurvives(t *testing.T) {
	small, large := body(1000), body(largeBytes)
	for name, c := range map[string]struct {
		body     []byte
		kind     func(*http.Request) bool
		fault    fault
		requests int64 // of the kind, in all
	}{
		"slow down":                {small, puts, refuse(503, "SlowDown"), 3},
		"internal error":           {small, puts, refuse(500, "InternalError"), 3},
		"conflict":                 {small, puts, refuse(409, "ConditionalRequestConflict"), 3},
		"lost answers":             {small, puts, lose, 3},
		"part: slow down":          {large, parts, refuse(503, "SlowDown"), 5},
		"part: lost answer":        {large, parts, lose, 5},
		"begin: internal error":    {large, begins, refuse(500, "InternalError"), 3},
		"completion: lost answers": {large, finishes, lose, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s, requests := faulty(t, 2, c.kind, c.fault)
			if err := s.Put(t.Context(), "k", bytes.NewReader(c.body), store.CreateOnly); err != nil {
				t.Fatal(err)
			}
			if got := requests.Load(); got != c.requests {
				t.Errorf("%d requests of the kind, want %d", got, c.requests)
			}
			wantBody(t, s, "k", c.body)
			if found, err := s.Leftovers(t.Context(), time.Now().Add(time.Hour)); err != nil || len(found) > 0 {
				t.Errorf("left over: %v, %v", found, err)
			}
		})
	}
}

// TestConflictBeginsAnew checks that a conflict at the end of an upload leads to a new upload: the old one cannot be
// completed.
func TestConflictBeginsAnew(t *testing.T) {
	var begun atomic.Int64
	s, _ := faulty(t, 1<<30, func(r *http.Request) bool { return begins(r) || finishes(r) }, func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if begins(r) {
			begun.Add(1)
			return false
		}
		if begun.Load() > 1 {
			return false
		}
		s3test.Refuse(w, http.StatusConflict, "ConditionalRequestConflict")
		return true
	})
	if err := s.Put(t.Context(), "k", bytes.NewReader(body(largeBytes)), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	if begun.Load() != 2 {
		t.Errorf("%d uploads were begun, want 2", begun.Load())
	}
	wantBody(t, s, "k", body(largeBytes))
}

// TestLostAnswerOfALoser checks that a create-only put whose answer was lost does not take another's object for its
// own.
func TestLostAnswerOfALoser(t *testing.T) {
	for name, size := range map[string]int{"small": 1000, "large": largeBytes} {
		t.Run(name, func(t *testing.T) {
			s, _ := faulty(t, 1, func(r *http.Request) bool { return puts(r) && r.Header.Get("If-None-Match") != "" || finishes(r) }, lose)
			if err := s.Put(t.Context(), "k", strings.NewReader("theirs"), store.Replace); err != nil {
				t.Fatal(err)
			}
			if err := s.Put(t.Context(), "k", bytes.NewReader(body(size)), store.CreateOnly); !errors.Is(err, store.ErrExists) {
				t.Errorf("got %v, want ErrExists", err)
			}
			wantBody(t, s, "k", []byte("theirs"))
		})
	}
}

// TestUploadIsGone uses a provider that no longer knows an upload. After a lost answer that means that the completion
// was applied. Otherwise it is an error, but not one about the object.
func TestUploadIsGone(t *testing.T) {
	large := body(largeBytes)
	for name, put := range map[string]func(s *s3store.Store) error{
		"create": func(s *s3store.Store) error {
			return s.Put(t.Context(), "new", bytes.NewReader(large), store.CreateOnly)
		},
		"replace": func(s *s3store.Store) error { return s.Put(t.Context(), "new", bytes.NewReader(large), store.Replace) },
		"replace seen": func(s *s3store.Store) error {
			if err := s.Put(t.Context(), "new", strings.NewReader("old"), store.Replace); err != nil {
				return err
			}
			tag, err := s.Tag(t.Context(), "new")
			return errors.Join(err, s.ReplaceIf(t.Context(), "new", bytes.NewReader(large), tag))
		},
	} {
		t.Run(name, func(t *testing.T) {
			lost := false
			s, _ := faulty(t, 1<<30, finishes, func(w http.ResponseWriter, r *http.Request, server http.Handler) bool {
				if !lost {
					lost = true
					s3test.Lose(server, r)
				}
				s3test.Refuse(w, http.StatusNotFound, "NoSuchUpload")
				return true
			})
			if err := put(s); err != nil {
				t.Errorf("after a lost answer: %v", err)
			}
			wantBody(t, s, "new", large)
			s, _ = faulty(t, 1<<30, finishes, refuse(http.StatusNotFound, "NoSuchUpload"))
			err := put(s)
			if err == nil || errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrNotFound) {
				t.Errorf("without one: got %v, want an error about the upload", err)
			}
		})
	}
}

func TestLostAnswerOfReplaceIf(t *testing.T) {
	s, _ := faulty(t, 1, func(r *http.Request) bool { return r.Header.Get("If-Match") != "" }, lose)
	if err := s.Put(t.Context(), "k", strings.NewReader("old"), store.Replace); err != nil {
		t.Fatal(err)
	}
	tag, err := s.Tag(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ReplaceIf(t.Context(), "k", strings.NewReader("new"), tag); err != nil {
		t.Errorf("got %v, want success: the first attempt was applied", err)
	}
	wantBody(t, s, "k", []byte("new"))
}

// TestGivesUp counts the attempts.
func TestGivesUp(t *testing.T) {
	s, requests := faulty(t, 1<<30, puts, refuse(500, "InternalError"), func(c *s3store.Config) { c.Attempts = 3 })
	err := s.Put(t.Context(), "k", strings.NewReader("x"), store.CreateOnly)
	if err == nil || requests.Load() != 3 {
		t.Errorf("got %v after %d attempts, want an error after 3", err, requests.Load())
	}
	s, requests = faulty(t, 1<<30, puts, refuse(403, "AccessDenied"))
	if err := s.Put(t.Context(), "k", strings.NewReader("x"), store.CreateOnly); err == nil || requests.Load() != 1 {
		t.Errorf("got %v after %d attempts, want an error after one", err, requests.Load())
	}
	s, requests = faulty(t, 1<<30, puts, refuse(503, "SlowDown", "Retry-After", "3600"))
	if err := s.Put(t.Context(), "k", strings.NewReader("x"), store.CreateOnly); err == nil || requests.Load() != 1 || !strings.Contains(err.Error(), "asked for a wait of 1h0m0s") {
		t.Errorf("got %v after %d attempts, want an error that names the wait", err, requests.Load())
	}
}

// TestHeldSendersEnd cancels a put that waits because its provider asked for it.
func TestHeldSendersEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, _ := faulty(t, 1, puts, refuse(503, "SlowDown", "Retry-After", "3600"), func(c *s3store.Config) { c.LongestWait = 2 * time.Hour })
	held := make(chan error, 2)
	go func() { held <- s.Put(ctx, "k", strings.NewReader("x"), store.CreateOnly) }()
	// The gate is shut if a request of another kind has to wait too.
	go func() {
		for {
			short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
			_, err := s.Get(short, "absent")
			stop()
			if !errors.Is(err, store.ErrNotFound) {
				held <- err
				cancel()
				return
			}
		}
	}()
	if err := <-held; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the other sender: got %v, want context.DeadlineExceeded", err)
	}
	if err := <-held; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestErrors checks what an error says, and what it does not say.
func TestErrors(t *testing.T) {
	denied, _ := faulty(t, 1<<30, anything, refuse(403, "AccessDenied"))
	server := s3test.Start(t, s3test.Options{})
	wrongSecret, noBucket, noServer := server, server, server
	wrongSecret.SecretKey = "another-secret"
	noBucket.Bucket = "absent-bucket"
	noServer.Endpoint = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		store *s3store.Store
		want  []string
	}{
		"denied":       {denied, []string{denied.URL() + "/a b", "403", "AccessDenied", "Refused for a test.", "(request id REQUEST-1)", "allow the account"}},
		"wrong secret": {wrongSecret.Store(t, "p", small), []string{"s3://" + server.Bucket + "/p/a b", "403", "SignatureDoesNotMatch", "(request id ", "AWS_SECRET_ACCESS_KEY"}},
		"no bucket":    {noBucket.Store(t, "", small), []string{"s3://absent-bucket/a b", "404", "NoSuchBucket", "create the bucket"}},
		"no server":    {noServer.Store(t, "", small), []string{"s3://" + server.Bucket + "/a b", "connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, getErr := c.store.Get(t.Context(), "a b")
			for op, err := range map[string]error{
				"put": c.store.Put(t.Context(), "a b", strings.NewReader("x"), store.CreateOnly),
				"get": getErr, "delete": c.store.Delete(t.Context(), "a b"),
			} {
				var e *s3store.Error
				if !errors.As(err, &e) || e.Op != op || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrExists) {
					t.Errorf("%s: got %#v", op, err)
					continue
				}
				text := fmt.Sprintf("%v %+v %#v", err, err, err)
				for _, want := range append(c.want, op) {
					if !strings.Contains(text, want) {
						t.Errorf("%s: %q lacks %q", op, text, want)
					}
				}
				for _, secret := range []string{server.SecretKey, "another-secret", "X-Amz-", "Signature=", server.AccessKey, "http://"} {
					if strings.Contains(text, secret) {
						t.Errorf("%s: %q gives away %q", op, text, secret)
					}
				}
			}
		})
	}
}

func TestPrintedConfigHidesItsSecret(t *testing.T) {
	static := s3store.Static{Endpoint: "http://e", SecretKey: "canary"}
	if text := fmt.Sprintf("%v %+v %#v %v", static, static, static, &static); strings.Contains(text, "canary") {
		t.Error(text)
	}
}

// TestDeleteOneByOne uses a provider that cannot delete several objects in one request.
func TestDeleteOneByOne(t *testing.T) {
	for code, status := range map[string]int{"NotImplemented": 501, "MissingContentMD5": 400, "MethodNotAllowed": 405} {
		t.Run(code, func(t *testing.T) {
			s, requests := faulty(t, 1<<30, batches, refuse(status, code))
			for range 2 {
				for _, key := range []string{"a", "b", "c"} {
					if err := s.Put(t.Context(), key, strings.NewReader("x"), store.Replace); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Delete(t.Context(), "a", "b", "never/was"); err != nil {
					t.Fatal(err)
				}
				for o, err := range s.List(t.Context(), "") {
					if err != nil || o.Key != "c" {
						t.Errorf("left: %v, %v", o.Key, err)
					}
				}
			}
			if requests.Load() != 1 {
				t.Errorf("%d batches were tried, want one, remembered", requests.Load())
			}
		})
	}
}

// TestDeleteReportsEach deletes a batch of which two objects fail: one temporarily, one for good.
func TestDeleteReportsEach(t *testing.T) {
	s, _ := faulty(t, 1<<30, func(r *http.Request) bool { return batches(r) || r.Method == http.MethodDelete },
		func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
			switch {
			case batches(r):
				w.Header().Set("Content-Type", "application/xml")
				fmt.Fprint(w, `<DeleteResult><Error><Key>lake/later</Key><Code>InternalError</Code></Error><Error><Key>lake/never</Key><Code>AccessDenied</Code></Error></DeleteResult>`)
			case strings.HasSuffix(r.URL.Path, "never"):
				s3test.Refuse(w, http.StatusForbidden, "AccessDenied")
			default:
				return false
			}
			return true
		})
	if err := s.Put(t.Context(), "later", strings.NewReader("x"), store.Replace); err != nil {
		t.Fatal(err)
	}
	err := s.Delete(t.Context(), "gone", "later", "never")
	if err == nil || !strings.Contains(err.Error(), "lake/never: 403 AccessDenied") || strings.Contains(err.Error(), "later") {
		t.Errorf("got %v, want an error of never alone", err)
	}
	if _, err := s.Get(t.Context(), "later"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("later: got %v, want ErrNotFound", err)
	}
}

// cut lets the server answer, and breaks the connection in the middle of the body.
func cut(w http.ResponseWriter, r *http.Request, server http.Handler) bool {
	server.ServeHTTP(&cutWriter{ResponseWriter: w}, r)
	panic(http.ErrAbortHandler)
}

type cutWriter struct {
	http.ResponseWriter
	cut bool
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if !c.cut {
		c.cut = true
		if _, err := c.ResponseWriter.Write(p[:len(p)/2]); err != nil {
			return 0, err
		}
		c.ResponseWriter.(http.Flusher).Flush()
	}
	return len(p), nil
}

// TestTruncatedBody checks that a body that ends early is an error in a stream, and is fetched again in a read at an
// offset.
func TestTruncatedBody(t *testing.T) {
	s, _ := faulty(t, 1, gets, cut)
	data := body(100_000)
	if err := s.Put(t.Context(), "k", bytes.NewReader(data), store.Replace); err != nil {
		t.Fatal(err)
	}
	r, err := s.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	r.Close()
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) >= len(data) || !strings.Contains(err.Error(), s.URL()+"/k") {
		t.Errorf("got %d of %d bytes and %v, want io.ErrUnexpectedEOF that names the object", len(got), len(data), err)
	}

	s, requests := faulty(t, 2, gets, cut)
	if err := s.Put(t.Context(), "k", bytes.NewReader(data), store.Replace); err != nil {
		t.Fatal(err)
	}
	random, err := s.OpenAt(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer random.Close()
	p := make([]byte, len(data))
	if _, err := random.ReadAt(p, 0); err != nil || !bytes.Equal(p, data) || requests.Load() != 3 {
		t.Errorf("got %v after %d requests, or the bytes differ; want 3", err, requests.Load())
	}
}

// TestGetEndsWithItsContext cancels a stream whose provider sends nothing any more.
func TestGetEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, _ := faulty(t, 1, gets, func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "first")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	r, err := s.Get(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestParallel counts the requests that run at once: of several puts, and of the parts of a large one. Each request
// waits until the limit is reached, so that one more would be seen.
func TestParallel(t *testing.T) {
	const most = 3
	var mu sync.Mutex
	var now, top int
	full := make(chan struct{})
	s, _ := faulty(t, 1<<30, func(r *http.Request) bool { return puts(r) || parts(r) }, func(w http.ResponseWriter, r *http.Request, server http.Handler) bool {
		mu.Lock()
		now++
		if top = max(top, now); now == most {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		<-full
		server.ServeHTTP(w, r)
		mu.Lock()
		now--
		mu.Unlock()
		return true
	}, func(c *s3store.Config) { c.Parallel = most })
	var group errgroup.Group
	for i := range 10 {
		group.Go(func() error {
			return s.Put(t.Context(), fmt.Sprint(i), bytes.NewReader(body(100)), store.CreateOnly)
		})
	}
	group.Go(func() error { return s.Put(t.Context(), "large", bytes.NewReader(body(largeBytes)), store.CreateOnly) })
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if top != most {
		t.Errorf("%d requests at once, want %d", top, most)
	}
}

// TestBadListings uses providers whose listings are out of order or never end.
func TestBadListings(t *testing.T) {
	page := func(more string, keys ...string) fault {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprint(w, "<ListBucketResult>", more)
			for _, key := range keys {
				fmt.Fprintf(w, "<Contents><Key>lake/%s</Key><Size>1</Size></Contents>", key)
			}
			fmt.Fprint(w, "</ListBucketResult>")
			return true
		}
	}
	for name, c := range map[string]struct {
		fault fault
		want  string
	}{
		"order":  {page("<IsTruncated>false</IsTruncated>", "b", "a"), "order of names"},
		"double": {page("<IsTruncated>false</IsTruncated>", "a", "a"), "order of names"},
		"no end": {page("<IsTruncated>true</IsTruncated>", "a"), "does not name the position"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := faulty(t, 1<<30, anything, c.fault)
			var got error
			for _, err := range s.List(t.Context(), "") {
				got = err
			}
			if got == nil || !strings.Contains(got.Error(), c.want) {
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
	t.Run("folders of other tools", func(t *testing.T) {
		s, _ := faulty(t, 1, anything, page("", "", "a/", "a/b"))
		n := 0
		for o, err := range s.List(t.Context(), "") {
			if n++; err != nil || o.Key != "a/b" {
				t.Errorf("listed %q, %v", o.Key, err)
			}
		}
		if n != 1 {
			t.Errorf("%d objects, want 1", n)
		}
	})
}

// TestRetriesAreLogged checks that each failed attempt and each wait is logged, with the operation and the object.
func TestRetriesAreLogged(t *testing.T) {
	var said bytes.Buffer
	s, _ := faulty(t, 2, puts, refuse(http.StatusServiceUnavailable, "SlowDown"), func(c *s3store.Config) {
		c.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	if err := s.Put(t.Context(), "a/b", strings.NewReader("x"), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`level=WARN msg="request failed" op=put key=a/b attempt=1 error=`, "attempt=2", `msg=waiting key=a/b wait=`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no line has %s:\n%s", want, said.String())
		}
	}
	if strings.Contains(said.String(), "attempt=3") {
		t.Errorf("an attempt that succeeded is logged:\n%s", said.String())
	}
}
