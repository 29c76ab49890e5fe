package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"dealflow/serve"
	"dealflow/serve/sim"
)

// A simulated market, served on a port of this machine until the context ends.
func Example() {
	clock := sim.NewManualClock(time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC))
	market := sim.New(sim.Config{Seed: 1, Deals: 20, Clock: clock.Now})
	server, err := serve.New(serve.Config{Source: market})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, listener) }()

	request, err := http.NewRequest(http.MethodPost, "http://"+listener.Addr().String()+"/oauth/token?grant_type=client_credentials", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth("demo", "demo")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	var token struct {
		Type      string `json:"token_type"`
		ExpiresIn int    `json:"expires_in"`
	}
	err = errors.Join(json.NewDecoder(response.Body).Decode(&token), response.Body.Close())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Header.Get("Date"))
	fmt.Println(token.Type, token.ExpiresIn)

	stop()
	fmt.Println(<-done)
	// Output:
	// Mon, 05 Jan 2026 09:00:00 GMT
	// Bearer 3600
	// <nil>
}
