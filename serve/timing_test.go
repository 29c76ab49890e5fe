package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// TestUnknownClientsTakeAsLong counts the hashes of refused requests: all refusals must take the same work.
func TestUnknownClientsTakeAsLong(t *testing.T) {
	hash := func(secret string, cost int) string {
		hash, err := bcrypt.GenerateFromPassword([]byte(secret), cost)
		if err != nil {
			t.Fatal(err)
		}
		return string(hash)
	}
	all := newAccounts([]Account{
		{ClientID: "cheap", SecretHash: hash("s", 4)}, {ClientID: "costly", SecretHash: hash("s", 7)}, {ClientID: "plain", Secret: "s"},
	})
	work := 0
	all.check = func(hash, secret []byte) error {
		cost, err := bcrypt.Cost(hash)
		if err != nil {
			t.Fatal(err)
		}
		work += 1 << cost
		return bcrypt.CompareHashAndPassword(hash, secret)
	}
	for _, id := range []string{"nobody", "cheap", "costly", "plain", ""} {
		for _, secret := range []string{"wrong", ""} {
			work = 0
			if account, err := all.authenticate(t.Context(), "192.0.2.1", id, secret); account != nil || err != nil {
				t.Fatalf("%s: %v, %v", id, account, err)
			}
			if work != 1<<7 {
				t.Errorf("refusing %q cost %d, want %d", id, work, 1<<7)
			}
		}
	}
	for range 2 {
		if account, err := all.authenticate(t.Context(), "192.0.2.1", "costly", "s"); account == nil || err != nil {
			t.Fatal(account, err)
		}
	}
	work = 0
	if account, _ := all.authenticate(t.Context(), "192.0.2.1", "costly", "s"); account == nil || work != 0 {
		t.Errorf("right credentials cost %d the second time", work)
	}
	server, request := &Server{accounts: all}, httptest.NewRequest(http.MethodPost, "/oauth/token", nil)
	if account, _ := server.authenticate(request, "cost%6Cy", "%73"); account == nil || work != 0 {
		t.Errorf("the same percent-encoded cost %d", work)
	}
}
