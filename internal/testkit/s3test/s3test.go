// Package s3test runs a real S3 server for tests.
//
// Takes: a test; the server's program, which `make bin/versitygw` builds; or a server that runs already, which
// TEST_S3_ENDPOINT names.
// Gives: an endpoint with an account and an empty bucket; on a free loopback port if the server is ours.
// Keeps: a server of ours ends with the test, by its process id, and its files are removed. A bucket on a server that
// ran already stays. No file or variable of the AWS tools is read.
// Fails: through testing.TB. If the program was never built, the test is skipped and says what to do.
// May change here: what a second test needs of the server.
package s3test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dealflow/load/store/s3store"
)

// Variable names the server's program; make sets it.
const Variable = "TEST_VERSITYGW"

// Variables that name a running server of any provider, and an account that may make buckets there.
const (
	VariableEndpoint  = "TEST_S3_ENDPOINT"
	VariableAccessKey = "TEST_S3_ACCESS_KEY"
	VariableSecretKey = "TEST_S3_SECRET_KEY"
)

const (
	region    = "us-east-1"
	accessKey = "lake-account"
	secretKey = "lake-secret-for-tests-only"
	bucket    = "lake"
)

// startLimit is how long a server may take until it answers.
const startLimit = 30 * time.Second

// Options describe the server to run.
type Options struct {
	// IgnoreConditions runs a server that answers 200 to a conditional put and replaces the object, as
	// some real ones do. This server cannot receive a body in parts.
	IgnoreConditions bool
}

// Server is a running server with one bucket.
type Server struct {
	Endpoint  string // http://127.0.0.1:port
	Region    string
	AccessKey string
	SecretKey string
	Bucket    string
}

// Start runs a server until the test ends, or makes a bucket of its own on the one that TEST_S3_ENDPOINT names. A
// server that ignores conditions is always run.
func Start(t testing.TB, options Options) Server {
	t.Helper()
	if server, ok := running(); ok && !options.IgnoreConditions {
		server.makeBucket(t)
		return server
	}
	program := find(t)
	// The port is free now, and the server binds it a little later. If another program binds it before,
	// the server ends, and a second port is tried.
	for range 3 {
		server := Server{Region: region, AccessKey: accessKey, SecretKey: secretKey, Bucket: bucket}
		address := freeAddress(t)
		server.Endpoint = "http://" + address
		if run(t, program, address, options) {
			server.makeBucket(t)
			return server
		}
	}
	t.Fatal("the S3 server did not start on any of three ports")
	return Server{}
}

// Store opens a lake store under a prefix of the bucket; changes may alter its settings first. It is
// closed when the test ends.
func (s Server) Store(t testing.TB, prefix string, changes ...func(*s3store.Config)) *s3store.Store {
	t.Helper()
	cfg := s3store.Config{
		URL:    "s3://" + s.Bucket + "/" + prefix,
		Static: &s3store.Static{Endpoint: s.Endpoint, Region: s.Region, AccessKey: s.AccessKey, SecretKey: s.SecretKey},
	}
	for _, change := range changes {
		change(&cfg)
	}
	store, err := s3store.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// running returns the server that the variables name, with the name of a bucket that is not there yet: tests share the
// server, and each wants an empty bucket.
func running() (Server, bool) {
	endpoint := os.Getenv(VariableEndpoint) //nolint:forbidigo // test support; .ci/interop/s3 says where it started the server
	return Server{
		Endpoint: endpoint, Region: region, Bucket: bucket + "-" + strings.ToLower(rand.Text()),
		AccessKey: os.Getenv(VariableAccessKey), //nolint:forbidigo // as above
		SecretKey: os.Getenv(VariableSecretKey), //nolint:forbidigo // as above
	}, endpoint != ""
}

// find returns the server's program: the one that the variable names, or bin/versitygw in a parent folder.
func find(t testing.TB) string {
	t.Helper()
	if named, ok := os.LookupEnv(Variable); ok { //nolint:forbidigo // test support; make says where it built the server
		if _, err := os.Stat(named); err != nil {
			t.Fatalf("%s: %v; run `make bin/versitygw`", Variable, err)
		}
		return named
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		name := filepath.Join(folder, "bin", "versitygw")
		if _, err := os.Stat(name); err == nil {
			return name
		}
		above := filepath.Dir(folder)
		if above == folder {
			t.Skip("there is no S3 server to test with: run `make bin/versitygw`, or the tests by `make test`")
		}
		folder = above
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// run starts the program and waits until it answers; false says that it ended instead.
func run(t testing.TB, program, address string, options Options) bool {
	t.Helper()
	arguments := []string{"--port", address, "--quiet", "--keep-alive", "posix"}
	if options.IgnoreConditions {
		arguments = append(arguments, "--nometa")
	} else {
		// Not every filesystem has the extended attributes that the server would use otherwise.
		arguments = append(arguments, "--sidecar", t.TempDir())
	}
	var output bytes.Buffer
	server := exec.Command(program, append(arguments, t.TempDir())...) //nolint:noctx // it lives as long as the test, which kills it
	server.Env = []string{"ROOT_ACCESS_KEY=" + accessKey, "ROOT_SECRET_KEY=" + secretKey}
	server.Stdout, server.Stderr = &output, &output
	if err := server.Start(); err != nil {
		t.Fatalf("start the S3 server: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		if err := server.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("stop the S3 server: %v", err)
		}
		<-ended
		if t.Failed() {
			t.Logf("the S3 server said:\n%s", strings.TrimSpace(output.String()))
		}
	})
	return answers(t, address, ended)
}

// answers waits until the address accepts connections.
func answers(t testing.TB, address string, ended <-chan struct{}) bool {
	t.Helper()
	limit := time.After(startLimit)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if c, err := net.Dial("tcp", address); err == nil { //nolint:noctx // loopback answers at once
			return c.Close() == nil
		}
		select {
		case <-ended:
			return false
		case <-limit:
			t.Fatalf("the S3 server does not answer at %s after %s", address, startLimit)
		case <-again.C:
		}
	}
}

func (s Server) makeBucket(t testing.TB) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := s3.New(s3.Options{
		BaseEndpoint: &s.Endpoint, Region: s.Region, UsePathStyle: true, HTTPClient: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(s.Bucket)}); err != nil {
		t.Fatalf("make the bucket: %v", err)
	}
}
