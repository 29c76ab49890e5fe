package bench_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// asMarket makes the test's own program serve a market, which the variable describes.
const asMarket = "TEST_BENCH_MARKET"

// size is a market to measure on.
type size struct {
	Name     string
	Deals    int     // priced deals of each of the six markets
	Expected int     // expected deals of each
	PerDay   float64 // announcements a day in each
	Years    int     // of history; if not 0, the fields above have no meaning

	Delay time.Duration // before each answer to a measured program
}

// The first night is a Saturday's, and the next, a Sunday's, is a usual one, in which about one deal of two
// hundred changes: on a working day of a simulated market as many change as are announced, priced and edited in a
// month of a real one.
const firstNight = 5

var epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// sizes are those that are measured: the published ones, or one that is soon done, or under -short one that is done
// at once. TEST_SIZES names some of the published.
func sizes() []size {
	if testing.Short() {
		return []size{{Name: "30", Deals: 30, Expected: 3, PerDay: 1}}
	}
	if os.Getenv("TEST_FULL") == "" {
		return []size{{Name: "300", Deals: 300, Expected: 30, PerDay: 1}}
	}
	all := []size{
		{Name: "1k", Deals: 1000, Expected: 100, PerDay: 1},
		{Name: "10k", Deals: 10_000, Expected: 1000, PerDay: 5},
		{Name: "50k", Deals: 50_000, Expected: 5000, PerDay: 25},
		{Name: "15years", Years: 15},
	}
	if only := os.Getenv("TEST_SIZES"); only != "" {
		var some []size
		for _, s := range all {
			if strings.Contains(","+only+",", ","+s.Name+",") {
				some = append(some, s)
			}
		}
		return some
	}
	return all
}

func TestMain(m *testing.M) {
	var err error
	if described := os.Getenv(asMarket); described != "" {
		err = serveMarket(described, os.Stdin, os.Stdout)
	} else if described := os.Getenv(asLauncher); described != "" {
		err = launch(described)
	} else {
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveMarket serves until stdin ends. It prints its address, and after each line with the number of a
// night, once the pages of that night's evening are ready, a line that lists them.
func serveMarket(described string, in io.Reader, out io.Writer) error {
	var s size
	if err := json.Unmarshal([]byte(described), &s); err != nil {
		return err
	}
	clock := sim.NewManualClock(epoch)
	server, err := serve.New(serve.Config{Source: sim.New(sim.Config{
		Seed: 1, Epoch: epoch, Clock: clock.Now, Deals: s.Deals, Expected: s.Expected, PerDay: s.PerDay, Years: s.Years, CacheBytes: 4 << 30,
	})})
	if err != nil {
		return err
	}
	recorder := newRecorder(server.Handler())
	var measured atomic.Bool
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if measured.Load() {
			time.Sleep(s.Delay) // the distance that is to be measured
		}
		recorder.ServeHTTP(w, r)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String()
	go func() { _ = http.Serve(listener, handler) }()
	fmt.Fprintln(out, address)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		night, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		clock.Set(epoch.AddDate(0, 0, night).Add(22 * time.Hour))
		recorder.reset()
		measured.Store(false)
		pages, err := walk(address)
		if err != nil {
			return err
		}
		measured.Store(true)
		if err := json.NewEncoder(out).Encode(pages); err != nil {
			return err
		}
	}
	return lines.Err()
}

// listPages are the addresses of one list's pages.
type listPages struct {
	Feed  api.Feed
	URLs  []string
	Bytes int64 // of JSON
}

// walk asks for every page of all lists, compressed and not.
func walk(address string) ([]listPages, error) {
	c, err := newBareClient(address)
	if err != nil {
		return nil, err
	}
	var lists []listPages
	for _, feed := range api.Feeds() {
		list := listPages{Feed: feed}
		for url := address + feed.Path() + "?pageSize=1000"; url != ""; {
			if _, err := c.get(url, true); err != nil {
				return nil, err
			}
			body, err := c.get(url, false)
			if err != nil {
				return nil, err
			}
			page, err := api.SplitPage(body, feed)
			if err != nil {
				return nil, err
			}
			list.URLs, list.Bytes = append(list.URLs, url), list.Bytes+int64(len(body))
			url = page.Next
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// market is a market that another process serves.
type market struct {
	address string
	in      io.WriteCloser
	out     *bufio.Reader
}

// newMarket starts one, which ends with the benchmark.
func newMarket(b *testing.B, s size) *market {
	b.Helper()
	described, err := json.Marshal(s)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asMarket+"="+string(described))
	cmd.Stderr = os.Stderr
	m := &market{}
	m.in, err = cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := m.in.Close(); err != nil {
			b.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	m.out = bufio.NewReader(out)
	m.address = strings.TrimSpace(m.line(b))
	return m
}

func (m *market) line(b *testing.B) string {
	b.Helper()
	line, err := m.out.ReadString('\n')
	if err != nil {
		b.Fatalf("the market's server: %v", err)
	}
	return line
}

// night brings the market to the evening of a day and gives its pages.
func (m *market) night(b *testing.B, day int) []listPages {
	b.Helper()
	if _, err := fmt.Fprintln(m.in, day); err != nil {
		b.Fatal(err)
	}
	var lists []listPages
	if err := json.Unmarshal([]byte(m.line(b)), &lists); err != nil {
		b.Fatal(err)
	}
	return lists
}
