// Package s3store stores a lake in S3-compatible storage.
// Takes: s3://bucket/prefix; endpoint, region and credentials come from the environment and files of the AWS tools.
// Gives: a store.Store that is also a store.RandomReader, store.Replacer and store.Cleaner.
// Keeps: an object appears completely or not at all. A body is never copied into memory. No more than Config.Parallel
// requests run at once, and when the provider asks to slow down, all of them wait.
// Fails: *Error, which names operation, object, the provider's code and request id, and never a secret; errors.Is finds
// store.ErrNotFound, store.ErrExists and store.ErrChanged in it.
// May change here: what a provider turns out to need.
package s3store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/semaphore"

	"dealflow/load/store"
)

// responseTimeout is how long a provider may send nothing: after it was sent a request, and between two pieces of an
// object's body.
const responseTimeout = time.Minute

// defaultRegion is the region for endpoints that are not AWS's, where its name rarely matters.
const defaultRegion = "us-east-1"

// Config says where the lake is stored and how to use its provider. Zero fields mean the defaults.
type Config struct {
	// URL is s3://bucket or s3://bucket/prefix. It must be set.
	URL string
	// Static, if set, replaces the environment (AWS_…) and the files of the AWS tools, which are then not read.
	Static *Static
	// PathStyle puts the bucket into the path instead of the host name. Auto: only if an endpoint is configured.
	PathStyle Choice
	// Checksums adds a checksum to every upload, next to the signature over the body, and validates the checksums of
	// downloads. Auto: only with AWS, because others refuse how it is sent.
	Checksums Choice
	// Parallel is the greatest number of requests at once. Default 16.
	Parallel int
	// Attempts is how often a request is sent before it fails for good. Default 8.
	Attempts int
	// Wait is the first wait before another attempt; it doubles each time and is spread at random.
	// Default 200 ms.
	Wait time.Duration
	// LongestWait is the longest single wait. If a provider asks for a longer one, the request fails. Default 30 s.
	LongestWait time.Duration
	// MultipartAbove is the size in bytes above which a body is uploaded in parts. Default 16 MiB.
	MultipartAbove int64
	// PartBytes is the size of a part; providers want at least 5 MiB. It grows if there would be more than 10,000
	// parts. Default 16 MiB.
	PartBytes int64
	// ListPage is the number of objects asked for in one page of a listing: at most 1,000, which is the default.
	ListPage int32
	// ReadAhead is the least number of bytes that a read at an offset fetches. An open reader keeps up to four times
	// that. Default 1 MiB.
	ReadAhead int64
	// Log gets the failed attempts of requests that are repeated, and the waits. Default: nothing is logged.
	Log *slog.Logger
}

// Static is an endpoint and an account, given by the caller. Printing it hides the secret.
type Static struct {
	Endpoint  string // such as http://127.0.0.1:7070
	Region    string // "": us-east-1
	AccessKey string
	SecretKey string
}

// String returns the endpoint only.
func (s Static) String() string { return s.Endpoint }

// GoString is String.
func (s Static) GoString() string { return s.Endpoint }

// Choice is a setting with a default that depends on the provider.
type Choice string

// The choices.
const (
	Auto Choice = ""
	On   Choice = "on"
	Off  Choice = "off"
)

func (c Choice) or(auto bool) bool { return c == On || c == Auto && auto }

// Store is a store in a bucket. It is safe for concurrent use. Close ends its idle connections.
type Store struct {
	cfg    Config
	client *s3.Client
	bucket string
	root   string // "" or a prefix that ends with a slash
	slots  *semaphore.Weighted
	gate   gate
	idle   func()
	single deleteMode
}

var (
	_ store.Store        = (*Store)(nil)
	_ store.LaterLister  = (*Store)(nil)
	_ store.RandomReader = (*Store)(nil)
	_ store.Replacer     = (*Store)(nil)
	_ store.Cleaner      = (*Store)(nil)
	_ store.Copier       = (*Store)(nil)
)

// New prepares a store; it sends nothing to the provider. ctx bounds reading the configuration.
func New(ctx context.Context, cfg Config) (*Store, error) {
	bucket, root, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	cfg.setDefaults()
	settings, err := cfg.settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("settings for %s: %w", cfg.URL, err)
	}
	// Only here: the files of the AWS tools may name their own certificates.
	built := settings.HTTPClient.(*awshttp.BuildableClient).WithTransportOptions(func(t *http.Transport) {
		t.ResponseHeaderTimeout = responseTimeout
		t.MaxIdleConnsPerHost = cfg.Parallel
	})
	// The SDK's own client wraps the transport in a type through which idle connections cannot be ended. Its rule for
	// redirects is kept: one that is followed must not carry a session's token to another host.
	transport := built.GetTransport()
	settings.HTTPClient = &http.Client{Transport: sender{transport}, CheckRedirect: built.Freeze().(*http.Client).CheckRedirect}
	s := &Store{
		cfg: cfg, bucket: bucket, root: root,
		client: s3.NewFromConfig(settings, cfg.apply),
		slots:  semaphore.NewWeighted(int64(cfg.Parallel)),
		gate:   gate{first: cfg.Wait, longest: cfg.LongestWait},
		idle:   transport.CloseIdleConnections,
	}
	o := s.client.Options()
	if err := checkEndpoint(o.Region, o.BaseEndpoint); err != nil {
		return nil, fmt.Errorf("settings for %s: %w", cfg.URL, err)
	}
	if o.Region == "" {
		return nil, errors.New("no region: set AWS_REGION, or a region in the AWS profile")
	}
	return s, nil
}

