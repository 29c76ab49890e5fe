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

	"dealflow/serve/limits"
)

// AccountType says what an account may see (docs/reference/api-choices.md).
type AccountType string

// The account types.
const (
	VIP       AccountType = "vip"        // all deals
	FreeTrial AccountType = "free_trial" // all expected deals, and the priced deals of the last two years
)

// trialYears limits the age of priced deals that a Free Trial account sees, by pricing date.
const trialYears = 2

// Account is a client of the API: its name, its password and its rights.
type Account struct {
	// ClientID is the account's name. It must not contain a colon, which ends the id in HTTP Basic.
	ClientID string

	// Secret is the account's password in plain text, for built-in and test accounts only. Either Secret or
	// SecretHash is required.
	Secret string

	// SecretHash is the bcrypt hash of the account's password, as HashSecret returns it.
	SecretHash string

	// Type defaults to VIP.
	Type AccountType

	// Rate is the average number of requests per second that the account may make. Defaults to no limit.
	Rate float64

	// Burst is the number of requests that the account may make at once. Defaults to twice the Rate, at least 1.
	Burst int
}

// longestSecret is the number of bytes that bcrypt reads.
const longestSecret = 72

// HashSecret returns the bcrypt hash of a secret, as an accounts file contains it. It fails for an empty or too long
// secret.
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

// validate returns all errors of the account, or nil.
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
			fault("secret_hash: want a bcrypt hash with a cost of 15 at most; `dealflow serve hash-secret` makes one")
		}
	}
	if a.Type != "" && a.Type != VIP && a.Type != FreeTrial {
		fault("type %q: want %s or %s", a.Type, VIP, FreeTrial)
	}
	if math.IsNaN(a.Rate) || a.Rate < 0 || a.Rate > 1e6 || a.Burst < 0 || a.Burst > 1e6 {
		fault("rate and burst: want 0 to 1,000,000")
	}
	return errors.Join(faults...)
}

// account is an Account with its state. It is safe for concurrent use.
type account struct {
	Account
	limiter  *rate.Limiter          // nil: no limit
	verified atomic.Pointer[[]byte] // digest of the credentials that bcrypt has accepted; nil before
}

// firstDay returns the earliest pricing date that the account may see, or "" if it may see all deals.
func (a *account) firstDay(now time.Time) string {
	if a.Type != FreeTrial {
		return ""
	}
	return now.UTC().AddDate(-trialYears, 0, 0).Format(time.DateOnly)
}

// admit counts a request against the account's rate. It returns 0, or how long the client must wait.
func (a *account) admit() time.Duration {
	if a.limiter == nil {
		return 0
	}
	now := time.Now() // rates are in real time, not in the market's
	reservation := a.limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// accounts finds accounts by their credentials. It is safe for concurrent use.
type accounts struct {
	byID map[string]*account
	// cost is the highest bcrypt cost of all accounts; 0 if no secret is hashed.
	cost int
	// key makes digests of credentials. It is random, so the digests are useless outside this process.
	key signingKey
	// check compares a secret with a hash. It is bcrypt's function, except in tests that count its work.
	check func(hash, secret []byte) error
	// turns limits the hashes that are computed at once, so that guessing cannot use all processors.
	turns *limits.Turns
}

const hashesAtOnce = 2

func newAccounts(list []Account) *accounts {
	all := &accounts{
		byID: map[string]*account{}, key: newKeyring(nil)[0], check: bcrypt.CompareHashAndPassword,
		turns: limits.NewTurns(hashesAtOnce),
	}
	for _, a := range list {
		a.Type = cmp.Or(a.Type, VIP)
		added := &account{Account: a}
		if a.Rate > 0 {
			added.limiter = rate.NewLimiter(rate.Limit(a.Rate), cmp.Or(a.Burst, max(1, int(2*a.Rate))))
		}
		if cost, err := bcrypt.Cost([]byte(a.SecretHash)); err == nil {
			all.cost = max(all.cost, cost)
		}
		all.byID[a.ClientID] = added
	}
	return all
}

// errBusy says that too many credentials are being checked.
var errBusy = tooMany(time.Second)

// remembered returns the account of credentials that were accepted before, or whose secret is not hashed; nil for any others.
func (all *accounts) remembered(id, secret string) *account {
	found := all.byID[id]
	if hmac.Equal(all.key.mac(id+":"+secret), all.accepted(found)) {
		return found
	}
	return nil
}

// authenticate returns the account of the credentials that came from an address, or nil if there is none. An unknown
// client takes as much time as a wrong secret, so the time does not show which clients exist. Correct credentials are
// kept as a digest, so only the first token of an account is slow. It fails with errBusy or the context's error.
func (all *accounts) authenticate(ctx context.Context, address, id, secret string) (*account, error) {
	if known := all.remembered(id, secret); known != nil {
		return known, nil
	}
	if all.cost == 0 {
		return nil, nil
	}
	switch err := all.turns.Take(ctx, address, id); {
	case errors.Is(err, limits.ErrBusy):
		return nil, errBusy
	case err != nil:
		return nil, err
	}
	defer all.turns.Done()
	// A request that waited for its turn at the same time may have brought the same credentials.
	if known := all.remembered(id, secret); known != nil {
		return known, nil
	}
	found, hash := all.byID[id], ""
	if found != nil {
		hash = found.SecretHash
	}
	if !all.compare(hash, secret) {
		return nil, nil
	}
	digest := all.key.mac(id + ":" + secret)
	found.verified.Store(&digest)
	return found, nil
}

// accepted returns the digest of an account's credentials; nil if it is not known. For no account it returns a digest
// that no credentials have.
func (all *accounts) accepted(found *account) []byte {
	switch {
	case found == nil:
		return all.key.mac("nobody") // contains no colon, so no credentials equal it
	case found.Secret != "":
		return all.key.mac(found.ClientID + ":" + found.Secret)
	}
	if verified := found.verified.Load(); verified != nil {
		return *verified
	}
	return nil
}

// compare checks a secret against a bcrypt hash. For every hash, even an empty one, it takes the time of the highest
// cost. Each cost is twice the work of the cost before, so the missing work of a lower cost is one hash of each cost
// from that cost up to the highest.
func (all *accounts) compare(hash, secret string) bool {
	guess := []byte(secret[:min(len(secret), longestSecret)])
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil { // no such account, or its secret is not hashed
		_ = all.check(hashOfNothing(all.cost), guess)
		return false
	}
	good := all.check([]byte(hash), guess) == nil && len(secret) <= longestSecret
	for ; cost < all.cost && !good; cost++ {
		_ = all.check(hashOfNothing(cost), guess)
	}
	return good
}

// hashOfNothing returns a hash of a cost for which no secret is known.
func hashOfNothing(cost int) []byte {
	return fmt.Appendf(nil, "$2a$%02d$%s", cost, strings.Repeat(".", 53))
}
