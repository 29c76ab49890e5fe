package s3store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/s3store"
)

// TestSentOverTLS checks what a put sends to an endpoint that is not AWS's: a body of known length, signed over its
// SHA-256, and none of the newer ways to send a checksum, which many providers refuse. With checksums on it sends one.
// The provider's certificate is one that AWS_CA_BUNDLE names.
func TestSentOverTLS(t *testing.T) {
	var sent http.Header
	provider := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent = r.Header.Clone()
		sent.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10)) // it is no header here; -1: none
	}))
	var distrusted strings.Builder
	provider.Config.ErrorLog = log.New(&distrusted, "", 0)
	provider.StartTLS()
	defer provider.Close()
	bundle := t.TempDir() + "/ca.pem"
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: provider.Certificate().Raw})
	if err := os.WriteFile(bundle, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_CA_BUNDLE": bundle, "AWS_ENDPOINT_URL_S3": provider.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s",
		"AWS_CONFIG_FILE": bundle + ".none", "AWS_SHARED_CREDENTIALS_FILE": bundle + ".none",
	} {
		t.Setenv(name, value)
	}
	put := func(checksums s3store.Choice) http.Header {
		s, err := s3store.New(t.Context(), s3store.Config{URL: "s3://lake", Attempts: 1, Checksums: checksums})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Put(t.Context(), "k", strings.NewReader("body"), store.CreateOnly); err != nil {
			t.Fatal(err)
		}
		return sent
	}
	plain := put(s3store.Auto)
	sum := sha256.Sum256([]byte("body"))
	for name, want := range map[string]string{
		"X-Amz-Content-Sha256": hex.EncodeToString(sum[:]), "Content-Length": "4", "If-None-Match": "*",
		"Content-Encoding": "", "X-Amz-Trailer": "", "X-Amz-Sdk-Checksum-Algorithm": "", "X-Amz-Checksum-Crc32": "",
	} {
		if got := plain.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if full := put(s3store.On); full.Get("X-Amz-Trailer") == "" && full.Get("X-Amz-Checksum-Crc32") == "" {
		t.Errorf("with checksums on none was sent: %v", full)
	}

	t.Setenv("AWS_CA_BUNDLE", "")
	s, err := s3store.New(t.Context(), s3store.Config{URL: "s3://lake"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(t.Context(), "k", strings.NewReader("body"), store.CreateOnly); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want an error of the certificate", err)
	}
	provider.Close() // the log is complete then
	if n := strings.Count(distrusted.String(), "\n"); n != 1 {
		t.Errorf("%d handshakes, want one: trying again does not mend a certificate\n%s", n, distrusted.String())
	}
}
