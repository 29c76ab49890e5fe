package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/logs"
	"dealflow/internal/metrics"
	"dealflow/load"
	"dealflow/load/iceberg/rest"
	"dealflow/serve"
	"dealflow/serve/sim"
)

type serveOptions struct {
	sim    bool
	seed   uint64
	deals  int
	years  int
	quirks string
	faults string
	start  string
	speed  float64
	asOf   string

	listen     string
	baseURL    string
	accounts   string
	tlsCert    string
	tlsKey     string
	retryAfter string
	accessLog  bool

	behindProxy  bool
	insecureHTTP bool
}

func newServe(a *app) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API over HTTP, from a simulated market or from the lake",
		Long: `serve serves the complete API over HTTP: from a simulated market, or from a lake as of any instant.
To try it, serve a market in one terminal and pull from it in another:

  dealflow serve --sim
  DEALFLOW_CLIENT_ID=demo DEALFLOW_CLIENT_SECRET=demo dealflow run --api http://127.0.0.1:8900

/docs and /openapi.json describe the API.

A simulated market (--sim) has invented deals that are announced, priced, edited and removed. Its
time starts at --start and runs --speed times as fast as real time. The Date header shows that time.
POST /_sim/advance?by=24h moves the time forward.

` + quirksHelp() + `
` + faultsHelp() + `
A parameter that the API does not know is ignored: the answer names it in the header
Dealflow-Ignored, and the log in a line. With --strict the answer is 400.

A lake (--lake) is served as of now, and follows every commit. With --as-of it is served as it was
known at that instant. A client can also choose the instant by its base URL: everything under
…/as-of/2026-11-01T06:00:00Z is as it was known then, links included.

Without --accounts there are two accounts, and the server listens on loopback only: demo with the
secret demo (VIP), and trial with the secret trial (Free Trial, 10 requests per second).

With --accounts FILE the server may listen on any address: beyond loopback with --tls-cert, or with
--behind-proxy if a proxy with TLS is in front of it, or with --insecure-http if secrets and data may
cross the network unencrypted. /metrics, /iceberg and /_sim/advance then need a token, on loopback too. It needs a key that signs tokens and
cursors: DEALFLOW_SIGNING_KEY, or DEALFLOW_SIGNING_KEY_FILE with one key a line, the newest first.
A key has at least 32 characters: openssl rand -base64 32 prints one. The file has this form:

  accounts:
    - client_id: desk@example.com
      secret_hash: $2a$10$...   # from: dealflow serve hash-secret, or htpasswd -nBC 10
      type: vip                 # or free_trial
      rate: 20                  # requests per second, 0 for no limit
      burst: 100                # requests at once`,
		Example: `  dealflow serve --sim
  dealflow serve --lake lake --as-of 2026-11-01T06:00:00Z
  dealflow serve --sim --seed 7 --deals 5000 --start 2026-03-02T08:00:00Z --speed 3600
  dealflow serve --sim --listen 0.0.0.0:8443 --accounts accounts.yaml --tls-cert cert.pem --tls-key key.pem`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			lake := cmd.Flags().Lookup("lake")
			named := lake.Changed || o.asOf != "" || !o.sim && lake.Value.String() != lake.DefValue
			if o.sim == named {
				return usagef("want --sim, or --lake with or without --as-of")
			}
			for _, name := range []string{"seed", "deals", "years", "quirks", "start"} {
				if named && cmd.Flag(name).Changed {
					return usagef("--%s is of a simulated market, and the lake is served: leave it out, or --lake and --as-of", name)
				}
			}
			return runServe(cmd.Context(), a, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.sim, "sim", false, "serve a simulated market")
	flags.StringVar(&o.asOf, "as-of", "", "serve the lake as it was known at this instant, such as 2026-11-01T06:00:00Z")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the simulated market")
	flags.IntVar(&o.deals, "deals", 600, "number of priced deals in each market at the start, in its two years of history")
	flags.IntVar(&o.years, "years", 0, "years of deals before the start, in markets of real size; 0: two years of the small market of --deals")
	flags.StringVar(&o.faults, "faults", "", "answers that go wrong on purpose: a share of all of them, such as 0.02, or kinds with their rates, such as 500=0.01,badjson=0.01")
	flags.StringVar(&o.quirks, "quirks", "usual", "oddities of the simulated market: usual, all, none, or names from the list above, such as undated,dangling=0.1")
	annotate(flags.Lookup("faults"), listFlag)
	annotate(flags.Lookup("quirks"), listFlag)
	flags.StringVar(&o.start, "start", "", "start of the market's time, such as 2026-03-02T08:00:00Z (default: now)")
	flags.Float64Var(&o.speed, "speed", 1, "speed of the market's time, as a multiple of real time; 0 stops it")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8900", "address to listen on; loopback only without --accounts")
	flags.StringVar(&o.baseURL, "base-url", "", "base URL of all links, for clients that connect through a proxy (default: the host of each request)")
	flags.StringVar(&o.accounts, "accounts", "", "accounts file (YAML)")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "certificate chain (PEM); turns https on")
	flags.StringVar(&o.tlsKey, "tls-key", "", "key of the certificate (PEM)")
	flags.BoolVar(&o.behindProxy, "behind-proxy", false, "all requests come through a proxy: connections are not limited by address, clients are told apart by the last address of X-Forwarded-For")
	flags.BoolVar(&o.insecureHTTP, "insecure-http", false, "listen beyond loopback without TLS")
	flags.StringVar(&o.retryAfter, "retry-after", "seconds", "form of Retry-After: seconds or date")
	flags.BoolVar(&o.accessLog, "access-log", false, "log every request")
	cmd.AddCommand(newHashSecret(a))
	return cmd
}

