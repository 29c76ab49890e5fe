package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"dealflow/load"
	"dealflow/serve"
	"dealflow/serve/sim"
)

type serveOptions struct {
	sim    bool
	seed   uint64
	deals  int
	years  int
	quirks bool
	faults float64
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
}

func newServe(a *app) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the deal-flow API over HTTP, from the lake or from a simulated market",
		Long: `serve answers the whole deal-flow API from the lake: as it is now, on with every commit; or, with
--as-of, as it was known at an instant. Any client of the API becomes a time machine by its base URL:
under …/as-of/2026-11-01T06:00:00Z everything is as it was known then, links included.

serve --sim answers from a simulated market instead: invented deals that are announced, priced, edited
and removed as time goes on. Its time starts at --start (default: now) and runs --speed times as fast
as real time; the Date header follows it. On loopback, POST /_sim/advance?by=24h moves it on.

Without --accounts there are two accounts, on loopback only: demo with the secret demo (VIP), and trial
with the secret trial (Free Trial, 10 requests per second). With --accounts FILE any address may be
listened on, and the key that signs tokens and cursors must be set: DEALFLOW_SIGNING_KEY, or
DEALFLOW_SIGNING_KEY_FILE, one key a line, the newest first, each of at least 32 characters (such as
those of: openssl rand -base64 32). The file:

  accounts:
    - client_id: desk@example.com
      secret_hash: $2a$10$...   # from: dealflow serve hash-secret, or htpasswd -nBC 10
      type: vip                 # or free_trial
      rate: 20                  # requests per second, 0 for no limit
      burst: 100                # requests at once

The API is described at /docs and /openapi.json. Pull from it with:

  DEALFLOW_CLIENT_ID=demo DEALFLOW_CLIENT_SECRET=demo dealflow run --api http://127.0.0.1:8900`,
		Example: `  dealflow serve --sim
  dealflow serve --lake lake --as-of 2026-11-01T06:00:00Z
  dealflow serve --sim --seed 7 --deals 5000 --start 2026-03-02T08:00:00Z --speed 3600
  dealflow serve --sim --listen 0.0.0.0:8443 --accounts accounts.yaml --tls-cert cert.pem --tls-key key.pem`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			lake := cmd.Flags().Lookup("lake")
			named := lake.Changed || o.asOf != "" || !o.sim && lake.Value.String() != lake.DefValue
			if o.sim == named {
				return usagef("say what to serve: --sim, or --lake with or without --as-of")
			}
			return runServe(cmd.Context(), a, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.sim, "sim", false, "serve a simulated market")
	flags.StringVar(&o.asOf, "as-of", "", "serve the lake as it was known at this instant, such as 2026-11-01T06:00:00Z")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the simulated market")
	flags.IntVar(&o.deals, "deals", 200, "priced deals standing in each market at the start")
	flags.IntVar(&o.years, "years", 0, "years of history behind the start, at the size of the real markets; 0: the small market of --deals")
	flags.Float64Var(&o.faults, "faults", 0, "rate, 0 to 1, at which answers go wrong on purpose: 500, 429, broken bodies, expired tokens and cursors, odd links")
	flags.BoolVar(&o.quirks, "quirks", true, "deals are as awkward to read as real ones")
	flags.StringVar(&o.start, "start", "", "where the market's time starts, such as 2026-03-02T08:00:00Z (default: now)")
	flags.Float64Var(&o.speed, "speed", 1, "how much faster than real time the market's time runs; 0: it stands still")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8900", "address to listen on; loopback only without --accounts")
	flags.StringVar(&o.baseURL, "base-url", "", "base URL of all links, where clients come through a proxy (default: as each request names the host)")
	flags.StringVar(&o.accounts, "accounts", "", "accounts file (YAML)")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "certificate chain (PEM): speak https")
	flags.StringVar(&o.tlsKey, "tls-key", "", "key of the certificate (PEM)")
	flags.StringVar(&o.retryAfter, "retry-after", "seconds", "form of Retry-After: seconds or date")
	flags.BoolVar(&o.accessLog, "access-log", false, "log every request")
	cmd.AddCommand(newHashSecret(a))
	return cmd
}

