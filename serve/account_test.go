package serve_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// hashed returns an account whose secret is hashed with a cost.
func hashed(t testing.TB, id, secret string, kind serve.AccountType, cost int) serve.Account {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(secret), cost)
	if err != nil {
		t.Fatal(err)
	}
	return serve.Account{ClientID: id, SecretHash: string(hash), Type: kind}
}

func TestHashedSecrets(t *testing.T) {
	source := newStand()
	long := strings.Repeat("x", 72)
	client := start(t, serve.Config{Source: source, Accounts: []serve.Account{
		hashed(t, "jo+1@example.test", "p=ä:/ %&!", serve.VIP, 4), hashed(t, "costly", "s", serve.VIP, 5), hashed(t, "long", long, serve.VIP, 4), {ClientID: "plain", Secret: "s"},
	}})
	for range 2 { // the second time from the kept digest
		for _, test := range []struct {
			id, secret string
			good       bool
		}{
			{"jo+1@example.test", "p=ä:/ %&!", true},
			{"jo%2B1%40example.test", "p%3D%C3%A4%3A%2F+%25%26%21", true},
			{"jo+1@example.test", "p=ä:/ %&", false},
			{"costly", "s", true},
			{"costly", "", false},
			{"nobody", "s", false},
			{"", "s", false},
			{"long", long, true},
			{"long", long + "y", false},
			{"plain", "s", true},
			{"plain", "t", false},
		} {
			if got := client.newToken(test.id, test.secret) != ""; got != test.good {
				t.Errorf("%s %q: %t", test.id, test.secret, got)
			}
		}
	}
}

func TestTokensEndWithAccountAndKey(t *testing.T) {
	key := func(c string) []byte { return []byte(strings.Repeat(c, serve.MinSigningKey)) }
	at := func(accounts []serve.Account, keys ...[]byte) *client {
		return start(t, serve.Config{Source: newStand(), Accounts: accounts, SigningKeys: keys})
	}
	both := []serve.Account{{ClientID: "demo", Secret: "demo"}, {ClientID: "desk", Secret: "old"}}
	token := at(both, key("a")).newToken("desk", "old")
	for name, test := range map[string]struct {
		client *client
		want   int
	}{
		"a replica":        {at(both, key("a")), 200},
		"a new key":        {at(both, key("b"), key("a")), 200},
		"the old key gone": {at(both, key("b")), 401},
		"the account gone": {at(both[:1], key("a")), 401},
		"a new secret":     {at([]serve.Account{{ClientID: "demo", Secret: "demo"}, {ClientID: "desk", Secret: "new"}}, key("a")), 401},
	} {
		if status, _, body := test.client.get("/v3", "Authorization", "Bearer "+token); status != test.want {
			t.Errorf("%s: %d %s, want %d", name, status, body, test.want)
		}
	}
}

func TestFreeTrial(t *testing.T) {
	source := newStand()
	vip := start(t, serve.Config{Source: source, Accounts: append(serve.BuiltinAccounts(), serve.Account{ClientID: "free", Secret: "free", Type: serve.FreeTrial})})
	trial := *vip
	trial.token = vip.newToken("free", "free")
	for _, feed := range api.Feeds() {
		all := vip.ids(feed, feed.Path()+"?pageSize=3")
		want := all
		if feed.Kind == api.Priced {
			want = "8 7" // two years back from the epoch, 2026-01-05
		}
		if got := trial.ids(feed, feed.Path()+"?pageSize=1"); got != want || all != "8 7 6 5 4 3 2 1" {
			t.Errorf("%s: a trial sees %q of %q, want %q", feed, got, all, want)
		}
		for id := range int64(9) {
			status, header, body := trial.get(feed.DealPath(id))
			switch {
			case id == 0:
				wantError(t, feed.DealPath(id), 404, status, header, body)
			case feed.Kind == api.Priced && id < 7:
				wantError(t, feed.DealPath(id), 403, status, header, body)
			case status != http.StatusOK:
				t.Errorf("%s: %d %s", feed.DealPath(id), status, body)
			}
		}
	}
	status, _, body := trial.get(setA.Path() + "?pricingDateTo=2023-12-31")
	if status != 200 || !strings.HasPrefix(string(body), `{"_embedded":{"pricedDeals":[]}`) {
		t.Errorf("outside the two years: %d %s", status, body)
	}
	source.now = epoch.AddDate(0, 0, -4) // 2026-01-01: 2024-01-02 is inside
	if got := trial.ids(setA, setA.Path()); got != "8 7 6" {
		t.Errorf("four days earlier a trial sees %q", got)
	}
}

