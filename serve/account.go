package serve

import (
	"cmp"
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/time/rate"
)

// AccountType says what an account may see (API document, Limits).
type AccountType string

// The account types.
const (
	VIP       AccountType = "vip"        // everything
	FreeTrial AccountType = "free_trial" // of priced deals the last two years only
)

// trialYears is how far back a Free Trial account sees priced deals.
const trialYears = 2

// Account is a client of the API: the account's name and password, and what it may do.
type Account struct {
	// ClientID is the account's name. It must not hold a colon, which ends the id in HTTP Basic.
	ClientID string

	// Secret is the account's password as it is. For built-in and test accounts only: one of Secret
	// and SecretHash is required.
	Secret string

	// SecretHash is the bcrypt hash of the account's password, as HashSecret makes it.
	SecretHash string

	// Type defaults to VIP.
	Type AccountType

	// Rate is the number of requests per second that the account may make for long. Defaults to no
	// limit.
	Rate float64

	// Burst is the number of requests that it may make at once. Defaults to twice the Rate, at
	// least 1.
	Burst int
}

// longestSecret is where bcrypt stops reading.
const longestSecret = 72

// HashSecret is the form in which an accounts file keeps a secret.
func HashSecret(secret string) (string, error) {
	if secret == "" {
		return "", errors.New("the secret is empty")
	}
	if len(secret) > longestSecret {
		return "", fmt.Errorf("the secret has %d bytes: bcrypt reads %d at most", len(secret), longestSecret)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(secret), bcrypt.DefaultCost)
	return string(hash), err
}

// validate gives the account's faults.
func (a Account) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if a.ClientID == "" || len(a.ClientID) > 256 || strings.ContainsFunc(a.ClientID, func(r rune) bool { return r == ':' || unicode.IsControl(r) }) {
		fault("the client id must have 1 to 256 bytes, no colon and no control characters")
	}
	switch {
	case a.Secret == "" && a.SecretHash == "":
		fault("a secret is required")
	case a.Secret != "" && a.SecretHash != "":
		fault("give the secret or its hash, not both")
	case a.SecretHash != "":
		if cost, err := bcrypt.Cost([]byte(a.SecretHash)); err != nil || cost > 15 || len(a.SecretHash) != 60 {
			fault("the secret's hash is no bcrypt hash of a cost of 15 at most")
		}
	}
	if a.Type != "" && a.Type != VIP && a.Type != FreeTrial {
		fault("type %q: want %s or %s", a.Type, VIP, FreeTrial)
	}
	if math.IsNaN(a.Rate) || a.Rate < 0 || a.Rate > 1e6 || a.Burst < 0 || a.Burst > 1e6 {
		fault("rate and burst must lie between 0 and a million")
	}
	return errors.Join(faults...)
}

// account is an Account at work. It may be used concurrently.
type account struct {
	Account
	limiter  *rate.Limiter          // nil: no limit
	verified atomic.Pointer[[]byte] // digest of the credentials that bcrypt has found good
}

// firstDay is the earliest pricing date that the account may see, "" if it may see all.
func (a *account) firstDay(now time.Time) string {
	if a.Type != FreeTrial {
		return ""
	}
	return now.UTC().AddDate(-trialYears, 0, 0).Format(time.DateOnly)
}

// admit takes one request from the account's allowance, or says how long to wait for the next.
func (a *account) admit() time.Duration {
	if a.limiter == nil {
		return 0
	}
	now := time.Now() // allowances are of real time, whatever the market's clock does
	reservation := a.limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// accounts finds accounts by their credentials.
type accounts struct {
	byID map[string]*account
	// cost is the highest bcrypt cost of all; 0 if no secret is hashed.
	cost int
	// key makes digests of credentials that are of no use outside this process.
	key signingKey
	// check compares a secret with a hash: bcrypt's, but for tests that count its work.
	check func(hash, secret []byte) error
	// hashing bounds how many hashes are computed at once, so that guessing cannot take all
	// processors; waiting bounds how many requests stand in line for it.
	hashing, waiting chan struct{}
}

const (
	hashesAtOnce  = 2
	hashesWaiting = 64
)

func newAccounts(list []Account) *accounts {
	all := &accounts{
		byID: map[string]*account{}, key: newKeyring(nil)[0], check: bcrypt.CompareHashAndPassword,
		hashing: make(chan struct{}, hashesAtOnce), waiting: make(chan struct{}, hashesWaiting),
	}
	for _, a := range list {
		a.Type = cmp.Or(a.Type, VIP)
		of := &account{Account: a}
		if a.Rate > 0 {
			of.limiter = rate.NewLimiter(rate.Limit(a.Rate), cmp.Or(a.Burst, max(1, int(2*a.Rate))))
		}
		if cost, err := bcrypt.Cost([]byte(a.SecretHash)); err == nil {
			all.cost = max(all.cost, cost)
		}
		all.byID[a.ClientID] = of
	}
	return all
}

// errBusy says that too many credentials are being checked.
var errBusy = tooMany(time.Second)

// authenticate finds the account of the credentials, nil if there is none. An unknown client costs
// as much time as a wrong secret, so that the time tells nobody which clients there are. Right
// credentials are remembered as a digest, so that only their first token is slow.
func (all *accounts) authenticate(ctx context.Context, id, secret string) (*account, error) {
	asked := all.key.mac(id + ":" + secret)
	found := all.byID[id]
	var want []byte
	switch {
	case found == nil:
		want = all.key.mac("nobody") // holds no colon: equal to no credentials
	case found.Secret != "":
		want = all.key.mac(id + ":" + found.Secret)
	default:
		if verified := found.verified.Load(); verified != nil {
			want = *verified
		}
	}
	if hmac.Equal(asked, want) {
		return found, nil
	}
	if all.cost == 0 {
		return nil, nil
	}
	hash := ""
	if found != nil {
		hash = found.SecretHash
	}
	good, err := all.compare(ctx, hash, secret)
	if err != nil || !good {
		return nil, err
	}
	found.verified.Store(&asked)
	return found, nil
}

// compare checks a secret against a bcrypt hash. Whatever the hash, even none, it takes the time of
// the highest cost: the work of a cost is twice that of the one before, so the missing work of a
// lower cost is that of each cost from it up.
func (all *accounts) compare(ctx context.Context, hash, secret string) (bool, error) {
	select {
	case all.waiting <- struct{}{}:
		defer func() { <-all.waiting }()
	default:
		return false, errBusy
	}
	select {
	case all.hashing <- struct{}{}:
		defer func() { <-all.hashing }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	guess := []byte(secret[:min(len(secret), longestSecret)])
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil { // no such account, or its secret is not hashed
		_ = all.check(hashOfNothing(all.cost), guess)
		return false, nil
	}
	good := all.check([]byte(hash), guess) == nil && len(secret) <= longestSecret
	for ; cost < all.cost && !good; cost++ {
		_ = all.check(hashOfNothing(cost), guess)
	}
	return good, nil
}

// hashOfNothing is a hash of a cost that no secret is known for.
func hashOfNothing(cost int) []byte {
	return fmt.Appendf(nil, "$2a$%02d$%s", cost, strings.Repeat(".", 53))
}