func runServe(ctx context.Context, a *app, o serveOptions) (err error) {
	config, err := a.serveConfig(o)
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
	server, err := serve.New(config)
	if err != nil {
		return usagef("%w", err)
	}
	listener, err := listen(ctx, o)
	if err != nil {
		return err
	}
	a.greet(o, name, config, listener.Addr())
	return server.Serve(ctx, listener)
}

// serveConfig returns the server's configuration without its market.
func (a *app) serveConfig(o serveOptions) (serve.Config, error) {
	config := serve.Config{BaseURL: o.baseURL, Log: a.serveLog(o), RetryAfterDate: o.retryAfter == "date"}
	if o.retryAfter != "seconds" && o.retryAfter != "date" {
		return config, usagef("--retry-after %q: want seconds or date", o.retryAfter)
	}
	if o.faults < 0 || o.faults > 1 {
		return config, usagef("--faults %v: want a rate from 0 to 1", o.faults)
	}
	config.Faults = serve.AllFaults(o.seed, o.faults)
	var err error
	if config.SigningKeys, err = a.signingKeys(); err != nil {
		return config, err
	}
	if o.accounts != "" {
		if config.Accounts, err = readAccounts(o.accounts); err != nil {
			return config, err
		}
		if len(config.SigningKeys) == 0 {
			return config, usagef("--accounts needs a signing key: set DEALFLOW_SIGNING_KEY or DEALFLOW_SIGNING_KEY_FILE (one to use: openssl rand -base64 32)")
		}
	}
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return config, usagef("--tls-cert and --tls-key belong together")
	}
	if o.tlsCert != "" {
		pair, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
		if err != nil {
			return config, usagef("--tls-cert, --tls-key: %w", err)
		}
		config.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	return config, nil
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
	if o.deals < 1 || o.years < 0 || o.speed < 0 {
		return "", nil, usagef("--deals must be at least 1, --years and --speed not less than 0")
	}
	// The market's history starts at midnight, so that two servers started on one day have the same deals.
	shape := sim.Config{Seed: o.seed, Deals: o.deals, Years: o.years, Epoch: start.Truncate(24 * time.Hour), Clock: sim.RealClock(start, o.speed)}
	if !o.quirks {
		shape.Quirks = &sim.Quirks{}
	}
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
	if !o.accessLog {
		return a.logger()
	}
	return slog.New(slog.NewJSONHandler(a.Stderr, nil))
}

// greet prints the server's address and commands to try it.
func (a *app) greet(o serveOptions, name string, config serve.Config, address net.Addr) {
	url := "http://" + address.String()
	if config.TLS != nil {
		url = "https://" + address.String()
	}
	if o.baseURL != "" {
		url = o.baseURL
	}
	accounts, credentials := "accounts: "+o.accounts, `"$CLIENT_ID:$CLIENT_SECRET"`
	if o.accounts == "" {
		accounts, credentials = "accounts: demo, secret demo (VIP); trial, secret trial (Free Trial)", "demo:demo"
	}
	fmt.Fprintf(a.Stderr, `serving %s
at %s, described at %s/docs
%s
  token=$(curl -s -u %s -d grant_type=client_credentials %s/oauth/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
  curl -s -H "Authorization: Bearer $token" "%s/v3/bond/ig/priced-deal?pageSize=1"
`, name, url, url, accounts, credentials, url, url)
	if tcp, ok := address.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && config.TLS == nil {
		fmt.Fprintln(a.Stderr, "warning: without --tls-cert secrets and tokens cross the network in the clear; put something that speaks TLS before this server")
	}
}

// listen opens the listener. With the built-in accounts, whose secrets are public, it accepts only loopback addresses.
func listen(ctx context.Context, o serveOptions) (net.Listener, error) {
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return nil, usagef("--listen %q: %w", o.listen, err)
	}
	if ip, err := netip.ParseAddr(host); o.accounts == "" && host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return nil, usagef("--listen %s: without --accounts only loopback addresses, because the accounts demo and trial are known to all", o.listen)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
}
