package serve

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// MinSigningKey is the least length of a signing key in bytes.
const MinSigningKey = 32

// What a seal is for. Each has a key of its own, so that a cursor is never taken for a token.
const (
	sealToken  = "token"
	sealCursor = "cursor"
)

const (
	sealVersion = 1
	keyIDSize   = 4
	sealHead    = 1 + keyIDSize
	// longestSeal bounds what is decoded at all. Ours are some 120 bytes long.
	longestSeal = 2048
)

// keyring seals what the server hands out and takes back later, tokens and cursors, so that it need
// not remember them and every server with the same keys understands them. The first key seals, all
// of them open: a new key is put first, and the old one is removed when what it sealed has expired.
type keyring []signingKey

type signingKey struct {
	id     [keyIDSize]byte // found from the key itself, so that it needs no setting
	secret []byte
}

// newKeyring takes the keys, newest first; without any it makes one that nobody else has.
func newKeyring(secrets [][]byte) keyring {
	if len(secrets) == 0 {
		own := make([]byte, MinSigningKey)
		rand.Read(own) // never fails
		secrets = [][]byte{own}
	}
	var ring keyring
	for _, secret := range secrets {
		key := signingKey{secret: append([]byte(nil), secret...)}
		copy(key.id[:], key.mac("key id"))
		ring = append(ring, key)
	}
	return ring
}

// seal gives payload in a form that only open can read back, and only with the same purpose and the
// same bound: what the payload belongs to, and does not repeat. Equal arguments give equal seals.
func (ring keyring) seal(purpose, bound string, payload []byte) string {
	key := ring[0]
	raw := make([]byte, 0, sealHead+len(payload)+sha256.Size)
	raw = append(raw, sealVersion)
	raw = append(raw, key.id[:]...)
	raw = append(raw, payload...)
	raw = append(raw, key.sign(purpose, bound, raw)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// open gives back what seal took, and the key that sealed it. Nothing of the text is looked at
// before its signature is found good, but for the name of the key.
func (ring keyring) open(purpose, bound, text string) (payload []byte, by signingKey, ok bool) {
	if len(text) > longestSeal || strings.ContainsAny(text, "\r\n") { // line ends, which the decoder would skip
		return nil, signingKey{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < sealHead+sha256.Size {
		return nil, signingKey{}, false
	}
	signed, signature := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	for _, key := range ring {
		if string(key.id[:]) != string(raw[1:sealHead]) || !hmac.Equal(signature, key.sign(purpose, bound, signed)) {
			continue
		}
		return signed[sealHead:], key, raw[0] == sealVersion
	}
	return nil, signingKey{}, false
}

func (k signingKey) sign(purpose, bound string, signed []byte) []byte {
	mac := hmac.New(sha256.New, k.mac("seal "+purpose))
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(bound)))
	mac.Write(length[:])
	mac.Write([]byte(bound))
	mac.Write(signed)
	return mac.Sum(nil)
}

// mac is the key's own digest of a text.
func (k signingKey) mac(text string) []byte {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
