package s3store_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dealflow/internal/testkit/s3test"
	"dealflow/load/store"
	"dealflow/load/store/s3store"
	"dealflow/load/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// largeBytes is a body of three parts, the last one short.
const largeBytes = 2*partBytes + 1<<20 + 3

const partBytes = 5 << 20

// small sets small parts, pages and waits.
func small(cfg *s3store.Config) {
	cfg.MultipartAbove, cfg.PartBytes = partBytes, partBytes
	cfg.ListPage = 50
	cfg.ReadAhead = 256 << 10
	cfg.Wait = time.Millisecond
	cfg.LongestWait = 20 * time.Millisecond
}

func TestConformance(t *testing.T) {
	server := s3test.Start(t, s3test.Options{})
	choices := []s3store.Choice{s3store.Auto, s3store.On}
	if testing.Short() {
		choices = choices[:1]
	}
	for _, checksums := range choices {
		t.Run("checksums "+string(checksums), func(t *testing.T) {
			n := 0
			storetest.Run(t, storetest.Config{
				Open: func(t *testing.T) store.Store {
					n++
					return server.Store(t, fmt.Sprintf("odd prefix=%s/%d", checksums, n), small, func(c *s3store.Config) { c.Checksums = checksums })
				},
				LargeBytes: largeBytes,
				Objects:    170,
			})
		})
	}
	t.Run("the whole bucket", func(t *testing.T) {
		server := s3test.Start(t, s3test.Options{})
		s := server.Store(t, "")
		if s.URL() != "s3://"+server.Bucket {
			t.Errorf("URL %s", s.URL())
		}
		storetest.Run(t, storetest.Config{
			Open: func(t *testing.T) store.Store {
				for o, err := range s.List(t.Context(), "") {
					if err != nil {
						t.Fatal(err)
					}
					if err := s.Delete(t.Context(), o.Key); err != nil {
						t.Fatal(err)
					}
				}
				return s
			},
			LargeBytes: 1 << 20,
			Objects:    20,
		})
	})
}

// TestCarelessServer checks that a server that ignores conditions is detected. A single writer can still use it, except
// for uploads in parts: the server does not remember them.
func TestCarelessServer(t *testing.T) {
	s := s3test.Start(t, s3test.Options{IgnoreConditions: true}).Store(t, "lake", small)
	if err := store.Probe(t.Context(), s); !errors.Is(err, store.ErrIgnoresCreateOnly) {
		t.Errorf("got %v, want ErrIgnoresCreateOnly", err)
	}
	for o, err := range s.List(t.Context(), "") {
		t.Errorf("the probe left %s, %v", o.Key, err)
	}
	data := body(partBytes)
	if err := s.Put(t.Context(), "k", bytes.NewReader(data), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	wantBody(t, s, "k", data)
	r, err := s.OpenAt(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := make([]byte, 100)
	if _, err := r.ReadAt(p, 500); err != nil || !bytes.Equal(p, data[500:600]) {
		t.Errorf("read at an offset: %v, or the bytes differ", err)
	}
}

// TestEnvironment reads endpoint, region and account from where the AWS tools look for them.
func TestEnvironment(t *testing.T) {
	server := s3test.Start(t, s3test.Options{})
	profile := t.TempDir() + "/config"
	text := "[profile lake]\nregion = eu-north-1\naws_access_key_id = " + server.AccessKey + "\naws_secret_access_key = " + server.SecretKey + "\n"
	if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, variables := range map[string]map[string]string{
		"variables": {"AWS_ACCESS_KEY_ID": server.AccessKey, "AWS_SECRET_ACCESS_KEY": server.SecretKey, "AWS_ENDPOINT_URL": server.Endpoint},
		"service":   {"AWS_ACCESS_KEY_ID": server.AccessKey, "AWS_SECRET_ACCESS_KEY": server.SecretKey, "AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_S3": server.Endpoint},
		"profile":   {"AWS_CONFIG_FILE": profile, "AWS_PROFILE": "lake", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_S3": server.Endpoint},
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
				t.Setenv(file, t.TempDir()+"/none")
			}
			for name, value := range variables {
				t.Setenv(name, value)
			}
			s, err := s3store.New(t.Context(), s3store.Config{URL: "s3://" + server.Bucket + "/" + name})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Put(t.Context(), "k", strings.NewReader("x"), store.CreateOnly); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNoRegion(t *testing.T) {
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, t.TempDir()+"/none")
	}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	if _, err := s3store.New(t.Context(), s3store.Config{URL: "s3://lake"}); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v, want an error that names AWS_REGION", err)
	}
}

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"s3://lake": "s3://lake", "s3://lake/": "s3://lake", "s3://lake/a/b/": "s3://lake/a/b", "s3://my.lake-1/a b=c": "s3://my.lake-1/a b=c",
		"lake": "", "s3://": "", "s3:///a": "", "s3://la ke": "", "s3://lake//a": "", "s3://lake/../a": "", "https://lake/a": "", "s3://user:secret@lake/a": "",
	} {
		s, err := s3store.New(t.Context(), s3store.Config{URL: text, Static: &s3store.Static{Endpoint: "http://127.0.0.1:1"}})
		switch {
		case err == nil && s.URL() != want:
			t.Errorf("%s: got %s, want %s", text, s.URL(), want)
		case err != nil && want != "":
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLeftovers begins uploads that a proxy never lets end.
func TestLeftovers(t *testing.T) {
	server := s3test.Start(t, s3test.Options{})
	dying := server.Front(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete || r.Method == http.MethodPut {
				s3test.Refuse(w, http.StatusForbidden, "AccessDenied")
				return
			}
			server.ServeHTTP(w, r)
		})
	}).Store(t, "lake", small)
	storetest.Leftovers(t, server.Store(t, "lake", small), func(key string) {
		err := dying.Put(t.Context(), key, bytes.NewReader(make([]byte, largeBytes)), store.Replace)
		if err == nil || !strings.Contains(err.Error(), "abort the upload") {
			t.Errorf("got %v, want an error that tells of the abort, too", err)
		}
	})
	other := server.Store(t, "other", small)
	if err := dying.Put(t.Context(), "k", bytes.NewReader(make([]byte, largeBytes)), store.Replace); err == nil {
		t.Error("the put went through")
	}
	if found, err := other.Leftovers(t.Context(), time.Now().Add(time.Hour)); err != nil || len(found) > 0 {
		t.Errorf("another lake's: %v, %v", found, err)
	}
}