// URL implements store.Store.
func (s *Store) URL() string { return strings.TrimSuffix("s3://"+s.bucket+"/"+s.root, "/") }

// Close ends idle connections. The store may still be used.
func (s *Store) Close() error {
	s.idle()
	return nil
}

// key is the object's name in the bucket.
func (s *Store) key(key string) *string { return aws.String(s.root + key) }

// ErrURL means that a URL is none of a lake on S3.
var ErrURL = errors.New("the URL is none of a lake")

var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$`)

func parseURL(text string) (bucket, root string, err error) {
	rest, ok := strings.CutPrefix(text, "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(bucket, "@:") {
		return "", "", fmt.Errorf("%w: it has a user or password: want s3://bucket or s3://bucket/prefix, and the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", ErrURL)
	}
	if !ok || !bucketName.MatchString(bucket) {
		return "", "", fmt.Errorf("%w: %q: want s3://bucket or s3://bucket/prefix", ErrURL, text)
	}
	if prefix = strings.TrimSuffix(prefix, "/"); prefix == "" {
		return bucket, "", nil
	}
	if err := store.CheckKey(prefix); err != nil {
		return "", "", fmt.Errorf("%w: %q: %w", ErrURL, text, err)
	}
	return bucket, prefix + "/", nil
}

func (c *Config) setDefaults() {
	c.Parallel = orDefault(c.Parallel, 16)
	c.Attempts = orDefault(c.Attempts, 8)
	c.Wait = orDefault(c.Wait, 200*time.Millisecond)
	c.LongestWait = orDefault(c.LongestWait, 30*time.Second)
	c.MultipartAbove = orDefault(c.MultipartAbove, 16<<20)
	c.PartBytes = orDefault(c.PartBytes, 16<<20)
	c.ListPage = orDefault(c.ListPage, 1000)
	c.ReadAhead = orDefault(c.ReadAhead, 1<<20)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

func orDefault[T int | int32 | int64 | time.Duration](value, byDefault T) T {
	if value > 0 {
		return value
	}
	return byDefault
}

// ErrSetting means that a setting of the AWS tools cannot be understood.
var ErrSetting = errors.New("a setting of the AWS tools cannot be understood")

// regionName matches what can be a region of some provider.
var regionName = regexp.MustCompile(`^[^\s"'/]*$`)

// checkEndpoint refuses an endpoint and a region with a slip, before requests fail in eight tries each. The errors do not show the endpoint, which may
// have a password.
func checkEndpoint(region string, endpoint *string) error {
	if !regionName.MatchString(region) {
		return fmt.Errorf("%w: the region %q (AWS_REGION, or that of the AWS profile): want a name without blanks, quotes and slashes", ErrSetting, region)
	}
	if endpoint == nil {
		return nil
	}
	u, err := url.Parse(*endpoint)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil {
		if _, err = strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: the endpoint (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or that of the AWS profile): want a URL such as https://host:9000, without user and password", ErrSetting)
}

// settings returns endpoint, region and credentials.
func (c *Config) settings(ctx context.Context) (aws.Config, error) {
	client := awshttp.NewBuildableClient()
	if s := c.Static; s != nil {
		settings := aws.Config{
			Region: s.Region, BaseEndpoint: aws.String(s.Endpoint), HTTPClient: client,
			Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
		}
		return settings, nil
	}
	// The SDK would write lines of its own on stderr. What it says there is in its errors, too.
	return config.LoadDefaultConfig(ctx, config.WithHTTPClient(client), config.WithLogger(logging.Nop{}))
}

// apply sets what depends on the endpoint, AWS's own or another's. Attempts are counted here, not by the SDK: a
// create-only put must know whether an earlier one may have been applied.
func (c *Config) apply(o *s3.Options) {
	others := o.BaseEndpoint != nil && !isAWS(*o.BaseEndpoint)
	if others && o.Region == "" {
		o.Region = defaultRegion
	}
	o.UsePathStyle = c.PathStyle.or(o.UsePathStyle || o.BaseEndpoint != nil)
	if c.Checksums.or(!others) {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenSupported
	} else {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.APIOptions = append(o.APIOptions, signBody)
	}
	o.Retryer = aws.NopRetryer{}
	o.Logger = logging.Nop{}
	o.DisableLogOutputChecksumValidationSkipped = true
}

// signBody signs the body's SHA-256 over TLS too, where the SDK would omit it. Without another checksum the provider
// checks the body by it, and some providers refuse a put without it.
func signBody(stack *middleware.Stack) error {
	signed := &v4.ComputePayloadSHA256{}
	if _, ok := stack.Finalize.Get(signed.ID()); !ok {
		return nil
	}
	_, err := stack.Finalize.Swap(signed.ID(), signed)
	return err
}

// isAWS says whether an endpoint belongs to AWS, such as that of a private network.
func isAWS(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}