func TestRateLimits(t *testing.T) {
	for _, asDate := range []bool{false, true} {
		client := start(t, serve.Config{Source: newStand(), RetryAfterDate: asDate, Accounts: []serve.Account{
			{ClientID: "demo", Secret: "demo"}, {ClientID: "slow", Secret: "slow", Rate: 0.01, Burst: 3},
		}})
		slow := *client
		slow.token = client.newToken("slow", "slow") // takes the first of three
		for i := range 5 {
			status, header, body := slow.get("/v3")
			if i < 2 {
				if status != 200 {
					t.Errorf("request %d: %d %s", i, status, body)
				}
				continue
			}
			wantError(t, fmt.Sprint("request ", i), 429, status, header, body)
			after := header.Get("Retry-After")
			if seconds, err := strconv.Atoi(after); !asDate && (err != nil || seconds < 90 || seconds > 100) {
				t.Errorf("Retry-After: %q", after)
			}
			if at, err := http.ParseTime(after); asDate && (err != nil || at.Before(epoch.Add(90*time.Second)) || at.After(epoch.Add(102*time.Second))) {
				t.Errorf("Retry-After: %q (%v)", after, err)
			}
		}
		status, _, _ := client.askToken("slow", "slow", "text/plain", "", "?grant_type=client_credentials")
		if status != 429 {
			t.Errorf("a token: %d", status)
		}
		if status, _, _ := client.get("/v3"); status != 200 {
			t.Errorf("another account: %d", status)
		}
	}
}

const goodAccounts = `accounts:
  - client_id: desk@example.com
    secret_hash: $2a$04$abcdefghijklmnopqrstuuJjJjJjJjJjJjJjJjJjJjJjJjJjJjJjJ
    type: vip
  - {client_id: trial, secret_hash: $2y$04$abcdefghijklmnopqrstuuJjJjJjJjJjJjJjJjJjJjJjJjJjJjJjJ, type: free_trial, rate: 0.5, burst: 3}
  - {client_id: free, secret_hash: $2b$04$abcdefghijklmnopqrstuuJjJjJjJjJjJjJjJjJjJjJjJjJjJjJjJ, type: vip, rate: 0}
`

func TestParseAccounts(t *testing.T) {
	list, err := serve.ParseAccounts([]byte(goodAccounts))
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for i, want := range []serve.Account{{Type: serve.VIP, Rate: 20, Burst: 100}, {Type: serve.FreeTrial, Rate: 0.5, Burst: 3}, {Type: serve.VIP}} {
		if got := list[i]; got.Type != want.Type || got.Rate != want.Rate || got.Burst != want.Burst {
			t.Errorf("account %d: %+v", i, got)
		}
	}
	const hash = `secret_hash: $2a$04$abcdefghijklmnopqrstuuJjJjJjJjJjJjJjJjJjJjJjJjJjJjJjJ`
	for name, text := range map[string]string{
		"empty":         "",
		"no list":       "accounts: 5",
		"no accounts":   "accounts: []",
		"a plain one":   "accounts: [{client_id: a, secret: canary, type: vip}]",
		"unknown name":  "accounts: [{client_id: a, " + hash + ", type: vip, canary: 1}]",
		"no type":       "accounts: [{client_id: a, " + hash + "}]",
		"another type":  "accounts: [{client_id: a, " + hash + ", type: gold}]",
		"no hash":       "accounts: [{client_id: a, type: vip}]",
		"a bad hash":    "accounts: [{client_id: a, secret_hash: canary, type: vip}]",
		"a costly hash": "accounts: [{client_id: a, secret_hash: $2a$31$abcdefghijklmnopqrstuuJjJjJjJjJjJjJjJjJjJjJjJjJjJjJjJ, type: vip}]",
		"a colon":       "accounts: [{client_id: 'a:b', " + hash + ", type: vip}]",
		"twice":         "accounts: [{client_id: a, " + hash + ", type: vip}, {client_id: a, " + hash + ", type: vip}]",
		"rate":          "accounts: [{client_id: a, " + hash + ", type: vip, rate: -1}]",
		"no number":     "accounts: [{client_id: a, " + hash + ", type: vip, rate: .nan}]",
		"two documents": goodAccounts + "---\naccounts: []",
	} {
		if list, err := serve.ParseAccounts([]byte(text)); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

func TestHashSecret(t *testing.T) {
	hash, err := serve.HashSecret("s")
	if err != nil || bcrypt.CompareHashAndPassword([]byte(hash), []byte("s")) != nil {
		t.Errorf("%s, %v", hash, err)
	}
	for _, secret := range []string{"", strings.Repeat("x", 73)} {
		if _, err := serve.HashSecret(secret); err == nil {
			t.Errorf("%q has a hash", secret)
		}
	}
}