// quirksHelp describes --quirks.
func quirksHelp() string {
	var usual, others strings.Builder
	for _, quirk := range sim.ListQuirks() {
		if quirk.Breaks == "" {
			fmt.Fprintf(&usual, "  %-17s %s\n", quirk.Name, quirk.About)
		} else {
			fmt.Fprintf(&others, "  %-17s %s; it breaks %s\n", quirk.Name, quirk.About, quirk.Breaks)
		}
	}
	return `--quirks names the oddities that the market shows, each with a rate from 0 to 1 if wanted:
usual,dangling=0.1. The usual ones keep to the API's document. Some of their texts have U+0000, which the
document allows and a column cannot contain: run reports it as drift (misfit).

` + usual.String() + `
These break something, and are off unless they are named:

` + others.String()
}

// faultsHelp describes --faults.
func faultsHelp() string {
	var lines strings.Builder
	kinds, about := serve.ListFaults()
	for i, kind := range kinds {
		fmt.Fprintf(&lines, "  %-17s %s\n", kind, about[i])
	}
	return `--faults 0.02 makes two in a hundred answers go wrong, spread evenly over these kinds; kinds are
chosen by their names, as in --faults 500=0.01,badjson=0.01:

` + lines.String()
}

func runServe(ctx context.Context, a *app, o serveOptions) (err error) {
	config, err := a.serveConfig(ctx, o)
	if err != nil {
		return err
	}
	open := a.openLakeMarket
	if o.sim {
		open = a.openSimMarket
	}
	name, closeAll, err := open(ctx, o, &config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	config.Registry = metrics.NewRegistry(version())
	if !o.sim && o.asOf == "" {
		where, err := a.settings.store(ctx)
		if err != nil {
			return err
		}
		if err := config.Registry.Register(a.lakeMetrics(where)); err != nil {
			return err
		}
		config.Tables = rest.New(rest.Config{Store: where, Log: config.Log})
	}
	server, err := serve.New(config)
	if err != nil {
		return usagef("%w", err)
	}
	listener, err := o.binding().listen(ctx)
	if err != nil {
		return err
	}
	a.greet(o, name, config, listener.Addr())
	return server.Serve(ctx, listener)
}

// serveConfig returns the server's configuration without its market.
func (a *app) serveConfig(ctx context.Context, o serveOptions) (serve.Config, error) {
	config := serve.Config{BaseURL: o.baseURL, BehindProxy: o.behindProxy, Log: a.serveLog(o), Strict: a.settings.strict, RetryAfterDate: o.retryAfter == "date"}
	var err error
	if config.Faults, err = serve.ParseFaults(o.seed, o.faults); err != nil {
		return config, usagef("--faults: %w", err)
	}
	if config.SigningKeys, err = a.signingKeys(ctx); err != nil {
		return config, err
	}
	if o.accounts != "" {
		if config.Accounts, err = readAccounts(o.accounts); err != nil {
			return config, err
		}
		if len(config.SigningKeys) == 0 {
			return config, usagef("--accounts needs a signing key: set DEALFLOW_SIGNING_KEY, DEALFLOW_SIGNING_KEY_FILE or DEALFLOW_SIGNING_KEY_COMMAND (`openssl rand -base64 32` makes one)")
		}
	}
	config.TLS, err = tlsOf(o.tlsCert, o.tlsKey)
	return config, err
}

// tlsOf reads a certificate and its key. It returns nil without them.
func tlsOf(cert, key string) (*tls.Config, error) {
	if (cert == "") != (key == "") {
		return nil, usagef("want both --tls-cert and --tls-key, got only one")
	}
	if cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, usagef("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// openLakeMarket sets the lake as the market to serve, and returns its description.
func (a *app) openLakeMarket(ctx context.Context, o serveOptions, config *serve.Config) (name string, closeAll func() error, err error) {
	config.Source, closeAll, err = a.lakeMarket(ctx, o.asOf)
	if errors.Is(err, load.ErrNoLake) {
		return "", nil, fmt.Errorf("%w; `dealflow serve --sim` serves a simulated market", err)
	}
	if err != nil {
		return "", nil, err
	}
	if o.asOf != "" {
		return "the lake " + a.settings.lake + " as of " + o.asOf, closeAll, nil
	}
	return "the lake " + a.settings.lake, closeAll, nil
}

// openSimMarket sets a simulated market as the market to serve, and returns its description.
func (a *app) openSimMarket(_ context.Context, o serveOptions, config *serve.Config) (name string, closeAll func() error, err error) {
	start := a.Now().UTC()
	if o.start != "" {
		if start, err = time.Parse(time.RFC3339, o.start); err != nil {
			return "", nil, usagef("--start %q: want an instant such as 2026-03-02T08:00:00Z", o.start)
		}
	}
	// The market's history starts at midnight, so that two servers started on one day have the same deals.
	shape := sim.Config{Seed: o.seed, Years: o.years, Epoch: start.Truncate(24 * time.Hour), Clock: sim.RealClock(start, o.speed)}
	if o.years == 0 {
		shape.Deals, shape.Years = o.deals, demoYears
	}
	quirks, err := sim.ParseQuirks(o.quirks)
	if err != nil {
		return "", nil, usagef("--quirks: %w", err)
	}
	shape.Quirks = &quirks
	market := sim.New(shape)
	config.Source = market
	if len(config.SigningKeys) == 0 {
		// The key depends only on the seed, so that servers of the same market accept each other's cursors. Its
		// accounts are not secret.
		key := sha256.Sum256(fmt.Appendf(nil, "simulated market %d", o.seed))
		config.SigningKeys = [][]byte{key[:]}
	}
	name = fmt.Sprintf("a simulated market (seed %d); its time is %s", o.seed, market.Now().Format(time.RFC3339))
	return name, func() error { return nil }, nil
}

// serveLog returns the server's log, which includes every request with --access-log.
func (a *app) serveLog(o serveOptions) *slog.Logger {
	if o.accessLog && !a.settings.verbose {
		return a.sink.Logger(slog.LevelInfo)
	}
	return a.logger()
}

// greet prints the server's address, and on a terminal commands to try it.
func (a *app) greet(o serveOptions, name string, config serve.Config, address net.Addr) {
	url := "http://" + address.String()
	if config.TLS != nil {
		url = "https://" + address.String()
	}
	if o.baseURL != "" {
		url = o.baseURL
	}
	accounts, credentials := o.accounts, `"$CLIENT_ID:$CLIENT_SECRET"`
	if o.accounts == "" {
		accounts, credentials = "demo, secret demo (VIP); trial, secret trial (Free Trial)", "demo:demo"
	}
	text := fmt.Sprintf("serving %s at %s, described at %s/docs; accounts: %s", name, url, url, accounts)
	if a.sink.Terminal {
		text += fmt.Sprintf(`
  token=$(curl -s -u %s -d grant_type=client_credentials %s/oauth/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
  curl -s -H "Authorization: Bearer $token" "%s/v3/bond/ig/priced-deal?pageSize=1"`, credentials, url, url)
	}
	a.say().Info("serving", "market", name, "url", url, "accounts", accounts, logs.Text("%s", text))
	if o.insecureHTTP && config.TLS == nil {
		a.say().Warn("serving without TLS", logs.Text("--insecure-http: secrets and tokens cross the network unencrypted"))
	}
}

// binding says where the API is served. Its built-in accounts have secrets that all know.
func (o serveOptions) binding() binding {
	return binding{
		address: o.listen, guarded: o.accounts != "", encrypted: o.tlsCert != "" || o.behindProxy, insecure: o.insecureHTTP,
		unguarded: "want a loopback address without --accounts, because the accounts demo and trial are public",
		exposed:   "secrets and tokens",
	}
}
