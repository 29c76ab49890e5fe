package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"dealflow/serve"
	"dealflow/serve/sim"
)

type serveOptions struct {
	sim    bool
	listen string
	seed   uint64
	deals  int
	start  string
	speed  float64
}

func newServe(a *app) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the deal-flow API over HTTP, from a simulated market",
		Long: `serve --sim answers the whole deal-flow API from a simulated market: invented deals that are
announced, priced, edited and removed as time goes on. The account is demo, its secret demo.

The market's time starts at --start (default: now) and runs --speed times as fast as real time;
the Date header follows it. Pull from it with:

  DEALFLOW_CLIENT_ID=demo DEALFLOW_CLIENT_SECRET=demo dealflow run --api http://127.0.0.1:8900`,
		Example: `  dealflow serve --sim
  dealflow serve --sim --seed 7 --deals 5000 --start 2026-03-02T08:00:00Z --speed 3600`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.sim, "sim", false, "serve a simulated market")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8900", "address to listen on; loopback only")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the simulated market")
	flags.IntVar(&o.deals, "deals", 200, "priced deals standing in each market at the start")
	flags.StringVar(&o.start, "start", "", "where the market's time starts, such as 2026-03-02T08:00:00Z (default: now)")
	flags.Float64Var(&o.speed, "speed", 1, "how much faster than real time the market's time runs; 0: it stands still")
	return cmd
}

func runServe(ctx context.Context, a *app, o serveOptions) error {
	if !o.sim {
		return usagef("say what to serve: --sim")
	}
	start := a.Now().UTC()
	if o.start != "" {
		var err error
		if start, err = time.Parse(time.RFC3339, o.start); err != nil {
			return usagef("--start %q: want an instant such as 2026-03-02T08:00:00Z", o.start)
		}
	}
	if o.deals < 1 || o.speed < 0 {
		return usagef("--deals must be at least 1, and --speed not less than 0")
	}
	listener, err := listenLoopback(ctx, o.listen)
	if err != nil {
		return err
	}
	// The market's history starts at midnight, so that a server started twice on a day shows the same
	// deals.
	market := sim.New(sim.Config{Seed: o.seed, Deals: o.deals, Epoch: start.Truncate(24 * time.Hour), Clock: sim.RealClock(start, o.speed)})
	server, err := serve.New(serve.Config{Source: market, Log: a.logger()})
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	fmt.Fprintf(a.Stderr, `serving a simulated market (seed %d) on %s, account demo, secret demo; its time is %s
  token=$(curl -s -u demo:demo -d grant_type=client_credentials %s/oauth/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
  curl -s -H "Authorization: Bearer $token" "%s/v3/bond/ig/priced-deal?pageSize=1"
`, o.seed, url, market.Now().Format(time.RFC3339), url, url)
	return server.Serve(ctx, listener)
}

// listenLoopback listens on this machine only: the built-in account is no secret.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("--listen %q: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usagef("--listen %s: only loopback addresses, because the account demo with the secret demo is known to all", address)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}