// TestCloseEndsIdleConnections counts the connections that a server sees: one that Close has ended cannot serve the next
// request.
func TestCloseEndsIdleConnections(t *testing.T) {
	var opened atomic.Int64
	provider := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s3test.Refuse(w, http.StatusNotFound, "NoSuchKey")
	}))
	provider.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	provider.Start()
	defer provider.Close()
	s, err := s3store.New(t.Context(), s3store.Config{URL: "s3://lake", Static: &s3store.Static{Endpoint: provider.URL, AccessKey: "a", SecretKey: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	for want := range int64(2) {
		for range 2 {
			if _, err := s.Get(t.Context(), "k"); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("got %v, want ErrNotFound", err)
			}
		}
		if got := opened.Load(); got != want+1 {
			t.Errorf("%d connections, want %d: one until Close, another after it", got, want+1)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFewRequests reads as a Parquet reader does: the last bytes, the footer, then the neighbouring pieces of a row
// group.
func TestFewRequests(t *testing.T) {
	var requests atomic.Int64
	s := s3test.Start(t, s3test.Options{}).Front(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			server.ServeHTTP(w, r)
		})
	}).Store(t, "lake")
	const size = 3 << 20
	if err := s.Put(t.Context(), "k", bytes.NewReader(make([]byte, size)), store.Replace); err != nil {
		t.Fatal(err)
	}
	requests.Store(0)
	r, err := s.OpenAt(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := func(offset, n int64) {
		if _, err := r.ReadAt(make([]byte, n), offset); err != nil {
			t.Fatal(err)
		}
	}
	read(size-8, 8)
	read(size-30_000, 29_992)
	for column := range int64(40) {
		read(4+column*20_000, 20_000)
	}
	if got := requests.Load(); got != 2 {
		t.Errorf("%d requests, want 2: one for the size and the footer, one for the row group", got)
	}
}

// TestReplacedWhileOpen checks that a reader never mixes two objects.
func TestReplacedWhileOpen(t *testing.T) {
	s := s3test.Start(t, s3test.Options{}).Store(t, "lake", small)
	put := func(fill byte) {
		if err := s.Put(t.Context(), "k", bytes.NewReader(bytes.Repeat([]byte{fill}, 1<<20)), store.Replace); err != nil {
			t.Fatal(err)
		}
	}
	put('a')
	r, err := s.OpenAt(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	put('b')
	if _, err := r.ReadAt(make([]byte, 10), 0); !errors.Is(err, store.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
}
