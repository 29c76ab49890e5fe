package serve

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// MinSigningKey is the minimum length of a signing key in bytes.
const MinSigningKey = 32

// The purposes of seals. Each has its own key, so that a cursor is never accepted as a token.
const (
	sealToken  = "token"
	sealCursor = "cursor"
)

const (
	sealVersion = 1
	keyIDSize   = 4
	sealHead    = 1 + keyIDSize
	// longestSeal is the maximum length of a text that is decoded, in bytes. Seals have about 120 bytes.
	longestSeal = 2048
)

// keyring seals tokens and cursors. A server therefore stores neither, and every server with the same keys can open
// them. The first key seals and all of them open. To replace a key, put the new one first, and remove the old one after
// its tokens have expired.
type keyring []signingKey

type signingKey struct {
	id     [keyIDSize]byte // derived from the key, so it needs no configuration
	secret []byte
}

// newKeyring returns a keyring of the secrets, newest first. Without secrets it makes a random one.
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

// seal encodes and signs a payload as a text. open accepts the text only with the same purpose and the same bound,
// which identifies what the payload belongs to and is not part of the text. Equal arguments give equal seals.
func (ring keyring) seal(purpose, bound string, payload []byte) string {
	key := ring[0]
	raw := make([]byte, 0, sealHead+len(payload)+sha256.Size)
	raw = append(raw, sealVersion)
	raw = append(raw, key.id[:]...)
	raw = append(raw, payload...)
	raw = append(raw, key.sign(purpose, bound, raw)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// open returns the payload of a sealed text and the key that sealed it. Before the signature is verified, it reads only
// the id of the key.
func (ring keyring) open(purpose, bound, text string) (payload []byte, by signingKey, ok bool) {
	if len(text) > longestSeal || strings.ContainsAny(text, "\r\n") { // the decoder would skip line ends
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

// mac returns the digest of a text under this key.
func (k signingKey) mac(text string) []byte {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
